"""The guard is on in every test that runs a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from runtime.runner.session import Session
from tests.guard import Guard


@pytest.fixture(autouse=True)
def guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Listens to every session that the test makes; a request that broke what was sent before fails it."""
    found: list[str] = []
    make = Session.__init__

    def make_guarded(self: Session, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.on(Guard(self.state, found.append))

    monkeypatch.setattr(Session, "__init__", make_guarded)
    yield found
    assert found == []
