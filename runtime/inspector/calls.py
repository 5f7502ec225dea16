"""Views of LLM calls: what was sent, where the cache points stood, what really happened by the usage.

Rule: everything here is read from the log and from the model table; nothing is instrumented.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from runtime.context.models import record
from runtime.context.policy import settings_in_force
from runtime.context.prices import price_without_caching
from runtime.conversation.appendlist import AppendList
from runtime.conversation.base import Value
from runtime.conversation.events import (
    Event,
    LLMCallCompleted,
    LLMCallFailed,
    LLMCallStarted,
    TurnInterrupted,
    WindowRewritten,
)
from runtime.conversation.messages import Role, Usage
from runtime.conversation.segments import CachePoint, Prediction, Replaced, Segment, SegmentKind
from runtime.conversation.windows import window_sent
from runtime.inspector.efficiency import SentCall
from runtime.inspector.shares import Share, prefix_shares

CALL_EVENTS = frozenset(
    {"llm_call_started", "llm_call_completed", "llm_call_failed", "window_rewritten", "turn_interrupted"}
)
"""Types of the events that a CallLog reads."""

CUT_OFF = frozenset({"cancelled", "superseded"})
"""Codes of an `llm_call_failed` that was no failure: the turn was stopped, or a rule fired meanwhile."""

CallStatus = Literal["running", "complete", "failed", "interrupted"]


class SegmentView(Value):
    """A segment of a window without its text, which is fetched by `hash`."""

    id: str
    kind: SegmentKind
    role: Role
    tokens: int
    counted: str = "estimate"
    hash: str
    sources: tuple[int, ...] = ()
    frame: str | None = None
    stage: str | None = None
    label: str = ""
    meta: dict[str, Any] = Field(default_factory=dict)
    replaced: Replaced | None = None
    start: int
    """Tokens of the window before this segment."""


class CallError(Value):
    """Why a call gave no message."""

    code: str
    message: str
    status: int | None = None
    retryable: bool = False


class CallSummary(Value):
    """One LLM call in a list: all but its window."""

    call: int
    turn: int
    phase: int
    stage: str
    frame: str | None = None
    lane: str
    provider: str
    connection: str = ""
    """The operator's name for where the request went; empty: nowhere, or it has none."""
    model: str
    status: CallStatus
    attempt: int = 1
    layout: Literal["append", "swap"]
    cache_points: tuple[CachePoint, ...] = ()
    predicted: Prediction | None = None
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; null is unknown, never free."""
    cost_without_caching: float | None = None
    window_limit: int | None = None
    """Tokens that the model's window holds."""
    first_token_ms: int | None = None
    duration_ms: int | None = None
    tool_choice: Any = "auto"
    settings: dict[str, Any] = Field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    stop: str | None = None
    """Why the message ended: `end_turn`, `tool_use`, `max_tokens`, `refusal`, `pause_turn`,
    `context_window_exceeded`, or the provider's own word; null while there is none."""
    recovered: tuple[str, ...] = ()
    """Names of the tools whose calls the model wrote as text instead of calling."""
    added: int = 0
    """How many of the last segments this request added."""
    started_at: datetime
    error: CallError | None = None
    predicted_only: bool = True
    """True: what was read and written is a prediction; the provider reported no usage (yet)."""
    previous_call: int | None = None
    """The call before in the same lane."""
    first_difference: str | None = None
    """The first segment that differs from the previous call's window; null: nothing of it changed."""


class SettingView(Value):
    """A setting of the context policy."""

    name: str
    value: Any
    origin: str
    """Who set it: `session`, `stage`, `playbook`, `model`, `default`, or a reason in words."""


class CallView(CallSummary):
    """One LLM call as the inspector shows it, with its window."""

    policy: tuple[SettingView, ...] = ()
    """The context policy in force."""
    segments: tuple[SegmentView, ...] = ()
    shares: tuple[Share, ...] = ()


@dataclass(slots=True)
class _Call:
    started: LLMCallStarted
    window: AppendList[Segment]
    previous: _Call | None
    """The call before in the same lane."""
    completed: LLMCallCompleted | None = None
    failed: LLMCallFailed | None = None
    interrupted: bool = False


@dataclass(slots=True)
class CallLog:
    """Reads a session's events in order and knows every call in them. Feed each event once."""

    _segments: dict[str, Segment] = field(default_factory=dict)
    """By id, as the log last brought them."""
    _calls: dict[int, _Call] = field(default_factory=dict)
    _last_of_lane: dict[str, _Call] = field(default_factory=dict)

    def read(self, event: Event) -> int | None:
        """Takes the event in; the number of the call whose view changed with it, or None."""
        match event:
            case LLMCallStarted():
                return self._start(event)
            case WindowRewritten():
                self._remember(event.replacement)
            case LLMCallCompleted(call=number) if number in self._calls:
                self._calls[number].completed = event
                return number
            case LLMCallFailed(call=number) if number in self._calls:
                self._calls[number].failed = event
                return number
            case TurnInterrupted():
                return self._interrupt()
        return None

    def read_all(self, events: Iterable[Event]) -> CallLog:
        """Takes all events in; returns itself."""
        for event in events:
            self.read(event)
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all calls, in order."""
        return tuple(sorted(self._calls))

    def started(self, number: int) -> LLMCallStarted | None:
        """The event that started a call."""
        call = self._calls.get(number)
        return call.started if call else None

    def window(self, number: int) -> Sequence[Segment]:
        """The call's segments with their texts, as far as they were read."""
        call = self._calls.get(number)
        return call.window if call else ()

    def view(self, number: int) -> CallView | None:
        """The call as it stands now."""
        call = self._calls.get(number)
        return call_view(call) if call else None

    def summaries(self) -> list[CallSummary]:
        """All calls in order, without their windows: those together grow with the square of the session."""
        return [call_summary(self._calls[number]) for number in self.numbers]

    def sent(self, *, or_predicted: bool = False) -> list[SentCall]:
        """All calls whose usage is known, with what they sent. `or_predicted`: where the provider said
        nothing of a call that was answered, what was predicted counts."""
        found: list[SentCall] = []
        for number in self.numbers:
            call = self._calls[number]
            ended = call.completed or call.failed
            usage = ended.usage if ended is not None else None
            if usage is None and or_predicted and call.completed and call.started.predicted:
                usage = Usage(**call.started.predicted.model_dump())
            if usage is not None:
                first = call.completed.first_token_ms if call.completed else None
                found.append(SentCall(call.started, call.window, usage, first))
        return found

    def _start(self, event: LLMCallStarted) -> int:
        self._remember(event.added)
        known = self._calls.get(event.call)
        previous = known.previous if known else self._last_of_lane.get(event.lane)
        base = self._calls.get(event.window_of) if event.window_of is not None else None
        window = window_sent(event, base.window if base else AppendList(), self._segments)
        call = self._calls[event.call] = _Call(event, window, previous if event.lane else None)
        if event.lane and event.phase != 0:
            self._last_of_lane[event.lane] = call
        return event.call

    def _remember(self, segments: Iterable[Segment]) -> None:
        self._segments.update((segment.id, segment) for segment in segments)

    def _interrupt(self) -> int | None:
        running = [
            n for n, call in self._calls.items() if not (call.completed or call.failed or call.interrupted)
        ]
        for number in running:
            self._calls[number].interrupted = True
        return running[-1] if running else None


def call_view(call: _Call) -> CallView:
    """The view of one call, with its window."""
    short = call_summary(call)
    counts = [(segment.id, segment.tokens) for segment in call.window]
    return CallView(
        **dict(short),
        policy=_policy_views(call.started),
        segments=segment_views(call.window),
        shares=prefix_shares(counts, short.usage, short.predicted),
    )


def _policy_views(started: LLMCallStarted) -> tuple[SettingView, ...]:
    settings = settings_in_force(started.policy, record(started.model, started.provider))
    return tuple(SettingView(name=name, value=one.value, origin=one.origin) for name, one in settings.items())


def call_summary(call: _Call) -> CallSummary:
    """The view of one call without its window."""
    started, completed, ended = call.started, call.completed, call.completed or call.failed
    usage = ended.usage if ended else None
    model = record(started.model, started.provider)
    return CallSummary(
        call=started.call,
        turn=started.turn,
        phase=started.phase,
        stage=started.stage,
        frame=started.frame,
        lane=started.lane,
        provider=started.provider,
        connection=started.connection,
        model=started.model,
        status=_status(call),
        attempt=started.attempt,
        layout=started.layout,
        cache_points=started.cache_points,
        predicted=started.predicted,
        usage=usage,
        cost=ended.cost if ended else None,
        cost_without_caching=price_without_caching(usage, model),
        window_limit=model.window if model.known else None,
        first_token_ms=completed.first_token_ms if completed else None,
        duration_ms=completed.duration_ms if completed else None,
        tool_choice=started.tool_choice,
        settings=started.settings,
        left_out=started.left_out,
        stop=completed.message.stop if completed else None,
        recovered=_recovered(completed),
        added=len(started.added),
        started_at=started.at,
        error=_error(call.failed),
        predicted_only=usage is None,
        previous_call=call.previous.started.call if call.previous else None,
        first_difference=_first_difference(call),
    )


def _recovered(completed: LLMCallCompleted | None) -> tuple[str, ...]:
    calls = completed.message.tool_calls if completed is not None else ()
    return tuple(call.name for call in calls if call.recovered)


def segment_views(window: Sequence[Segment]) -> tuple[SegmentView, ...]:
    """The segments without their texts, each with the tokens that stand before it."""
    views: list[SegmentView] = []
    start = 0
    for segment in window:
        shown = {name: getattr(segment, name) for name in Segment.model_fields if name != "text"}
        views.append(SegmentView(**shown, start=start))
        start += segment.tokens
    return tuple(views)


def _status(call: _Call) -> CallStatus:
    if call.completed:
        return "complete"
    if call.failed:
        return "interrupted" if call.failed.code in CUT_OFF else "failed"
    return "interrupted" if call.interrupted else "running"


def _error(failed: LLMCallFailed | None) -> CallError | None:
    if failed is None or failed.code in CUT_OFF:
        return None
    return CallError(code=failed.code, message=failed.error, status=failed.status, retryable=failed.retryable)


def _first_difference(call: _Call) -> str | None:
    if call.previous is None:
        return None
    shared = call.started.window_shared
    pairs = zip(call.window[shared:], call.previous.window[shared:], strict=False)
    return next((segment.id for segment, before in pairs if segment.hash != before.hash), None)
