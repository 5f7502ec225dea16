"""A session in virtual time with a scripted model: nothing waits, nothing leaves the process."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ParamSpec, TypeVar

from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.conversation.state import SessionState
from runtime.engine import NO_AGENTS
from runtime.llm.base import LLM
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import LLMConfig, Playbook, ToolDefinition
from runtime.runner.intents import LocalClassifiers
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Delta, EventStore, Random
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=ev.EventBase)
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Run an async test on a loop whose time jumps."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_virtual(lambda: test(*args, **kwargs))

    return run


class OneModel:
    """Gives every stage the same model."""

    def __init__(self, llm: LLM, model: str = "claude-sonnet-5") -> None:
        self._llm = llm
        self._model = model

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        """The model."""
        return self._llm, record(using_model or self._model)


class CountingTools(ToolBox):
    """The real tools, slowed down where a test says so; counts what ran."""

    def __init__(self, slow: Mapping[str, float] | None = None) -> None:
        super().__init__()
        self.ran: list[str] = []
        self.cancelled: list[str] = []
        self._slow = slow or {}

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """Run it, after its delay."""
        self.ran.append(tool.name)
        try:
            await asyncio.sleep(self._slow.get(tool.name, 0))
        except asyncio.CancelledError:
            self.cancelled.append(tool.name)
            raise
        return await super().run(tool, call, roots)


class Chance:
    """The same chance each time, from 0 up to 1."""

    def __init__(self, share: float) -> None:
        self._share = share

    def random(self) -> float:
        """What it was made with."""
        return self._share


class NoChance(Chance):
    """Jitter of nothing."""

    def __init__(self) -> None:
        super().__init__(0.0)


class Play:
    """One session with its model's script and everything its listeners heard."""

    def __init__(
        self,
        playbook: Playbook,
        outputs: Sequence[Mapping[str, Any]] = (),
        *,
        slow: Mapping[str, float] | None = None,
        tools: CountingTools | None = None,
        store: EventStore | None = None,
        state: SessionState | None = None,
        agents: Mapping[str, Playbook] = NO_AGENTS,
        chance: Random | None = None,
    ) -> None:
        self.llm = ScriptedLLM(outputs)
        self.tools = tools if tools is not None else CountingTools(slow)
        self.memory = MemoryStore()
        self.session = Session(
            playbook,
            llms=OneModel(self.llm),
            tools=self.tools,
            store=store if store is not None else self.memory,
            clock=VirtualClock(START),
            session_id="s",
            state=state,
            agents=agents,
            rng=chance or NoChance(),
            classifiers=LocalClassifiers("keyword"),
        )
        self.heard: list[Event | Delta] = []
        self.session.on(self.heard.append)

    async def talk(self, *texts: str) -> None:
        """Start, then say the texts one after the other."""
        await self.session.start()
        for text in texts:
            await self.session.send(text)

    def of(self, kind: type[E]) -> list[E]:
        """Events of one kind, in order."""
        return [event for event in self.memory.events if isinstance(event, kind)]

    @property
    def replies(self) -> list[str]:
        """The text of each turn that was completed."""
        return [event.text for event in self.of(ev.TurnComplete)]

    @property
    def deltas(self) -> list[Delta]:
        """What was shown, piece by piece."""
        return [item for item in self.heard if isinstance(item, Delta)]

    @property
    def shown(self) -> str:
        """All shown text."""
        return "".join(delta.text for delta in self.deltas)


def calls(name: str, call_id: str = "c1", text: str = "", **arguments: Any) -> dict[str, Any]:
    """A model output with one tool call."""
    return {"text": text, "tool_calls": [{"id": call_id, "name": name, "args": arguments}]}


def error(status: int, kind: str = "api_error", **more: Any) -> dict[str, Any]:
    """A model output that fails."""
    return {"error": {"type": kind, "status": status, "message": "no", **more}}
