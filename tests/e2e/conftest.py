"""One server and one browser for all browser tests; each test makes its own playbooks and sessions."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from builder.config.bootstrap import browser as bootstrap_browser
from builder.config.bootstrap.frontend import collected
from tests.support.studio import StudioServer

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The browser too stays on this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Chromium as `manage.py verify` found or installed it. None is a failure: nothing would be tested."""
    found = bootstrap_browser.find()
    if found is None:
        pytest.fail("No Chromium here: `python3 manage.py verify` installs one, STUDIO_BROWSER names one.")
    libraries = found.get("STUDIO_BROWSER_LIBS") or os.environ.get("STUDIO_BROWSER_LIBS", "")
    env = {**os.environ, **({"LD_LIBRARY_PATH": libraries} if libraries else {})}
    return {**browser_type_launch_args, "executable_path": found["STUDIO_BROWSER"], "args": FLAGS, "env": env}


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    """The real server, with a fresh data folder."""
    if not (collected() / "app" / "manifest.json").exists():
        pytest.fail("The frontend is not built: run `python3 manage.py build` first.")
    server = StudioServer(tmp_path_factory.mktemp("studio"))
    server.start()
    yield server
    if server.process is not None:
        server.stop()


@pytest.fixture(scope="session")
def base_url(studio: StudioServer) -> str:
    """Lets tests write `page.goto("/playbooks/...")`."""
    return studio.address


@pytest.fixture(scope="session")
def signed_in_state(browser: Browser, studio: StudioServer) -> Any:
    """Cookies of a browser that opened a sign-in link once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(studio.new_link())
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_context_args,
        "viewport": {"width": 1440, "height": 900},
        "reduced_motion": "reduce",
        "accept_downloads": True,
    }


@pytest.fixture
def signed_in_page(
    new_context: Callable[..., BrowserContext], signed_in_state: Any, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page of a signed-in browser. What the browser's console calls an error fails the test."""
    context = new_context(storage_state=signed_in_state)
    errors = watch_console(context)
    yield context.new_page()
    allowed = [pattern for mark in request.node.iter_markers("console_errors") for pattern in mark.args]
    unexpected = [error for error in errors if not any(re.search(pattern, error) for pattern in allowed)]
    assert not unexpected, "The browser's console says:\n" + "\n".join(unexpected)


def watch_console(context: BrowserContext) -> list[str]:
    """Errors of all pages of the context, collected from now on."""
    errors: list[str] = []

    def on_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} ({message.location.get('url', '')})")

    context.on("console", on_message)
    context.on("weberror", lambda error: errors.append(f"uncaught: {error.error}"))
    return errors


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where tests leave pictures for people; not in test-results, which every run empties."""
    folder = Path(os.environ.get("STUDIO_SCREENSHOTS", "build/screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
