"""Talking to a session from a program: a reply as text, a turn as it comes, timers in the background."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from runtime.conversation.events import (
    Event,
    TurnComplete,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UserMessageEvent,
)
from runtime.runner.ports import Delta

if TYPE_CHECKING:
    from runtime.runner.session import Session

Item = Event | Delta


class NoReply(Exception):
    """The turn ended without a reply: it failed, and can be taken up by `retry`, or was stopped."""


async def ask(session: Session, text: str) -> str:
    """Says `text`; the reply of its turn. Raises NoReply, with a sentence that says why, or SessionOver."""
    reply = ""
    async for item in stream(session, text):
        if isinstance(item, TurnComplete):
            reply += item.text if not reply else f"\n\n{item.text}"
        elif isinstance(item, TurnFailed):
            raise NoReply(item.message)
        elif isinstance(item, TurnInterrupted):
            raise NoReply("The turn was stopped.")
    return reply


async def stream(session: Session, text: str) -> AsyncIterator[Item]:
    """Says `text` and gives what listeners hear of its turn, and of what stages say by themselves behind it.

    Who leaves early hears no more; the turn goes on. Raises SessionOver.
    """
    heard: asyncio.Queue[Item | None] = asyncio.Queue()
    own = _Own(f"stream-{uuid.uuid4().hex}")

    def hear(item: Item) -> None:
        for one in own.part_of(item):
            heard.put_nowait(one)

    unsubscribe = session.on(hear)
    sending = asyncio.ensure_future(session.send(text, client_id=own.client_id))
    sending.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (item := await heard.get()) is not None:
            yield item
        await sending
    finally:
        unsubscribe()


class _Own:
    """Tells one message's turn from those of others, which may run before and behind it."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self._mine = False
        self._begin: list[Item] = []

    def part_of(self, item: Item) -> list[Item]:
        """What is to be given when `item` is heard: nothing, itself, or itself behind its turn's begin."""
        if isinstance(item, TurnStarted) and item.cause not in ("speak_on_enter", "raw"):
            self._mine, self._begin = False, [item]
            return []
        if isinstance(item, UserMessageEvent) and not item.injected:
            self._mine = item.client_id == self.client_id
            return [*self._begin, item] if self._mine else []
        return [item] if self._mine else []


async def keep_time(session: Session) -> None:
    """Lets the session's timers fire when they are due, for as long as it runs."""
    changed = asyncio.Event()
    unsubscribe = session.on(lambda _: changed.set())
    try:
        while True:
            changed.clear()
            await session.tick()
            await _nap(session, changed)
    finally:
        unsubscribe()


async def _nap(session: Session, changed: asyncio.Event) -> None:
    """Until the next timer is due or the session has moved; a timer that is due and did not fire is over."""
    wake = session.next_wake
    waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(changed.wait())]
    seconds = (wake - session.clock.now()).total_seconds() if wake is not None else 0.0
    if seconds > 0:
        waiting.append(asyncio.ensure_future(session.clock.sleep(seconds)))
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
