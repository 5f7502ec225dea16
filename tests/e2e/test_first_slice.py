"""What a person can do, from the gallery to the file and back, in one sitting."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.workbench import Workbench, open_template, opened
from tests.support.studio import StudioServer

HELLO = "Hi, where is my parcel? I'm ada@example.org"


def test_the_gallery_has_a_ready_playbook_without_account_or_key(
    signed_in_page: Page, studio: StudioServer
) -> None:
    signed_in_page.goto("/")
    link = signed_in_page.get_by_role("link", name="Customer support", exact=True)
    card = signed_in_page.get_by_role("listitem").filter(has=link)
    expect(card).to_contain_text("7 stages")
    card.get_by_role("link", name="Customer support").click()
    workbench = opened(signed_in_page, studio)
    for name in ("Authentication", "Triage", "Resolution", "Refund", "Farewell", "Human handover"):
        expect(workbench.stage(name)).to_be_visible()
    expect(workbench.transition("Authentication", "Triage")).to_be_attached()
    expect(signed_in_page.get_by_role("button", name="No problems")).to_be_visible()


def test_a_dragged_stage_is_a_problem_until_it_is_connected(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    name = add_and_name(workbench, "Loyalty offer")
    unreachable = workbench.stage(name).get_by_role("img", name=re.compile("^Problem: .*reach", re.DOTALL))
    expect(unreachable).to_be_visible(timeout=10_000)
    signed_in_page.get_by_role("button", name=re.compile("problem")).click()
    expect(signed_in_page.get_by_role("list", name="Problems")).to_contain_text("reach")
    signed_in_page.keyboard.press("Escape")
    workbench.connect("Triage", name)
    expect(workbench.transition("Triage", name)).to_be_attached()
    expect(unreachable).to_have_count(0, timeout=10_000)


def add_and_name(workbench: Workbench, name: str) -> str:
    """A stage dragged from the palette and named at once, where it was dropped."""
    stages = workbench.page.get_by_role("group", name=re.compile("^Stage "))
    before = stages.count()
    workbench.add_stage_by_drag(*workbench.free_place())
    expect(stages).to_have_count(before + 1)
    field = workbench.page.get_by_role("textbox", name="Stage name")
    expect(field).to_be_focused()
    workbench.page.keyboard.type(name)
    workbench.page.keyboard.press("Enter")
    expect(workbench.stage(name)).to_be_visible()
    return name


def test_an_edit_is_saved_survives_a_reload_and_is_in_the_file(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    name = add_and_name(workbench, "Loyalty offer")
    workbench.stage(name).click()
    prompt = signed_in_page.get_by_role("textbox", name="Prompt", exact=True)
    prompt.fill("Offer ten per cent on the next order. Never press.")
    signed_in_page.get_by_role("button", name="Close the column").click()
    workbench.connect("Triage", name)
    workbench.expect_saved()
    assert stage_of(workbench.stored(), name)["systemPrompt"].startswith("Offer ten per cent")
    place = workbench.stored()["metadata"]["studio"]["layout"][stage_of(workbench.stored(), name)["id"]]

    with signed_in_page.expect_download() as download:
        signed_in_page.get_by_role("button", name="Export", exact=True).click()
    exported = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert download.value.suggested_filename.endswith(".json")
    assert stage_of(exported, name)["systemPrompt"].startswith("Offer ten per cent")
    added = stage_of(exported, name)["id"]
    assert [t["from"] for t in exported["transitions"] if t["action"]["targetStage"] == added] == ["triage"]

    signed_in_page.reload()
    expect(workbench.stage(name)).to_be_visible(timeout=15_000)
    expect(workbench.transition("Triage", name)).to_be_attached()
    assert workbench.stored()["metadata"]["studio"]["layout"][added] == place


def stage_of(document: dict, name: str) -> dict:  # type: ignore[type-arg]
    return next(stage for stage in document["stages"] if stage["name"] == name)


def test_a_chat_lights_the_graph_up_and_its_reply_opens_the_window(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    chat = workbench.talk()
    expect(signed_in_page.get_by_role("region", name="Test chat")).to_contain_text("rehearsal (no model)")
    chat.say(HELLO)
    reply = chat.expect_finished(1)
    expect(signed_in_page.get_by_role("article", name="Tool lookup_customer")).to_contain_text("ok")
    expect(workbench.stage("Resolution").get_by_role("img", name="Active stage")).to_be_attached()
    expect(
        signed_in_page.get_by_role("log", name="Conversation").get_by_text("lookup_customer succeeded")
    ).to_be_visible()

    reply.get_by_role("button", name=re.compile("^call ")).click()
    inspector = signed_in_page.get_by_role("region", name="Inspector panel")
    segments = inspector.get_by_role("listbox", name="Segments").get_by_role("option")
    expect(segments.filter(has_text="base")).to_have_count(1)
    expect(segments.filter(has_text="Authentication").first).to_be_attached()
    expect(inspector.get_by_title(re.compile("^Cache point 1"))).to_be_visible()
    expect(inspector.get_by_role("region", name="Why it moved on")).to_contain_text("model decides")

    call = studio.rows("select * from runtime_llmcall order by started_at desc limit 1")[0]
    texts = {row["hash"] for row in studio.rows("select hash from runtime_segmenttext")}
    assert call["status"] == "complete"
    assert set(json.loads(call["texts"])) <= texts


def test_the_text_of_a_segment_is_what_the_model_was_sent(signed_in_page: Page, studio: StudioServer) -> None:
    workbench = open_template(signed_in_page, studio)
    chat = workbench.talk()
    chat.say(HELLO)
    chat.expect_finished(1).get_by_role("button", name=re.compile("^call ")).click()
    inspector = signed_in_page.get_by_role("region", name="Inspector panel")
    inspector.get_by_role("option").filter(has_text="base").click()
    expect(inspector.get_by_label(re.compile("^Text of base"))).to_contain_text(
        "You write for the service desk of a small homeware shop"
    )
    inspector.get_by_role("tab", name="Request").click()
    expect(inspector).to_contain_text("cache_control")


def test_a_reload_finds_the_conversation_as_it_was(signed_in_page: Page, studio: StudioServer) -> None:
    workbench = open_template(signed_in_page, studio)
    chat = workbench.talk()
    chat.say(HELLO)
    said = chat.expect_finished(1).inner_text()
    signed_in_page.reload()
    chat = workbench.talk()
    expect(chat.reply(1)).to_have_count(1)
    assert chat.expect_finished(1).inner_text() == said
    chat.say("4471 please")
    chat.expect_finished(2)
    expect(workbench.stage("Resolution").get_by_role("img", name="Active stage")).to_be_attached()
