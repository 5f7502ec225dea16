"""Connections in the browser: shown and tested on their page, picked in the editor, tried in the chat."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from builder.config.bootstrap.frontend import collected
from tests.e2e.conftest import watch_console
from tests.e2e.workbench import open_template
from tests.simulator import say
from tests.support.providers import Providers, providers
from tests.support.studio import StudioServer

FILE = """
[connections.local]
url = "{url}/v1"
key = "good"
model = "llama-local"

[connections.wrong]
url = "{url}/v1"
key = "bad"

[connections.away]
url = "http://127.0.0.1:9/v1"

[connections.typo]
urll = "{url}/v1"
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[Providers]:
    with providers(Providers(good_key="good")) as servers:
        servers.simulator.choose(lambda body: say("Hello, ", "from the simulator."))
        yield servers


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory, servers: Providers) -> Iterator[StudioServer]:
    """A studio with connections to simulated providers."""
    assert (collected() / "app" / "manifest.json").exists(), "build the frontend first"
    server = StudioServer(
        tmp_path_factory.mktemp("connected"), ANTHROPIC_API_KEY="good", ANTHROPIC_BASE_URL=servers.url
    )
    server.data.mkdir(parents=True)
    (server.data / "connections.toml").write_text(FILE.format(url=servers.url), "utf-8")
    (server.data / "connections.toml").chmod(0o600)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def page(browser: Browser, browser_context_args: dict[str, Any], connected: StudioServer) -> Iterator[Page]:
    context = browser.new_context(**{**browser_context_args, "base_url": connected.address})
    errors = watch_console(context)
    page = context.new_page()
    page.goto(connected.new_link())
    yield page
    context.close()
    assert not errors, errors


def test_the_page_says_what_is_wrong_with_each_connection(page: Page, screenshots: Path) -> None:
    page.get_by_role("link", name="Connections").click()
    expect(page.get_by_role("heading", name="Connections to models")).to_be_visible()
    expect(page.get_by_text("Line 15")).to_be_visible()
    for name, words in (
        ("local", "It answers and has llama-local."),
        ("wrong", "does not accept the key"),
        ("away", "cannot be reached"),
    ):
        page.get_by_role("button", name=f"Test {name}").press("Enter")
        expect(page.get_by_role("listitem", name=name).get_by_text(words)).to_be_visible(timeout=30_000)
    local = page.get_by_role("listitem", name="local")
    local.get_by_text("2 models there").click()
    expect(local.get_by_role("list", name="Models of local")).to_contain_text("qwen-local")
    asked = page.get_by_role("textbox", name="Model to ask local for")
    asked.fill("no-such-model")
    asked.press("Enter")
    expect(local.get_by_text("does not know this model")).to_be_visible()
    page.screenshot(path=screenshots / "connections.png", full_page=True)


def test_a_stage_s_model_is_picked_with_its_connection(page: Page, connected: StudioServer) -> None:
    workbench = open_template(page, connected)
    workbench.stage("Triage").click()
    page.get_by_text("Model", exact=True).first.click()
    model = page.get_by_role("combobox", name="Model")
    model.fill("qwen")
    expect(page.get_by_role("option", name="qwen-local")).to_be_visible()
    model.press("ArrowDown")
    model.press("Enter")
    expect(page.get_by_text("Answered by qwen-local over local.")).to_be_visible()
    model.fill("claude-sonnet-5")
    page.get_by_role("combobox", name="Connection").fill("anthropic")
    page.get_by_role("textbox", name="Temperature").fill("0.5")
    expect(page.get_by_text("Not supported by claude-sonnet-5: it is not sent.")).to_be_visible()
    workbench.expect_saved()
    triage = next(stage for stage in workbench.stored()["stages"] if stage["id"] == "triage")
    assert triage["llmConfig"] == {"model": "claude-sonnet-5", "provider": "anthropic", "temperature": 0.5}


def test_a_chat_is_tried_with_another_model_and_the_playbook_stays(
    page: Page, connected: StudioServer, servers: Providers
) -> None:
    workbench = open_template(page, connected)
    chat = workbench.talk()
    page.get_by_role("button", name=re.compile("^claude-sonnet-5. Try with another model")).click()
    search = page.get_by_role("combobox", name="Try with…")
    search.fill("qwen")
    page.get_by_role("option", name=re.compile("^qwen-local *local$")).click()
    chat.say("Hello")
    reply = chat.expect_finished(1)
    expect(reply).to_contain_text("from the simulator.")
    expect(page.get_by_role("button", name=re.compile("^qwen-local, in this chat only"))).to_be_visible()
    assert servers.simulator.bodies[-1]["model"] == "qwen-local"
    reply.get_by_role("button", name=re.compile(r"^call \d+")).click()
    expect(page.get_by_text("qwen-local over local")).to_be_visible()
    page.get_by_role("tab", name="Request").click()
    expect(page.get_by_text(f"POST {servers.url}/v1/chat/completions")).to_be_visible()
    assert workbench.stored()["defaultLLMConfig"]["model"] == "claude-sonnet-5"
