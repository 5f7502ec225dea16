"""A log in memory, for the library without a database."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.conversation.events import Event


class MemoryStore:
    """Keeps the events in a list."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def append(self, events: Sequence[Event]) -> None:
        """Keep the events."""
        self.events.extend(events)
