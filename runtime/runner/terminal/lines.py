"""Lines of the user, read without stopping the event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Protocol


class Lines(Protocol):
    """Where the user's lines come from."""

    async def next(self, prompt: str) -> str | None:
        """The next line without its end; None when there are no more."""
        ...


class TypedLines:
    """Lines that `read` gives (`input`, or a file's lines), each one asked for before it is read.

    A thread of its own waits for them, so that replies and timers go on; at the end it reads nothing and so
    keeps nobody from leaving.
    """

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._asked: queue.SimpleQueue[tuple[str, asyncio.Future[str | None]]] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._serve, name="typed lines", daemon=True).start()

    async def next(self, prompt: str) -> str | None:
        """The next line; None at the end of the input."""
        answer: asyncio.Future[str | None] = self._loop.create_future()
        self._asked.put((prompt, answer))
        return await answer

    def _serve(self) -> None:
        while True:
            prompt, answer = self._asked.get()
            try:
                line = self._read(prompt)
            except (EOFError, OSError, ValueError):
                line = None
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(_give, answer, line)


def _give(answer: asyncio.Future[str | None], line: str | None) -> None:
    if not answer.done():
        answer.set_result(line)
