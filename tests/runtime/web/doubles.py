"""A runner's session that says what the test tells it to, word by word, through the real store and fold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runtime.commands import RunnerSession
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.fold import apply
from runtime.conversation.messages import AssistantMessage, Usage
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.storage import DjangoEventStore, LoadedSession


@dataclass(frozen=True)
class Piece:
    """A delta as the runner gives it."""

    turn: int
    call: int
    offset: int
    text: str


@dataclass(frozen=True)
class Shown:
    turn: int
    call: int
    text: str


@dataclass
class Model:
    """What the pretended model says, and how fast: a word waits until the test lets it pass."""

    words: list[str] = field(default_factory=lambda: ["Hello", " there"])
    gates: dict[int, asyncio.Event] = field(default_factory=dict)
    """By number of the word: it is said once its gate is open; without one, at once."""
    usage: Usage | None = None
    sessions: list[PretendSession] = field(default_factory=list)

    def hold_before(self, word: int) -> asyncio.Event:
        return self.gates.setdefault(word, asyncio.Event())

    def build(self, stored: LoadedSession, store: DjangoEventStore) -> RunnerSession:
        session = PretendSession(self, stored.state, store)
        self.sessions.append(session)
        return session


class PretendSession:
    """One turn at a time; a reply is the model's words."""

    def __init__(self, model: Model, state: SessionState, store: DjangoEventStore) -> None:
        self.model, self.state, self.store = model, state, store
        self.running_text: Shown | None = None
        self.next_wake: datetime | None = None
        self.ticks = 0
        self._listeners: list[Callable[[Any], None]] = []
        self._turns = asyncio.Lock()
        self._turn: asyncio.Task[None] | None = None
        self._ending = "stop"

    def on(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def start(self, data: Mapping[str, Any] | None = None) -> None:
        await self._log(ev.SessionStarted, playbook="pretend", data=dict(data or {}))
        await self._log(ev.StageEntered, stage="greeting", frame="f1", visit=1, prompt="Greet.")

    async def send(self, text: str, *, client_id: str | None = None, interrupt: bool = False) -> None:
        if client_id is not None and client_id in self.state.client_ids:
            return
        if interrupt:
            await self.stop("interrupt")
        async with self._turns:
            turn = self.state.turn + 1
            await self._log(ev.TurnStarted, turn=turn, stage="greeting")
            await self._log(ev.UserMessageEvent, turn=turn, text=text, client_id=client_id)
            self._turn = asyncio.create_task(self._reply(turn))
            await asyncio.wait({self._turn})
            if self._turn.cancelled():  # before it said anything
                await self._end(ev.TurnInterrupted, turn=turn, stage="greeting", reason=self._ending)
            else:
                self._turn.result()

    async def stop(self, reason: str = "stop") -> None:
        if self._turn is not None and not self._turn.done():
            self._ending = reason
            self._turn.cancel()
            await asyncio.wait({self._turn})

    async def retry(self) -> None:
        await self.send("again")

    async def set(self, variable: str, value: Any) -> None:
        await self._log(ev.StateChanged, set={variable: value}, cause="user")

    async def use(self, model: str | None = None, layout: Any = None, policy: Any = None) -> None:
        await self._log(ev.SessionUsing, model=model, layout=layout, policy=policy)

    async def tick(self) -> None:
        self.ticks += 1
        self.next_wake = None

    async def recover(self, shown_text: str = "") -> None:
        await self._end(ev.TurnInterrupted, stage="greeting", shown_text=shown_text, reason="process_died")

    async def aclose(self) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()

    async def _reply(self, turn: int) -> None:
        call, text = self.state.calls + 1, ""
        segment = a_segment(f"s{call}", f"text of call {call}")
        await self._log(
            ev.LLMCallStarted,
            turn=turn, call=call, lane="main", stage="greeting", provider="rehearsal", model="rehearsal",
            added=(segment,), window_rest=(segment.id,),
        )  # fmt: skip
        try:
            for number, word in enumerate(self.model.words):
                if number in self.model.gates:
                    await self.model.gates[number].wait()
                self._tell(Piece(turn, call, len(text), word))
                text += word
                self.running_text = Shown(turn, call, text)
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            reason = self._ending
            await self._end(ev.TurnInterrupted, turn=turn, stage="greeting", shown_text=text, reason=reason)
            return
        message = AssistantMessage(text=text, stop="end_turn")
        await self._log(ev.LLMCallCompleted, turn=turn, call=call, message=message, usage=self.model.usage)
        await self._log(ev.Phase2Complete, turn=turn, stage="greeting", text=text)
        await self._end(ev.TurnComplete, turn=turn, stage="greeting", text=text)

    async def _end(self, kind: type[Event], **fields: Any) -> None:
        await self._log(kind, **fields)
        self.running_text = None

    async def _log(self, kind: Any, *, turn: int | None = None, **fields: Any) -> None:
        number = self.state.turn if turn is None else turn
        event: Event = kind(
            seq=self.state.seq + 1, at=datetime.now(UTC), session=self.state.session, turn=number, **fields
        )
        await self.store.append([event])
        self.state = apply(self.state, event)
        self._tell(event)

    def _tell(self, item: Any) -> None:
        for listener in self._listeners:
            listener(item)


def a_segment(name: str, text: str, tokens: int = 10) -> Segment:
    return Segment(id=name, kind="dialogue", role="user", text=text, tokens=tokens, hash=f"hash-of-{text}")
