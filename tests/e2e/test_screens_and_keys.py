"""With the keyboard alone, on a narrow screen, in light and dark: nothing is out of reach or too wide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.workbench import Chat, open_template
from tests.support.studio import StudioServer

HELLO = "Hi, where is my parcel? I'm ada@example.org"


def test_a_stage_is_added_named_connected_and_undone_with_keys_alone(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    keyboard = signed_in_page.keyboard
    stages = signed_in_page.get_by_role("group", name=re.compile("^Stage "))
    workbench.stage("Triage").focus()
    keyboard.press("a")
    field = signed_in_page.get_by_role("textbox", name="Stage name")
    expect(field).to_be_focused()
    keyboard.type("Complaints")
    keyboard.press("Enter")
    expect(workbench.stage("Complaints")).to_be_visible()
    keyboard.press("Escape")
    workbench.stage("Triage").focus()
    keyboard.press("c")
    expect(signed_in_page.get_by_role("combobox", name=re.compile("^Connect Triage to"))).to_be_focused()
    keyboard.type("Complaints")
    keyboard.press("Enter")
    expect(workbench.transition("Triage", "Complaints")).to_be_attached()
    workbench.stage("Complaints").focus()
    keyboard.press("Control+z")
    expect(workbench.transition("Triage", "Complaints")).to_have_count(0)
    count = stages.count()
    keyboard.press("Control+z")
    keyboard.press("Control+z")
    expect(stages).to_have_count(count - 1)


def test_deleting_a_stage_takes_its_transitions_and_one_undo_brings_all_back(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    workbench.stage("Refund").click()
    workbench.stage("Refund").focus()
    signed_in_page.keyboard.press("Delete")
    expect(workbench.stage("Refund")).to_have_count(0)
    expect(workbench.transition("Triage", "Refund")).to_have_count(0)
    signed_in_page.keyboard.press("Control+z")
    expect(workbench.stage("Refund")).to_be_visible()
    for source, target in (("Triage", "Refund"), ("Refund", "Farewell"), ("Resolution", "Refund")):
        expect(workbench.transition(source, target)).to_be_attached()


def test_backspace_in_a_field_deletes_a_letter_and_not_the_stage(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    workbench.stage("Refund").click()
    prompt = signed_in_page.get_by_role("textbox", name="Prompt", exact=True)
    prompt.click()
    prompt.press("End")
    prompt.press("Backspace")
    prompt.press("Delete")
    expect(workbench.stage("Refund")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_gallery_editor_chat_and_inspector_fit_the_screen(
    signed_in_page: Page, studio: StudioServer, screenshots: Path, scheme: str, width: int, height: int
) -> None:
    page = signed_in_page
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": height})

    def picture(name: str) -> None:
        page.screenshot(path=screenshots / f"{name}-{width}-{scheme}.png")
        overflow = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert overflow <= 0, f"{name} is {overflow} px wider than the screen"

    page.goto("/")
    expect(page.get_by_role("link", name=re.compile("Customer support")).first).to_be_visible()
    picture("gallery")
    page.get_by_role("button", name="From a template").click()
    page.get_by_role("menuitem", name=re.compile("Customer support")).click()
    expect(page.get_by_text("Greeting").first).to_be_visible(timeout=15_000)
    picture("editor")
    wide = width >= 1100
    page.get_by_role(*(("button",) if wide else ("tab",)), name="Talk", exact=True).click()
    chat = Chat(page)
    chat.say(HELLO)
    reply = chat.expect_finished(1)
    picture("chat")
    reply.get_by_role("button", name=re.compile("^call ")).click()
    expect(page.get_by_role("listbox", name="Segments")).to_be_visible()
    picture("inspector")
