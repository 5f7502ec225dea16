"""Plays a script through a real session, with a model whose provider bills as the cache model says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from runtime.context.models import ModelRecord
from runtime.conversation.events import Event
from runtime.conversation.messages import ToolCall, ToolMessage, Usage
from runtime.llm.base import LLMEvent, LLMRequest, MessageComplete, TextDelta
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import LLMConfig, Playbook, ToolDefinition
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from tests.bench.cost.provider import Call, Provider
from tests.bench.cost.scripts import Script, outputs
from tests.bench.turns import render_nothing
from tests.llmrtc.case import Json

START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
REPLY_S, TOOL_S = 3.0, 1.0


@dataclass(slots=True)
class Played:
    """A conversation that is over: its log, and what the provider saw of it."""

    events: list[Event]
    results: Mapping[str, str]
    """Call id -> the tool's result, whole."""
    calls: list[Call] = field(default_factory=list)
    unused: int = 0
    """Outputs that nobody asked for: the script was not played to its end."""


class BilledLLM(ScriptedLLM):
    """A scripted model that takes its time and reports what its provider says that it used."""

    def __init__(self, script: Script, model: ModelRecord, clock: VirtualClock, provider: Provider) -> None:
        super().__init__(outputs(script.turns), renderer=render_nothing, model=model)
        self._clock, self._provider = clock, provider

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """The next output, with its bill."""
        usage = Usage(**self._provider.take(request, self._clock.now()).billed.model_dump())
        await asyncio.sleep(REPLY_S)
        async for event in super().stream(request):
            if isinstance(event, TextDelta):
                yield event
            elif isinstance(event, MessageComplete):
                yield MessageComplete(event.message, usage)
        self.requests.clear()


@dataclass(frozen=True, slots=True)
class _Source:
    llm: BilledLLM
    model: ModelRecord

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[BilledLLM, ModelRecord]:
        return self.llm, self.model


@dataclass(frozen=True, slots=True)
class _Answers:
    """Tools that give what the script says."""

    results: Mapping[str, str]

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        await asyncio.sleep(TOOL_S)
        result = self.results[call.call_id]
        return ToolMessage(call_id=call.call_id, tool_name=call.name, success=True, result=result)


def play(document: Playbook, script: Script, model: ModelRecord, *, checked: bool = False) -> Played:
    """The conversation, played to its end on virtual time. `checked`: a simulated API reads each request."""
    store = MemoryStore()
    played = Played(store.events, script.results)

    async def talk() -> None:
        clock = VirtualClock(START)
        provider = Provider(model, checked=checked)
        llm = BilledLLM(script, model, clock, provider)
        session = Session(
            document,
            llms=_Source(llm, model),
            tools=_Answers(script.results),
            store=store,
            clock=clock,
            session_id="bench",
        )
        await session.start()
        for turn in script.turns:
            await asyncio.sleep(turn.pause_s)
            await session.send(turn.text)
        await session.aclose()
        played.calls, played.unused = provider.calls, len(llm.outputs)

    run_virtual(talk)
    return played


def with_context(document: Json, **settings: Any) -> Playbook:
    """The playbook, with other settings of its context policy."""
    context = {**document.get("context", {}), **settings}
    return Playbook.model_validate({**document, "context": context})


def ended_at(played: Played) -> timedelta:
    """How long the conversation took."""
    return played.events[-1].at - played.events[0].at
