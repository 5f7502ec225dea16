"""What holds for every test: no outside network, events checked as they are made, fixed examples from
hypothesis, browser tests last."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from runtime.conversation.base import CHECKS
from tests import no_network

no_network.block()
CHECKS.on = True

settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

BROWSER_TESTS = Path(__file__).parent / "e2e"


def in_a_browser(item: pytest.Item) -> bool:
    return BROWSER_TESTS in item.path.parents


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Playwright's event loop stays in its process for good, and no asyncio test may follow it there:
    the browser tests are one group for xdist, and the last one, whatever other plugins sort by."""
    for item in filter(in_a_browser, items):
        item.add_marker(pytest.mark.e2e)
        item.add_marker(pytest.mark.xdist_group("e2e"))
    yield
    items.sort(key=in_a_browser)
