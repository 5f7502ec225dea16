"""Tells a session's channel group what happens in it: events as they were stored, text in small batches.

The log is the truth and the group is the bell, so nothing here may fail a turn, and what is lost on the way
is read again from the log. Text goes out at once when it is the first of a reply, else at most every
FLUSH_SECONDS or FLUSH_CHARACTERS, and always before the next event.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from runtime.conversation.events import Event, EventBase
from runtime.inspector.calls import CallLog
from runtime.inspector.frames import CallFrame, RunningReply
from runtime.storage import stored_form

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.045
FLUSH_CHARACTERS = 1024

Message = dict[str, Any]
GroupSend = Callable[[str, Message], Awaitable[None]]


class DeltaLike(Protocol):
    """A piece of the running reply, as the runner gives it."""

    @property
    def turn(self) -> int: ...
    @property
    def call(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def text(self) -> str: ...


def group_of(session: object) -> str:
    """The channel group of a session."""
    return f"session.{session}"


class Publisher:
    """Listener of one running session; `run` is its task."""

    def __init__(self, group: str, send: GroupSend, calls: CallLog) -> None:
        self._group = group
        self._send = send
        self._calls = calls
        self._outbox: deque[Message] = deque()
        self._pending: list[DeltaLike] = []
        self._pending_characters = 0
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def __call__(self, item: Event | DeltaLike) -> None:
        """Takes an event (already stored) or a piece of text. Never blocks, never raises on a slow group."""
        if isinstance(item, EventBase):
            self._flush()
            self._outbox.append(event_message(item))
            self._publish_call(item)
            self._hurry.set()
        else:
            self._take_text(item)
        self._idle.clear()
        self._wake.set()

    def repeat(self, running: RunningReply) -> None:
        """Publishes the whole of a running reply again."""
        self._flush()
        self._outbox.append({"type": "session.text", **running.model_dump(by_alias=False), "offset": 0})
        self._hurry.set()
        self._idle.clear()
        self._wake.set()

    async def run(self) -> None:
        """Sends what was taken, in order, until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._wait_for_more_text()
            self._flush()
            while self._outbox:
                await self._deliver(self._outbox.popleft())
            if not self._wake.is_set():
                self._idle.set()

    async def drained(self) -> None:
        """Returns when everything taken so far was sent."""
        await self._idle.wait()

    def _take_text(self, delta: DeltaLike) -> None:
        if self._pending and self._pending[0].call != delta.call:
            self._flush()
        self._pending.append(delta)
        self._pending_characters += len(delta.text)
        if delta.offset == 0 or self._pending_characters >= FLUSH_CHARACTERS:
            self._hurry.set()

    async def _wait_for_more_text(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), FLUSH_SECONDS)
        self._hurry.clear()

    def _flush(self) -> None:
        if self._pending:
            self._outbox.append(delta_message(self._pending))
            self._pending = []
            self._pending_characters = 0

    def _publish_call(self, event: Event) -> None:
        changed = self._calls.read(event)
        view = self._calls.view(changed) if changed is not None else None
        if view is not None:
            self._outbox.append(frame_message(CallFrame(call=view).model_dump_json()))

    async def _deliver(self, message: Message) -> None:
        try:
            await self._send(self._group, message)
        except Exception:
            logger.warning(
                "A frame of %s was not delivered; sockets catch up from the log", self._group, exc_info=True
            )


def event_message(event: Event) -> Message:
    """The message that brings one event; encoded once for all sockets."""
    return {
        "type": "session.event",
        "seq": event.seq,
        "kind": event.type,
        "frame": encoded(stored_form(event)),
    }


def delta_message(deltas: list[DeltaLike]) -> Message:
    """The message that brings consecutive pieces of one reply as one."""
    first = deltas[0]
    text = "".join(delta.text for delta in deltas)
    return {
        "type": "session.text",
        "turn": first.turn,
        "call": first.call,
        "offset": first.offset,
        "text": text,
    }


def frame_message(frame: str) -> Message:
    """The message that brings a frame as it stands."""
    return {"type": "session.frame", "frame": frame}


def encoded(form: Any) -> str:
    """Compact JSON text."""
    return json.dumps(form, ensure_ascii=False, separators=(",", ":"))
