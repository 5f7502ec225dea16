"""The real clock. The only place in the library that reads the time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """Time as the machine has it, in UTC."""

    def now(self) -> datetime:
        """The time now, aware."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait for real."""
        await asyncio.sleep(seconds)
