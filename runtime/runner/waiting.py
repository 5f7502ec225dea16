"""Waiting for an answer, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from runtime.runner.ports import Clock

T = TypeVar("T")
CLASSIFYING_S: Final = 5.0
"""Seconds that a message's classification may take."""


class TookTooLong(Exception):
    """The time for an answer is over."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(f"It took longer than {limit_s:g} s.")


async def in_time(clock: Clock, work: Coroutine[Any, Any, T], limit_s: float = CLASSIFYING_S) -> T:
    """The result of `work`. Raises TookTooLong; `work` is cancelled then, and when the waiting is."""
    working = asyncio.ensure_future(work)
    alarm = asyncio.ensure_future(clock.sleep(limit_s))
    try:
        await asyncio.wait({working, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise TookTooLong(limit_s)
    finally:
        alarm.cancel()
        working.cancel()
