"""Files in and out, versions side by side, and two people's edits merged, as a person does it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.test_gallery_and_versions import file_of, keep_version, rename
from tests.e2e.test_nothing_is_lost import until_stored
from tests.e2e.workbench import open_template, opened
from tests.support.studio import StudioServer

PROMPT = "You are at the desk."


def document(name: str, **more: object) -> dict[str, object]:
    """Two stages and one rule."""
    stages = [
        {"id": "a", "name": "Front", "systemPrompt": PROMPT},
        {"id": "b", "name": "Back", "systemPrompt": "Bye.", "kind": "end"},
    ]
    rule = {"id": "t", "from": "a", "condition": {"type": "llm_decision"}, "action": {"targetStage": "b"}}
    return {"id": "desk", "name": name, "stages": stages, "transitions": [rule], "initialStage": "a", **more}


def open_document(page: Page, value: dict[str, object]) -> None:
    """Imports it as a new playbook and opens that."""
    page.goto("/")
    page.locator("input[type=file]").set_input_files(file_of(value))
    page.get_by_role("button", name="Save as a new playbook").click()
    expect(page.get_by_role("region", name="Graph")).to_be_visible(timeout=15_000)


def test_pasted_json_is_reported_on_and_may_replace_a_draft_which_is_kept(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    open_document(page, document("Replaced", formatVersion=1))
    page.goto("/")
    page.get_by_role("button", name="Paste JSON").click()
    page.get_by_role("textbox", name="The text of a playbook file").fill(json.dumps(document("Pasted")))
    page.get_by_role("button", name="Read it").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Report")).to_contain_text("formatVersion")
    dialog.get_by_label("Save as").select_option(label="the draft of “Replaced”")
    dialog.get_by_role("button", name="Replace its draft").click()
    expect(page.get_by_role("textbox", name="Name of the playbook")).to_have_value("Pasted", timeout=15_000)
    page.get_by_role("button", name=re.compile("^Versions:")).click()
    expect(page.get_by_role("menuitem", name=re.compile("Before an import"))).to_be_visible()


def test_every_format_and_both_pictures_can_be_downloaded(
    signed_in_page: Page, studio: StudioServer, screenshots: Path
) -> None:
    page = signed_in_page
    open_template(page, studio)
    page.get_by_role("button", name="Export as another format").click()
    formats = page.get_by_role("list", name="Formats")
    expect(formats.get_by_text(re.compile(r"^\d+ notes? on what"))).to_have_count(2)
    page.screenshot(path=screenshots / "export-formats.png")
    found = {}
    for title in ("LLMRTC module", "Document for reviewers", "Picture (SVG)", "Picture (PNG)"):
        with page.expect_download() as downloaded:
            page.get_by_label(f"Download {title}").click()
        found[downloaded.value.suggested_filename] = Path(downloaded.value.path()).read_bytes()
    by_suffix = {Path(name).suffix: data for name, data in found.items()}
    assert set(by_suffix) == {".ts", ".md", ".svg", ".png"}
    assert all(name.startswith("customer-support") for name in found)
    assert by_suffix[".svg"].startswith(b"<svg xmlns=")
    assert by_suffix[".png"].startswith(b"\x89PNG")
    assert len(by_suffix[".png"]) > 20_000
    (screenshots / "graph.png").write_bytes(by_suffix[".png"])


def test_a_version_is_compared_with_the_draft_on_the_graph_and_restored(
    signed_in_page: Page, studio: StudioServer, screenshots: Path
) -> None:
    page = signed_in_page
    workbench = open_template(page, studio)
    page.get_by_role("button", name="Versions: draft").click()
    keep_version(page, "The first")
    workbench.stage("Farewell").click()
    page.keyboard.press("Delete")
    page.keyboard.press("1")
    workbench.stage("Greeting").click()
    page.get_by_role("textbox", name="Prompt").first.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nAsk for the order number.")
    page.get_by_role("button", name=re.compile("^Versions: v 1")).click()
    page.get_by_role("menuitem", name="Versions and differences…").click()
    dialog = page.get_by_role("dialog", name="Versions and differences")
    changes = dialog.get_by_role("list", name="Changes", exact=True)
    expect(changes).to_contain_text("Stage Farewell")
    changes.get_by_text("Stage Greeting").click()
    expect(changes).to_contain_text("+ Ask for the order number.")
    drawn = dialog.get_by_role("img", name=re.compile("^Graph of"))
    expect(drawn.get_by_text("− removed")).to_be_visible()
    expect(drawn.get_by_text("~ changed").first).to_be_visible()
    page.screenshot(path=screenshots / "versions-compared.png")
    dialog.get_by_label("Show").select_option(label="v 1 · The first")
    dialog.get_by_role("button", name="Restore as draft").click()
    expect(workbench.stage("Farewell")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(workbench.stage("Farewell")).to_have_count(0)


@pytest.mark.console_errors("409")
def test_edits_of_two_tabs_are_merged_and_only_what_both_changed_is_asked(
    signed_in_page: Page,
    studio: StudioServer,
    new_context: Callable[..., BrowserContext],
    signed_in_state: object,
    screenshots: Path,
) -> None:
    workbench = open_template(signed_in_page, studio)
    other = new_context(storage_state=signed_in_state).new_page()
    other.goto(signed_in_page.url)
    second = opened(other, studio)
    rename(signed_in_page, "First tab's name")
    until_stored(workbench, "First tab's name")
    second.stage("Triage").dblclick()
    other.keyboard.type("Second tab's stage")
    other.keyboard.press("Enter")
    expect(other.get_by_text(re.compile("merged with yours"))).to_be_visible(timeout=10_000)
    expect(other.get_by_role("textbox", name="Name of the playbook")).to_have_value("First tab's name")
    expect(other.get_by_role("banner").get_by_text(re.compile("^Saved"))).to_be_visible(timeout=10_000)
    stored = workbench.stored()
    assert stored["name"] == "First tab's name"
    assert "Second tab's stage" in {stage["name"] for stage in stored["stages"]}
    rename(other, "Second tab's name")
    until_stored(workbench, "Second tab's name")
    rename(signed_in_page, "Yet another name")
    signed_in_page.get_by_role("button", name="See both versions").click(timeout=10_000)
    dialog = signed_in_page.get_by_role("dialog", name="Two versions of this playbook")
    differences = dialog.get_by_role("list", name="Differences")
    expect(differences.get_by_role("listitem")).to_have_count(1)
    expect(dialog.get_by_role("button", name="Save merged (1 to choose)")).to_be_disabled()
    differences.get_by_role("radio", name=re.compile("^Mine")).check()
    signed_in_page.screenshot(path=screenshots / "merge.png")
    dialog.get_by_role("button", name="Save merged", exact=True).click()
    until_stored(workbench, "Yet another name")
    assert "Second tab's stage" in {stage["name"] for stage in workbench.stored()["stages"]}
    expect(workbench.stage("Second tab's stage")).to_be_visible()
