"""A conversation as a session plays it, and what of its events must be the same whoever answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.fold import fold
from runtime.engine import NO_AGENTS
from runtime.playbook import Playbook
from runtime.runner.intents import LocalClassifiers
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Delta
from runtime.runner.session import Session
from tests.conformance.speakers import Speaker
from tests.guard import violations
from tests.runtime.runner.play import START, CountingTools, NoChance

RETRY_WAITS_S: Final = 60.0


class StandingClock:
    """Its time stands still, and the waits between tries take none."""

    def now(self) -> datetime:
        """Always the same."""
        return START

    async def sleep(self, seconds: float) -> None:
        """Waits only for what is longer than a wait between tries: a time-out."""
        await asyncio.sleep(seconds if seconds >= RETRY_WAITS_S else 0)


class Talk:
    """One session and all that its listeners heard."""

    def __init__(
        self,
        playbook: Playbook,
        llms: Speaker,
        *,
        slow: Mapping[str, float] | None = None,
        agents: Mapping[str, Playbook] = NO_AGENTS,
    ) -> None:
        self.speaker = llms
        self.tools = CountingTools(slow)
        self.memory = MemoryStore()
        self.session = Session(
            playbook,
            llms=llms,
            tools=self.tools,
            store=self.memory,
            clock=StandingClock(),
            session_id="s",
            rng=NoChance(),
            classifiers=LocalClassifiers("keyword"),
            agents=agents,
        )
        self.shown = ""
        self.session.on(self._hear)

    def _hear(self, item: Event | Delta) -> None:
        if isinstance(item, Delta):
            self.shown += item.text

    async def say(self, *texts: str) -> None:
        """Says them one after the other."""
        for text in texts:
            await self.session.send(text)

    async def say_and(
        self, text: str, ready: Callable[[Talk], bool], act: Callable[[], Awaitable[Any]]
    ) -> None:
        """Says something and, once `ready`, does something else while the turn runs."""
        turn = asyncio.create_task(self.session.send(text))
        await self.until(lambda: ready(self))
        await act()
        await turn

    async def until(self, ready: Callable[[], bool]) -> None:
        """Returns when that holds."""
        async with asyncio.timeout(10):
            while not ready():  # noqa: ASYNC110  what is waited for is no event
                await asyncio.sleep(0.002)

    def of(self, kind: type[Any]) -> list[Any]:
        """Events of one kind."""
        return [event for event in self.memory.events if isinstance(event, kind)]

    def check(self) -> None:
        """The log is whole: one result for each call, and the state is its fold."""
        assert violations("s", self.memory.events) == []
        assert self.session.state == fold("s", self.memory.events)


Steps = Callable[[Talk], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is said on both sides. `outputs` are the model's, as replay scripts have them."""

    playbook: Playbook
    outputs: Sequence[Mapping[str, Any]]
    steps: Steps
    slow: Mapping[str, float] = field(default_factory=dict)
    agents: Mapping[str, Playbook] = field(default_factory=dict)

    async def play(self, llms: Speaker) -> Talk:
        """Plays it once."""
        talk = Talk(self.playbook, llms, slow=self.slow, agents=self.agents)
        await talk.session.start()
        await self.steps(talk)
        await talk.session.aclose()
        talk.check()
        return talk


OWN: Final = frozenset(
    {
        "seq", "at", "session", "provider", "model", "lane", "layout", "added", "window_of", "window_shared",
        "window_rest", "cache_points", "points", "predicted", "numbers", "settings", "left_out",
        "request_digest", "request", "usage", "cost", "first_token_ms", "duration_ms", "status", "error",
        "wait_ms", "cached", "peak", "tokens", "tool_choice",
    }
)  # fmt: skip
"""Fields that tell of the model, of time and of prices."""
PLANNING: Final = (ev.CachePlanned, ev.CompactionPlanned, ev.WindowRewritten)
"""Events whose being there depends on the model's window and prices."""


def outline(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The events without what depends on the model: these must be the same for all."""
    return [_plain(event) for event in events if not isinstance(event, PLANNING)]


def _plain(event: Event) -> dict[str, Any]:
    data = event.model_dump(mode="json", by_alias=False, exclude=set(OWN))
    if isinstance(event, ev.LLMCallCompleted):
        message = event.message
        calls = [(call.call_id, call.name, call.arguments, call.raw) for call in message.tool_calls]
        data["message"] = {"text": message.text, "calls": calls, "stop": message.stop}
    if isinstance(event, ev.ToolCallComplete):
        data["error"] = event.error
    return data
