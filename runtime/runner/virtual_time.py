"""Time that nobody has to wait for: an event loop whose clock jumps to the next timer when nothing is ready.

For replay and tests. Everything that waits must wait by this loop's timers; a thread or a socket would be
overtaken.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")


class NothingWillHappen(RuntimeError):
    """Everything waits and no timer is set: a real program would hang here."""


class _JumpingSelector(selectors.SelectSelector):
    """Instead of waiting for a timer, moves the loop's time to it."""

    def __init__(self) -> None:
        super().__init__()
        self.elapsed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; never blocks."""
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise NothingWillHappen("Nothing is left that could happen.")
        self.elapsed += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own, which starts at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Seconds since the loop was made, in its own time."""
        return self._jumping.elapsed


class VirtualClock:
    """A clock on the running virtual loop that began at `start` (aware, UTC)."""

    def __init__(self, start: datetime) -> None:
        self._start = start

    def now(self) -> datetime:
        """The start and the loop's time, to the microsecond."""
        return self._start + timedelta(seconds=round(asyncio.get_running_loop().time(), 6))

    async def sleep(self, seconds: float) -> None:
        """Let that much of the loop's time pass."""
        await asyncio.sleep(seconds)


def run_virtual(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `main()` on a loop of its own with virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())
