"""What a replay reports, as values and as the JSON objects of `replay --json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runtime.context.window import ContextWindow
from runtime.conversation.events import (
    Event,
    EventBase,
    LLMCallCompleted,
    LLMCallFailed,
    LLMCallStarted,
)
from runtime.conversation.segments import CachePoint, Segment
from runtime.inspector.efficiency import Efficiency
from runtime.runner.replay.model import Asked


@dataclass(frozen=True, slots=True)
class CallSeen:
    """One call of a model: its window, the request as rendered, and what it cost."""

    started: LLMCallStarted
    window: ContextWindow
    cache_points: tuple[CachePoint, ...]
    body: dict[str, Any]
    ended: LLMCallCompleted | LLMCallFailed

    @property
    def completed(self) -> LLMCallCompleted | None:
        """The event with message and usage; None if the call failed."""
        return self.ended if isinstance(self.ended, LLMCallCompleted) else None


@dataclass(frozen=True, slots=True)
class End:
    """Where the session stands after the last step."""

    stage: str
    complete: bool
    variables: dict[str, Any]
    call_stack: tuple[str, ...]
    """The stages of the open frames, the root's first."""
    replies: tuple[str, ...]
    """What each turn said, by number of the turn; empty for one that failed."""
    unused_outputs: int
    efficiency: Efficiency
    """Of all calls, by what was predicted where the script names no usage."""


Item = Event | CallSeen | End


def call_seen(started: LLMCallStarted, asked: Asked, ended: LLMCallCompleted | LLMCallFailed) -> CallSeen:
    """The report of one call."""
    return CallSeen(started, asked.request.window, asked.request.cache_points, asked.body, ended)


def json_line(item: Item) -> str:
    """The item as one line of JSON; the same item is the same line in every process."""
    return json.dumps(as_object(item), ensure_ascii=False, allow_nan=False)


def as_object(item: Item) -> dict[str, Any]:
    """The item as an object with its `kind`: `event`, `call` or `end`."""
    match item:
        case CallSeen():
            return {"kind": "call", **_call(item)}
        case End():
            return {"kind": "end", **_end(item)}
        case EventBase():
            return {"kind": "event", **item.model_dump(mode="json")}


def _call(call: CallSeen) -> dict[str, Any]:
    started, completed = call.started, call.completed
    usage = completed.usage if completed else None
    return {
        "turn": started.turn,
        "phase": started.phase,
        "stage": started.stage,
        "model": started.model,
        "window": {
            "layout": call.window.layout,
            "segments": [_segment(segment) for segment in call.window.segments],
            "cachePoints": [_point(point) for point in call.cache_points],
        },
        "request": call.body,
        "predicted": started.predicted.model_dump(mode="json") if started.predicted else None,
        "usage": usage.model_dump(mode="json") if usage else None,
        "cost": completed.cost if completed else None,
    }


def _point(point: CachePoint) -> dict[str, Any]:
    return point.model_dump(mode="json", include={"segment", "ttl", "reason"})


def _segment(segment: Segment) -> dict[str, Any]:
    shown = {"id", "kind", "role", "text", "tokens", "hash", "frame", "sources", "replaced"}
    return segment.model_dump(mode="json", include=shown)


def _end(end: End) -> dict[str, Any]:
    return {
        "stage": end.stage,
        "complete": end.complete,
        "variables": end.variables,
        "callStack": list(end.call_stack),
        "replies": list(end.replies),
        "unusedOutputs": end.unused_outputs,
        "efficiency": end.efficiency.model_dump(mode="json"),
    }
