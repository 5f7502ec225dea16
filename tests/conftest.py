"""What holds for every test: no outside network, fixed examples from hypothesis, browser tests last."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import no_network

no_network.block()

settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "nightly", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

BROWSER_TESTS = Path(__file__).parent / "e2e"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Playwright's event loop stays in its process for good, and no asyncio test may follow it there:
    the browser tests are one group for xdist, and the last one."""
    for item in items:
        if BROWSER_TESTS in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.xdist_group("e2e"))
    items.sort(key=lambda item: BROWSER_TESTS in item.path.parents)
