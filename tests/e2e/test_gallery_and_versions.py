"""What was deleted, kept or imported can be found, on every width of screen."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.workbench import Workbench, open_template, opened
from tests.support.studio import StudioServer

SMALL = {"width": 390, "height": 844}


def file_of(document: object) -> FilePayload:
    return {"name": "desk.json", "mimeType": "application/json", "buffer": json.dumps(document).encode()}


def rename(page: Page, name: str) -> None:
    field = page.get_by_role("textbox", name="Name of the playbook")
    field.fill(name)
    field.press("Enter")


def keep_version(page: Page, note: str) -> None:
    page.get_by_role("menuitem", name=re.compile("^Save draft")).click()
    page.get_by_role("textbox", name="What is new in it").fill(note)
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_deleted_playbook_is_brought_back_long_after_its_toast_is_gone(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    workbench = open_template(page, studio)
    rename(page, "Lost and found")
    workbench.expect_saved()
    page.goto("/")
    page.get_by_role("button", name="More for Lost and found").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("link", name="Lost and found")).to_have_count(0)
    page.reload()
    page.get_by_text(re.compile(r"^Deleted \(\d+\)$")).click()
    page.get_by_role("button", name="Restore Lost and found").click()
    expect(page.get_by_role("link", name="Lost and found")).to_be_visible()


def test_the_version_is_named_alone_only_while_nothing_was_changed_since(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    open_template(page, studio)
    page.get_by_role("button", name="Versions: draft").click()
    keep_version(page, "The first")
    expect(page.get_by_role("button", name="Versions: v 1 ▾", exact=True)).to_be_visible()
    rename(page, "Changed")
    expect(page.get_by_role("button", name="Versions: v 1 + edits")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Versions: v 1 + edits")).to_be_visible()
    page.get_by_role("button", name="Versions: v 1 + edits").click()
    page.get_by_role("menuitem", name=re.compile(r"^v 1 · The first")).click()
    expect(page.get_by_role("button", name="Versions: v 1 ▾", exact=True)).to_be_visible()


def test_undo_versions_and_colours_are_in_more_on_a_phone_and_the_name_has_room(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    open_template(page, studio)
    page.set_viewport_size({"width": SMALL["width"], "height": SMALL["height"]})
    name = page.get_by_role("textbox", name="Name of the playbook")
    before = name.input_value()
    assert name.evaluate("field => field.scrollWidth <= field.clientWidth"), "the name is cut"
    rename(page, "By phone")
    more = page.get_by_role("button", name="More", exact=True)
    more.click()
    page.get_by_role("menuitem", name="Undo").click()
    expect(name).to_have_value(before)
    more.click()
    page.get_by_role("menuitem", name="Dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    more.click()
    keep_version(page, "On the way")
    more.click()
    expect(page.get_by_role("menuitem", name=re.compile("^v 1 · On the way"))).to_be_visible()


def test_the_outline_of_a_small_screen_gives_way_to_the_graph_where_there_is_room_unless_it_was_chosen(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    open_template(page, studio)
    outline = page.get_by_role("region", name="Outline of the graph")
    page.set_viewport_size({"width": SMALL["width"], "height": SMALL["height"]})
    expect(outline).to_be_visible()
    page.set_viewport_size({"width": 1024, "height": 768})
    opened(page, studio)
    page.get_by_role("button", name="Graph or outline").click()
    expect(outline).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(outline).to_be_visible()


def test_an_import_counts_in_words_and_has_its_answer_in_focus(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    stages = [{"id": "a", "name": "A", "systemPrompt": "Hi"}, {"id": "b", "name": "B", "systemPrompt": "Bye"}]
    rule = {
        "id": "a-b",
        "from": "a",
        "condition": {"type": "max_turns", "count": 2},
        "action": {"targetStage": "b"},
    }
    document = {
        "formatVersion": 1,
        "id": "desk",
        "name": "Desk",
        "initialStage": "a",
        "stages": stages,
        "transitions": [rule],
    }
    page.goto("/")
    page.locator("input[type=file]").set_input_files(file_of(document))
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 stages, 1 transition.")
    expect(dialog.get_by_role("button", name="Save as a new playbook")).to_be_focused()
    page.keyboard.press("Enter")
    expect(Workbench(page, studio).stage("A")).to_be_visible()


@pytest.mark.console_errors("422")
def test_a_refused_import_says_each_problem_once(signed_in_page: Page, studio: StudioServer) -> None:
    page = signed_in_page
    page.goto("/")
    with page.expect_response(re.compile("/api/import")) as answered:
        page.locator("input[type=file]").set_input_files(file_of({"formatVersion": 1, "name": "Nothing"}))
    first = answered.value.json()["report"][0]["message"]
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Report")).to_contain_text(first)
    expect(dialog.get_by_text(first)).to_have_count(1)
    expect(dialog.get_by_role("alert")).to_contain_text("nothing was saved")
