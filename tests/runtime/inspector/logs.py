"""Short logs for the inspector to read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.messages import AssistantMessage, Usage
from runtime.conversation.segments import Prediction, Segment

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def log(*events: Event) -> list[Event]:
    """The events, numbered."""
    return [event.model_copy(update={"seq": number}) for number, event in enumerate(events, start=1)]


def event(kind: Any, **fields: Any) -> Any:
    return kind(at=NOW, session="s", **fields)


def segment(name: str, tokens: int = 100, text: str | None = None) -> Segment:
    text = name if text is None else text
    return Segment(id=name, kind="dialogue", role="user", text=text, tokens=tokens, hash=f"{name}:{text}")


def call(
    number: int,
    window: list[Segment],
    *,
    added: int,
    usage: Usage | None = None,
    predicted: Prediction | None = None,
    lane: str = "main",
    model: str = "claude-sonnet-5",
) -> list[Event]:
    """A call that was started and answered."""
    started = event(
        ev.LLMCallStarted, turn=1, call=number, lane=lane, stage="s", provider="anthropic", model=model,
        added=tuple(window[len(window) - added :]), window_rest=tuple(s.id for s in window),
        predicted=predicted,
    )  # fmt: skip
    return [started, answered(number, usage)]


def answered(number: int, usage: Usage | None = None) -> Any:
    return event(ev.LLMCallCompleted, turn=1, call=number, message=AssistantMessage(text="Hi"), usage=usage)
