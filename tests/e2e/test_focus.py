"""Where the keyboard's focus is, is what keys act on; and it is never lost on the way."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.workbench import open_template
from tests.support.studio import StudioServer

HELLO = "Hi, where is my parcel? I'm ada@example.org"


def test_delete_takes_the_transition_that_has_the_focus_and_not_the_stage_passed_before(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    workbench.stage("Human handover").click()
    edge = workbench.transition("Triage", "Refund")
    edge.focus()
    signed_in_page.keyboard.press("Shift+Tab")
    signed_in_page.keyboard.press("Tab")
    expect(edge).to_be_focused()
    signed_in_page.keyboard.press("Delete")
    expect(edge).to_have_count(0)
    expect(workbench.stage("Human handover")).to_be_visible()


def test_a_new_stage_has_the_focus_enter_goes_into_its_properties_and_escape_back(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    keyboard = signed_in_page.keyboard
    workbench.stage("Triage").focus()
    keyboard.press("Shift+A")
    expect(signed_in_page.get_by_role("textbox", name="Stage name")).to_be_focused()
    keyboard.type("Complaints")
    keyboard.press("Enter")
    card = workbench.stage("Complaints")
    expect(card).to_be_focused()
    keyboard.press("Enter")
    expect(signed_in_page.get_by_role("textbox", name="Name", exact=True)).to_be_focused()
    keyboard.press("Escape")
    expect(card).to_be_focused()
    keyboard.press("Delete")
    expect(card).to_have_count(0)


def test_a_connection_made_with_keys_asks_at_once_when_it_is_taken(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    keyboard = signed_in_page.keyboard
    workbench.stage("Refund").focus()
    keyboard.press("c")
    expect(signed_in_page.get_by_role("combobox", name=re.compile("^Connect Refund to"))).to_be_focused()
    keyboard.type("Triage")
    keyboard.press("Enter")
    reason = signed_in_page.get_by_role("textbox", name="When should the model move on?")
    expect(reason).to_be_focused()
    keyboard.type("asks about another order")
    expect(reason).to_have_value("asks about another order")
    keyboard.press("Escape")
    expect(workbench.transition("Refund", "Triage")).to_be_focused()


def test_a_connection_drawn_with_the_pointer_asks_so_too(signed_in_page: Page, studio: StudioServer) -> None:
    workbench = open_template(signed_in_page, studio)
    workbench.connect("Refund", "Human handover")
    expect(signed_in_page.get_by_role("textbox", name="When should the model move on?")).to_be_focused()


def test_what_was_found_has_the_focus_and_a_search_given_up_leaves_it_where_it_was(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    keyboard = signed_in_page.keyboard
    search = signed_in_page.get_by_role("combobox", name="Find")
    workbench.stage("Greeting").focus()
    keyboard.press("Control+k")
    expect(search).to_be_focused()
    keyboard.type("Refund")
    keyboard.press("Enter")
    expect(workbench.stage("Refund")).to_be_focused()
    keyboard.press("Control+k")
    expect(search).to_be_focused()
    keyboard.press("Escape")
    expect(workbench.stage("Refund")).to_be_focused()
    keyboard.press("?")
    expect(signed_in_page.get_by_role("dialog", name="Shortcuts")).to_be_visible()
    keyboard.press("Escape")
    expect(workbench.stage("Refund")).to_be_focused()


def test_a_new_tool_is_open_and_its_name_waits_to_be_typed(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    page = signed_in_page
    workbench.stage("Triage").click()
    page.locator("summary").filter(has_text=re.compile("^Tools")).click()
    page.get_by_role("button", name="+ Tool").click()
    page.keyboard.type("find_parcel")
    expect(page.get_by_role("group", name="tool find_parcel")).to_be_visible()


def test_brackets_go_from_call_to_call_while_the_focus_is_in_the_talk(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    chat = open_template(page, studio).talk()
    chat.say(HELLO)
    reply = chat.expect_finished(1)
    reply.get_by_role("button", name=re.compile("^call ")).last.click()
    title = page.get_by_role("heading", name=re.compile(r"^Call \d+$"))
    shown = title.inner_text()
    page.get_by_role("log").focus()
    page.keyboard.press("[")
    expect(title).not_to_have_text(shown)
    page.get_by_role("tab", name="Request").click()
    page.get_by_role("button", name="Copy JSON").focus()
    page.keyboard.press("]")
    expect(title).to_have_text(shown)
    expect(page.locator("body")).not_to_be_focused()
