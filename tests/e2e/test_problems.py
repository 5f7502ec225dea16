"""The list of problems as a person uses it: a click repairs, another leads to the place, a third reports."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.e2e.workbench import Workbench, open_template
from tests.support.studio import StudioServer


def problems(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile(r"problem"))


def with_a_lost_stage(page: Page, studio: StudioServer) -> Workbench:
    """The gallery's playbook and a stage that nothing leads to or out of."""
    workbench = open_template(page, studio)
    workbench.add_stage_by_drag(*workbench.free_place())
    expect(page.get_by_role("textbox", name="Stage name")).to_be_focused()
    page.keyboard.type("Attic")
    page.keyboard.press("Enter")
    expect(workbench.stage("Attic")).to_be_visible()
    return workbench


def test_a_click_repairs_a_problem_and_undo_brings_it_back(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    workbench = with_a_lost_stage(page, studio)
    problems(page).click()
    listed = page.get_by_role("list", name="Problems")
    connect = listed.get_by_role("button", name=re.compile("Connect it from"))
    connect.click()
    expect(connect).to_have_count(0)
    workbench.expect_saved()
    added = workbench.stored()["transitions"][-1]
    assert added["action"]["targetStage"] == "attic"
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+z")
    problems(page).click()
    expect(connect).to_be_visible()


def test_the_other_place_of_a_problem_is_a_click_away(signed_in_page: Page, studio: StudioServer) -> None:
    page = signed_in_page
    with_a_lost_stage(page, studio)
    problems(page).click()
    entry = page.get_by_role("list", name="Problems").get_by_role("listitem").filter(has_text="never reached")
    near = entry.get_by_role("button").nth(1)
    name = near.inner_text()
    near.click()
    expect(page.get_by_role("complementary", name="Properties").get_by_label("Name").first).to_have_value(
        name
    )


def test_the_report_leads_from_what_all_conversations_pass_to_the_graph(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    workbench = open_template(page, studio)
    problems(page).click()
    page.get_by_role("button", name="Report on the graph").click()
    report = page.get_by_role("dialog", name="Report on the graph")
    expect(report.get_by_text("7 stages, 2 ends among them")).to_be_visible()
    report.get_by_role("button", name="Greeting", exact=True).first.click()
    expect(report).to_have_count(0)
    expect(workbench.stage("Greeting")).to_be_visible()
