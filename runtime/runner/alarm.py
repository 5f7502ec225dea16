"""The deadline that a session keeps by itself while a turn runs or a transition is made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import Any

from runtime.runner.ports import Clock


class Alarm:
    """Rings once, at the time it was set to last."""

    def __init__(
        self,
        clock: Clock,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        ring: Callable[[], Awaitable[None]],
    ) -> None:
        self._clock, self._spawn, self._ring = clock, spawn, ring
        self._task: asyncio.Task[None] | None = None
        self._at: datetime | None = None

    def set(self, at: datetime | None) -> None:
        """Ring then; None: not at all."""
        if at == self._at and (at is None or (self._task is not None and not self._task.done())):
            return
        self.cancel()
        self._at = at
        self._task = self._spawn(self._wait(at)) if at is not None else None

    def cancel(self) -> None:
        """It does not ring any more."""
        if self._task is not None:
            self._task.cancel()

    async def _wait(self, at: datetime) -> None:
        while (left := (at - self._clock.now()).total_seconds()) > 0:
            await self._clock.sleep(left)
        await self._ring()
