"""Reload, second tab, dropped connection, killed server: the conversation and the edits are still there."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.workbench import Chat, Workbench, open_template, opened
from tests.support.studio import StudioServer

HELLO = "Hi, where is my parcel? I'm ada@example.org"


@pytest.fixture(scope="module")
def slow_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """A studio of its own that speaks slowly, so that a reply can be met in the middle."""
    server = StudioServer(tmp_path_factory.mktemp("slow"), STUDIO_REHEARSAL_DELAY_MS="250")
    server.start()
    yield server
    if server.process is not None:
        server.stop()


@pytest.fixture
def slow_page(browser: Browser, slow_studio: StudioServer) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=slow_studio.address)
    page = context.new_page()
    page.goto(slow_studio.new_link())
    yield page
    context.close()


def caught_in_the_middle(chat: Chat, turn: int) -> str:
    """What the reply says while it is still being spoken."""
    reply = chat.reply(turn).last
    expect(reply).to_be_visible(timeout=30_000)
    text = reply.inner_text()
    assert not re.search(r"call \d+", text), "The reply was complete at its first sight"
    return text


@pytest.mark.console_errors(r"WebSocket", r"ERR_CONNECTION_REFUSED", r"Failed to load resource")
def test_a_server_killed_in_mid_reply_leaves_a_marked_turn_and_the_chat_goes_on(
    slow_page: Page, slow_studio: StudioServer
) -> None:
    workbench = open_template(slow_page, slow_studio)
    chat = workbench.talk()
    chat.say(HELLO)
    shown = caught_in_the_middle(chat, 1)
    slow_studio.stop(signal.SIGKILL)
    slow_studio.start()
    log = slow_page.get_by_role("log", name="Conversation")
    expect(log).to_contain_text(re.compile("server stopped|broken off", re.IGNORECASE), timeout=30_000)
    expect(chat.reply(1).last).to_contain_text(shown.strip().split("\n")[0][:10])
    tools_before = slow_studio.rows(
        "select count(*) as n from runtime_loggedevent where type='tool_call_start'"
    )
    chat.say("Are you still there?")
    expect(chat.reply(2).last.get_by_role("button", name=re.compile(r"^call \d+"))).to_be_visible(
        timeout=40_000
    )
    seqs = [row["seq"] for row in slow_studio.rows("select seq from runtime_loggedevent order by seq")]
    assert seqs == list(range(1, len(seqs) + 1))
    assert tools_before[0]["n"] >= 1


def test_two_tabs_on_one_chat_see_the_same_words(slow_page: Page, slow_studio: StudioServer) -> None:
    workbench = open_template(slow_page, slow_studio)
    chat = workbench.talk()
    chat.say("Hello there")
    chat.expect_finished(1)
    other = slow_page.context.new_page()
    other.goto(slow_page.url)
    second = opened(other, slow_studio).talk()
    expect(second.reply(1)).to_have_count(1)
    chat.say("My e-mail is ada@example.org")
    first_text = said(chat, 2)
    expect(second.reply(2).last.get_by_role("button", name=re.compile(r"^call \d+"))).to_be_visible(
        timeout=40_000
    )
    assert said(second, 2) == first_text


def said(chat: Chat, turn: int) -> str:
    reply = chat.reply(turn).last
    expect(reply.get_by_role("button", name=re.compile(r"^call \d+"))).to_be_visible(timeout=40_000)
    return reply.inner_text()


def test_stop_ends_the_reply_and_keeps_what_was_shown(slow_page: Page, slow_studio: StudioServer) -> None:
    workbench = open_template(slow_page, slow_studio)
    chat = workbench.talk()
    chat.say(HELLO)
    caught_in_the_middle(chat, 1)
    slow_page.get_by_role("button", name="Stop").click()
    expect(slow_page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(chat.reply(1).last).to_contain_text("broken off here")
    ended = slow_studio.rows("select type from runtime_loggedevent order by id desc limit 1")[0]
    assert ended["type"] == "turn_interrupted"


@pytest.mark.console_errors(r"WebSocket", r"ERR_INTERNET_DISCONNECTED", r"Failed to load resource")
def test_edits_made_offline_are_kept_and_sent_when_the_line_is_back(
    signed_in_page: Page, studio: StudioServer
) -> None:
    workbench = open_template(signed_in_page, studio)
    signed_in_page.context.set_offline(True)
    rename(workbench, "Support, renamed offline")
    expect(signed_in_page.get_by_role("banner").get_by_text(re.compile("^Offline"))).to_be_visible(
        timeout=10_000
    )
    signed_in_page.context.set_offline(False)
    workbench.expect_saved()
    assert workbench.stored()["name"] == "Support, renamed offline"


def rename(workbench: Workbench, name: str) -> None:
    field = workbench.page.get_by_role("textbox", name="Name of the playbook")
    field.fill(name)
    field.press("Enter")


def test_a_stale_tab_never_overwrites_and_offers_both_versions(
    signed_in_page: Page,
    studio: StudioServer,
    new_context: Callable[..., BrowserContext],
    signed_in_state: object,
) -> None:
    workbench = open_template(signed_in_page, studio)
    other = new_context(storage_state=signed_in_state).new_page()
    other.goto(signed_in_page.url)
    theirs = opened(other, studio)
    rename(workbench, "First tab's name")
    workbench.expect_saved()
    expect(signed_in_page.get_by_role("banner").get_by_text(re.compile("^Saved .*"))).to_be_visible()
    until_stored(workbench, "First tab's name")
    rename(theirs, "Second tab's name")
    dialog = other.get_by_role("dialog", name="Two versions of this playbook")
    both = other.get_by_role("button", name="See both versions")
    expect(both.or_(dialog).first).to_be_visible(timeout=10_000)
    if both.is_visible():
        both.click()
    expect(dialog.get_by_role("list", name="Differences")).to_be_visible()
    assert workbench.stored()["name"] == "First tab's name"
    dialog.get_by_role("button", name="Keep both").click()
    expect(dialog).to_have_count(0)
    names = {row["name"] for row in studio.rows("select name from builder_savedplaybook")}
    assert {"First tab's name"} < names
    assert any("Second tab's name" in name for name in names)


def until_stored(workbench: Workbench, name: str) -> None:
    """Waits for the save; what the bar says first may be about the save before."""
    for _ in range(50):
        if workbench.stored()["name"] == name:
            return
        workbench.page.wait_for_timeout(100)
    raise AssertionError(f"{name!r} was not stored")
