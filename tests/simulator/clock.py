"""The simulator's time: the machine's, or one that a test moves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from runtime.runner.clock import SystemClock

START: Final = datetime(2026, 12, 1, 9, tzinfo=UTC)


class Clock(Protocol):
    """Where the simulator gets its time from."""

    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        ...


RealClock = SystemClock


class ManualClock:
    """Time stands still until `advance`. With `jumps` a sleeper moves it instead of waiting."""

    def __init__(self, start: datetime = START, *, jumps: bool = True) -> None:
        self._now = start
        self._moved = asyncio.Event()
        self.jumps = jumps

    def now(self) -> datetime:
        """The time it was moved to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves time on and wakes who slept until then."""
        self._now += timedelta(seconds=seconds)
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Returns once time was moved that far."""
        until = self._now + timedelta(seconds=seconds)
        if self.jumps:
            self.advance(seconds)
            await asyncio.sleep(0)
        while self._now < until:
            await self._moved.wait()
