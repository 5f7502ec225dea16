"""The channel layer of the embedded mode: a hub inside one process and one event loop.

Upstream's in-memory layer walks every channel on each receive, makes a task per receiver and copies each
message for each of them; with thousands of sockets one broadcast then takes seconds. This one cleans up
at intervals and hands the same message to all: a message must not be changed after it was sent.
It relies on how `channels` keeps `channels` and `groups`; the version is pinned for that reason.
"""

import asyncio
import time
from typing import Any

from channels.layers import InMemoryChannelLayer

CLEAN_EVERY_SECONDS = 5.0
# A broadcast gives other tasks a turn after this many receivers.
YIELD_EVERY = 200


class HubChannelLayer(InMemoryChannelLayer):  # type: ignore[misc]  # channels has no types
    """In memory, for one event loop. `dropped` counts messages lost to full queues; receivers that
    lost one catch up from the event log."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.dropped = 0
        self._cleaned_at = time.monotonic()

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.require_valid_group_name(group)
        self._clean_expired()
        expires = time.time() + self.expiry
        for count, channel in enumerate(tuple(self.groups.get(group, ())), start=1):
            self._put(channel, expires, message)
            if count % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def _put(self, channel: str, expires: float, message: dict[str, Any]) -> None:
        queue = self.channels.get(channel)
        if queue is None:
            queue = self.channels[channel] = asyncio.Queue(maxsize=self.get_capacity(channel))
        try:
            queue.put_nowait((expires, message))
        except asyncio.QueueFull:
            self.dropped += 1

    def _clean_expired(self) -> None:
        now = time.monotonic()
        if now - self._cleaned_at >= CLEAN_EVERY_SECONDS:
            self._cleaned_at = now
            super()._clean_expired()
