"""Several processes on one database: what is asked of a session here, while another process works on it, is
done there.

Every process has a channel group of its own. A command that meets a live lease is sent to the lease's holder,
which answers whether it took it. The embedded mode has one process and never comes here.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from pydantic import TypeAdapter

from runtime.inspector.frames import CLIENT_FRAME, ErrorFrame, Retry, SendMessage, SetVariable, Stop, Use

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 3.0
"""How long the other process may take to say that it took the command; it may be dead, its lease not yet."""

ACCEPTED_SECONDS = 0.3
"""A command that was not refused within this time was taken; how its turn ends is in the log."""

Forwarded = SendMessage | Stop | Retry | SetVariable | Use
FORWARDED: TypeAdapter[Forwarded] = TypeAdapter(Forwarded)
Do = Callable[[uuid.UUID, Forwarded], Awaitable[ErrorFrame | None]]
Tell = Callable[[uuid.UUID], None]


class Unanswered(Exception):
    """The other process did not say that it took the command."""


def group_of_process(process: str) -> str:
    """The channel group of a process; its name may hold characters that a group's may not."""
    return f"process.{hashlib.sha256(process.encode()).hexdigest()[:32]}"


class Switchboard:
    """This process's line to the others."""

    def __init__(self, layer: Any, process: str, do: Do, tell: Tell) -> None:
        self._layer = layer
        self._group = group_of_process(process)
        self._do = do
        self._tell = tell
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[ErrorFrame | None]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._answering: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begins to listen."""
        channel = await self._layer.new_channel()
        await self._layer.group_add(self._group, channel)
        self._listening = asyncio.create_task(self._listen(channel), name="line to other processes")

    async def close(self) -> None:
        """Listens no more."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    async def forward(self, holder: str, session: uuid.UUID, command: Forwarded) -> ErrorFrame | None:
        """Has the holder do it; the error if it refused. Raises Unanswered."""
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        message = {"type": "process.command", "session": str(session), "frame": command.model_dump_json()}
        try:
            await self._layer.group_send(
                group_of_process(holder), {**message, "number": number, "answer_to": self._group}
            )
            return await asyncio.wait_for(answer, ANSWER_SECONDS)
        except TimeoutError:
            raise Unanswered(holder) from None
        finally:
            del self._asked[number]

    async def ask_to_tell(self, holder: str, session: uuid.UUID) -> None:
        """Has the holder repeat to everybody what it has shown so far of the running reply."""
        message = {"type": "process.tell", "session": str(session)}
        await self._layer.group_send(group_of_process(holder), message)

    async def _listen(self, channel: str) -> None:
        while True:
            try:
                self._hear(await self._layer.receive(channel))
            except Exception:
                logger.exception("The line to other processes failed; it goes on")
                await asyncio.sleep(1)

    def _hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "process.tell":
            self._tell(uuid.UUID(message["session"]))
        elif message["type"] == "process.command":
            task = asyncio.create_task(self._take(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif message["type"] == "process.answer":
            asked = self._asked.get(message["number"])
            if asked is not None and not asked.done():
                error = message["error"]
                asked.set_result(ErrorFrame.model_validate_json(error) if error else None)

    async def _take(self, message: dict[str, Any]) -> None:
        command = FORWARDED.validate_python(CLIENT_FRAME.validate_json(message["frame"]))
        doing = asyncio.ensure_future(self._do(uuid.UUID(message["session"]), command))
        done, _ = await asyncio.wait({doing}, timeout=ACCEPTED_SECONDS)
        error = doing.result() if done else None
        answer = {"type": "process.answer", "number": message["number"]}
        await self._layer.group_send(
            message["answer_to"], {**answer, "error": error.model_dump_json() if error else None}
        )
        await doing
