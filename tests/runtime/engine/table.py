"""A session moved by hand: what happens goes in, events and effects come out. No clock, no model, no tool.

Plays the runner's small part: it logs `llm_call_started` for a CallModel, as the runner does. After every
step it checks what must hold for every session: the state is the fold of the log, numbers have no gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.fold import apply, fold
from runtime.conversation.messages import AssistantMessage, ToolCall, ToolMessage
from runtime.conversation.state import SessionState
from runtime.engine import NO_AGENTS, step
from runtime.engine.effects import CallModel, Effect, RunTool, WakeAt
from runtime.engine.happened import (
    Happened,
    ModelFailed,
    ModelReplied,
    Start,
    Stop,
    Tick,
    ToolReplied,
    UserMessage,
)
from runtime.playbook import Playbook

E = TypeVar("E", bound=ev.EventBase)
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def call(name: str, call_id: str = "c1", **arguments: Any) -> ToolCall:
    """A tool call as the model makes it."""
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def move_to(target: str, call_id: str = "m1", **more: Any) -> ToolCall:
    """A call of the transition tool."""
    return call("playbook_transition", call_id, targetStage=target, **more)


class Table:
    """One session under test."""

    def __init__(
        self, playbook: Playbook, *, started: bool = True, agents: Mapping[str, Playbook] = NO_AGENTS
    ) -> None:
        self.playbook, self.agents = playbook, agents
        self.now = START
        self.state = SessionState(session="s")
        self.log: list[Event] = []
        self.wants: tuple[Effect, ...] = ()
        """What the last step wants done."""
        if started:
            self.happens(Start())

    def happens(self, happened: Happened) -> None:
        """One step."""
        done = step(self.playbook, self.state, happened, self.now, self.agents)
        self.state = done.state
        self.log += done.events
        self.wants = done.effects
        for effect in done.effects:
            if isinstance(effect, CallModel):
                self._log_started(effect)
        self._check()

    def _log_started(self, effect: CallModel) -> None:
        event = ev.LLMCallStarted(
            seq=self.state.seq + 1,
            at=self.now,
            session="s",
            turn=self.state.turn,
            call=effect.call,
            lane="",
            phase=effect.phase,
            stage=effect.stage,
            provider="test",
            model="test",
        )
        self.state = apply(self.state, event)
        self.log.append(event)

    def _check(self) -> None:
        assert [event.seq for event in self.log] == list(range(1, len(self.log) + 1))
        assert self.state == fold("s", self.log)

    # What the tests say

    def says(self, text: str) -> None:
        """The user says something."""
        self.happens(UserMessage(text))

    def model(self, text: str = "", *calls: ToolCall) -> None:
        """The model answers the call in flight."""
        number = (
            self.state.running.call if self.state.running and self.state.running.call else self.state.calls
        )
        self.happens(ModelReplied(number, AssistantMessage(text=text, tool_calls=calls)))

    def model_fails(self, sentence: str = "The model is overloaded.") -> None:
        """The call in flight fails for good."""
        self.happens(ModelFailed(self.state.calls, sentence, "overloaded", 529, True))

    def tool(self, call_id: str, result: Any = "done", *, error: str | None = None) -> None:
        """A tool answers."""
        message = ToolMessage(
            call_id=call_id,
            tool_name=self._name_of(call_id),
            success=error is None,
            result=result if error is None else None,
            error=error,
        )
        self.happens(ToolReplied(message))

    def _name_of(self, call_id: str) -> str:
        names = [event.name for event in self.of(ev.ToolCallStart) if event.call_id == call_id]
        return names[-1] if names else "unknown"

    def stops(self, shown: str = "") -> None:
        """The person presses Stop; `shown` is what the call in flight has shown."""
        running = self.state.running
        self.happens(Stop("stop", running.call if running else None, shown))

    def waits(self, **duration: float) -> None:
        """Time passes, and the session hears of it once."""
        self.now += timedelta(**duration)
        self.happens(Tick())

    # What the tests look at

    @property
    def stage(self) -> str:
        """The stage the session is in."""
        assert self.state.frame is not None
        return self.state.frame.stage

    @property
    def asked(self) -> CallModel:
        """The model call that the last step wants."""
        return next(effect for effect in self.wants if isinstance(effect, CallModel))

    @property
    def asks(self) -> bool:
        """Whether the last step wants a model call."""
        return any(isinstance(effect, CallModel) for effect in self.wants)

    @property
    def runs(self) -> list[str]:
        """Ids of the calls that the last step wants run."""
        return [effect.call.call_id for effect in self.wants if isinstance(effect, RunTool)]

    @property
    def wakes_at(self) -> datetime | None:
        """When the last step wants to be woken."""
        return next((effect.at for effect in self.wants if isinstance(effect, WakeAt)), None)

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.log if isinstance(event, kind)]

    @property
    def types(self) -> list[str]:
        """The log's event types, without the inner life of calls."""
        return [event.type for event in self.log if not event.type.startswith("llm_call")]

    @property
    def results(self) -> dict[str, ev.ToolCallComplete]:
        """Results of tool calls by id."""
        return {event.call_id: event for event in self.of(ev.ToolCallComplete)}

    def calls_without_one_result(self) -> list[str]:
        """Ids of calls that have no result or more than one, message by message; empty is right."""
        wrong: list[str] = []
        open_calls: Counter[str] = Counter()
        for event in self.log:
            if isinstance(event, ev.LLMCallCompleted):
                wrong += [call_id for call_id, left in open_calls.items() if left]
                open_calls = Counter(call.call_id for call in event.message.tool_calls)
            elif isinstance(event, ev.ToolCallComplete) and not event.call_id.startswith("action:"):
                open_calls[event.call_id] -= 1
        if self.state.running is None:
            wrong += [call_id for call_id, left in open_calls.items() if left]
        return wrong
