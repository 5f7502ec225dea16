"""What a session needs from outside, as protocols, and what its listeners hear beside the events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from runtime.context.models import ModelRecord
from runtime.conversation.events import Event
from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.llm.base import LLM
from runtime.playbook import LLMConfig, ToolDefinition


class EventStore(Protocol):
    """Keeps the log. An append that raises ends the session in this process: the log is the only truth."""

    async def append(self, events: Sequence[Event]) -> None:
        """Store the events, which have their `seq`; returns once they are safe."""
        ...


class Clock(Protocol):
    """Time, turned by hand in tests."""

    def now(self) -> datetime:
        """The time now, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class LLMSource(Protocol):
    """Finds the model that a stage's settings name."""

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        """The connection and the model's record; `using_model` is the session's own choice, if any."""
        ...


class Tools(Protocol):
    """Answers tool calls; `runtime.tools.ToolBox` does."""

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """The one result of the call. Never raises for what a tool does."""
        ...


class Random(Protocol):
    """Chance, for the jitter of retries."""

    def random(self) -> float:
        """A number from 0 up to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the reply as it is shown. `offset`: code points of this call's shown text before it."""

    turn: int
    call: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class RunningText:
    """What the call in flight has shown so far."""

    turn: int
    call: int
    text: str
