"""The research assistant in the browser: the agent's playbook comes along, and the inspector shows its return
and the artifacts."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.workbench import Workbench, open_template
from tests.support.studio import StudioServer

NAME = "Research assistant"


def created(page: Page, studio: StudioServer) -> Workbench:
    return open_template(page, studio, NAME, "Reading desk")


def segments(inspector: Locator, kind: str) -> Locator:
    return inspector.get_by_role("option").filter(has_text=re.compile(f"^{kind}"))


def test_an_artifact_and_the_agents_return_are_seen_in_the_inspector(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    workbench = created(page, studio)
    expect(page.get_by_role("alert").filter(has_text="calls it as an agent")).to_contain_text("Fact checker")
    expect(workbench.transition("Reading desk", "agent Fact checker")).to_be_attached()
    chat = workbench.talk()
    chat.say("Why did the light go out in 1911?")
    expect(chat.expect_finished(1)).to_contain_text("dark for forty minutes")
    expect(page.get_by_role("article", name="Tool read_source")).to_contain_text(
        re.compile("artifact a_[0-9a-f]{8}")
    )
    chat.say("Is that true?")
    reply = chat.expect_finished(2)
    expect(reply).to_contain_text("on page 42")
    reply.get_by_role("button", name=re.compile(r"^call \d+")).click()

    inspector = page.get_by_role("region", name="Inspector panel")
    returned = segments(inspector, "summary").filter(has_text="Fact checker")
    returned.click()
    expect(inspector.get_by_label(re.compile("^Text of summary"))).to_contain_text("has returned")
    inspector.get_by_role("tab", name="State").click()
    kept = inspector.get_by_role("listitem").filter(has_text="read_source")
    expect(kept).to_contain_text("not loaded")
    kept.get_by_role("button").click()
    expect(kept).to_contain_text("ill-tempered")

    chat.say("Show me the page")
    chat.expect_finished(3).get_by_role("button", name=re.compile(r"^call \d+")).click()
    inspector.get_by_role("tab", name="Window").click()
    segments(inspector, "artifact").click()
    expect(inspector.get_by_label(re.compile("^Text of artifact"))).to_contain_text("ill-tempered")


def test_the_pair_is_one_file_and_the_properties_lead_to_the_agents_playbook(
    signed_in_page: Page, studio: StudioServer
) -> None:
    page = signed_in_page
    created(page, studio)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    file = Path(download.value.path()).read_bytes()
    assert list(json.loads(file)["metadata"]["studio"]["agents"]) == ["fact-checker"]
    page.get_by_role("button", name="Playbook settings").click()
    page.get_by_text("Agents it may call").click()
    expect(page.get_by_role("link", name="Fact checker").last).to_be_visible()
    page.goto("/")
    payload = FilePayload(name="pair.json", mimeType="application/json", buffer=file)
    page.locator("input[type=file]").set_input_files(payload)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("With it comes what it calls as an agent: Fact checker.")
    dialog.get_by_role("button", name="Save as a new playbook").click()
    expect(page.get_by_role("alert").filter(has_text="was there already, unchanged")).to_be_visible()
