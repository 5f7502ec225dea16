"""The conversation that docs/context.md is about: the research assistant of the gallery, without a model."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from runtime.conversation.events import Event
from runtime.inspector.calls import CallLog, CallView
from tests.support.rehearsed import talked

SLUG: Final = "research-assistant"
SAID: Final = (
    "Why did the light go out in 1911?",
    "Is that true?",
    "What does the newspaper say?",
    "Show me the page",
    "A brief, please",
)


@lru_cache(maxsize=1)
def events() -> tuple[Event, ...]:
    """The whole log."""
    return tuple(talked(SLUG, *SAID)[0])


@lru_cache(maxsize=1)
def calls() -> tuple[CallView, ...]:
    """Every call as the inspector shows it."""
    log = CallLog().read_all(events())
    views = (log.view(number) for number in log.numbers)
    return tuple(view for view in views if view is not None)


def last_of(turn: int) -> CallView:
    """The call that gave the turn's reply."""
    return [call for call in calls() if call.turn == turn][-1]


def in_stage(stage: str, found: Iterable[CallView] | None = None) -> list[CallView]:
    """The calls of a stage."""
    return [call for call in found or calls() if call.stage == stage]
