"""Turns as the inspector tells them: what was said, which rules were looked at, why it moved on or not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from runtime.conversation.base import Value
from runtime.conversation.events import (
    Event,
    LLMCallStarted,
    SessionComplete,
    StageEntered,
    ToolCallComplete,
    ToolCallStart,
    TransitionEvaluated,
    TransitionRefused,
    TransitionTriggered,
    TurnComplete,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UserMessageEvent,
)


class RuleView(Value):
    """One rule that was looked at, in the order in which it was."""

    seq: int
    transition: str
    verdict: bool
    seen: Any = None
    """The value that the rule saw."""
    reason: str = ""


class MoveView(Value):
    """A transition that was taken, or refused."""

    seq: int
    transition: str | None = None
    """None: no rule made it (a limit without a way out, a target that is not allowed)."""
    from_stage: str | None = None
    to_stage: str | None = None
    mode: Literal["goto", "call", "return"] | None = None
    reason: str = ""
    refused: bool = False


class ToolView(Value):
    """One tool call of a turn. Without `success` it has no result yet."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None = None
    success: bool | None = None
    result: Any = None
    error: str | None = None
    duration_ms: int | None = None


class TurnView(Value):
    """One turn. Turn 0 is what happened before the first one and between turns (a timer's move)."""

    turn: int
    cause: str = ""
    status: Literal["running", "complete", "interrupted", "failed"] = "running"
    stage: str = ""
    """Where it began."""
    end_stage: str = ""
    """Where it was at last."""
    user_text: str | None = None
    reply: str = ""
    """As shown, also where the turn was cut off."""
    rules: tuple[RuleView, ...] = ()
    moves: tuple[MoveView, ...] = ()
    tools: tuple[ToolView, ...] = ()
    calls: tuple[int, ...] = ()
    """Numbers of its LLM calls."""
    error: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


def timeline(events: Iterable[Event]) -> list[TurnView]:
    """All turns that the events tell of, in order."""
    turns: dict[int, TurnView] = {}
    for event in events:
        before = turns.get(event.turn) or TurnView(turn=event.turn)
        after = _told(before, event)
        if after is not before:
            turns[event.turn] = after
    return [turns[number] for number in sorted(turns)]


def _told(turn: TurnView, event: Event) -> TurnView:
    changes = _of_talk(turn, event) or _of_moving(turn, event) or _of_tools(turn, event) or _of_ending(event)
    return turn.model_copy(update=changes) if changes else turn


def _of_talk(turn: TurnView, event: Event) -> dict[str, Any] | None:
    match event:
        case TurnStarted():
            started = {"cause": event.cause, "stage": event.stage, "started_at": event.at}
            return {**started, "end_stage": event.stage, "status": "running", "error": None}
        case UserMessageEvent(injected=False):
            return {"user_text": event.text}
        case LLMCallStarted() if event.call not in turn.calls:
            return {"calls": (*turn.calls, event.call)}
    return None


def _of_moving(turn: TurnView, event: Event) -> dict[str, Any] | None:
    match event:
        case TransitionEvaluated():
            rule = RuleView(
                seq=event.seq,
                transition=event.transition,
                verdict=event.verdict,
                seen=event.seen,
                reason=event.reason,
            )
            return {"rules": (*turn.rules, rule)}
        case TransitionTriggered() | TransitionRefused():
            return {"moves": (*turn.moves, _move(event))}
        case StageEntered():
            return {"end_stage": event.stage, "stage": turn.stage or event.stage}
    return None


def _move(event: TransitionTriggered | TransitionRefused) -> MoveView:
    if isinstance(event, TransitionRefused):
        return MoveView(
            seq=event.seq,
            transition=event.transition,
            to_stage=event.target_stage,
            reason=event.reason,
            refused=True,
        )
    return MoveView(
        seq=event.seq,
        transition=event.transition,
        from_stage=event.from_stage,
        to_stage=event.to_stage,
        mode=event.mode,
        reason=event.reason,
    )


def _of_tools(turn: TurnView, event: Event) -> dict[str, Any] | None:
    if isinstance(event, ToolCallStart):
        asked = ToolView(call_id=event.call_id, name=event.name, arguments=event.arguments)
        return {"tools": (*turn.tools, asked)}
    if isinstance(event, ToolCallComplete):
        return {"tools": _with_result(turn.tools, event)}
    return None


def _with_result(tools: tuple[ToolView, ...], event: ToolCallComplete) -> tuple[ToolView, ...]:
    """In the order of asking. Only a call that waits gets the result: a model may use an id twice."""
    result = {name: getattr(event, name) for name in ("success", "result", "error", "duration_ms")}
    for index, tool in enumerate(tools):
        if tool.call_id == event.call_id and tool.success is None:
            return (*tools[:index], tool.model_copy(update=result), *tools[index + 1 :])
    return (*tools, ToolView(call_id=event.call_id, name=event.tool_name, **result))


def _of_ending(event: Event) -> dict[str, Any] | None:
    match event:
        case TurnComplete():
            return {"status": "complete", "reply": event.text, "ended_at": event.at}
        case TurnInterrupted():
            return {"status": "interrupted", "reply": event.shown_text, "ended_at": event.at}
        case TurnFailed():
            return {"status": "failed", "error": event.message, "ended_at": event.at}
        case SessionComplete():
            return {"end_stage": event.stage}
    return None
