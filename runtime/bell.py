"""Rings the bell of a channel group from wherever the caller is: the server's loop, or a worker thread.

The event log is the truth; what is sent here only tells listeners to look. An in-memory layer wakes receivers
of its own event loop only, so a message from a worker thread must be put in there: with `async_to_sync`
delivery takes half a second instead of a millisecond.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)

_server_loops: list[asyncio.AbstractEventLoop] = []
_in_flight: set[asyncio.Task[None]] = set()


def set_server_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    """Called once by the launcher; None when it stops."""
    _server_loops[:] = [] if loop is None else [loop]


def ring(group: str, message: Mapping[str, Any]) -> None:
    """Sends `message` to every channel in `group`, soon, without waiting. It must not be changed after."""
    sending = _send(group, dict(message))
    running = _running_loop()
    if running is not None:
        task = running.create_task(sending)
        _in_flight.add(task)
        task.add_done_callback(_in_flight.discard)
    elif _server_loops and _server_loops[0].is_running():
        asyncio.run_coroutine_threadsafe(sending, _server_loops[0])
    else:  # a Celery worker's process, or a command: no loop of ours to lend
        async_to_sync(lambda: sending)()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _send(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        await layer.group_send(group, message)
    except OSError:
        # The broker is away. Listeners catch up from the log when they next hear of anything.
        logger.warning("A message to %s was not delivered", group, exc_info=True)
