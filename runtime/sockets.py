"""What a WebSocket consumer of ours stands on: dispatch without a database hop, and a bounded database pool.

Upstream's `dispatch` waits for the one shared database thread before every message, so that one slow query
stalls every socket. This one goes straight to the handler; in exchange the handlers must reach the database
through `in_database` only, which cleans up connections round each call.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from autobahn.exception import Disconnected
from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

DATABASE_THREADS = 8
_pool = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="database")


async def in_database(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs synchronous database work in the pool: never more than DATABASE_THREADS at a time, in no order."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, partial(_with_fresh_connection, function, *args, **kwargs))


def _with_fresh_connection(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()


class LeanConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """A WebSocket consumer. One message is handled at a time: start a task for anything that takes long."""

    async def dispatch(self, message: dict[str, Any]) -> None:
        handler = getattr(self, get_handler_name(message), None)
        if handler is None:
            raise ValueError(f"No handler for message type {message['type']}")
        await handler(message)

    async def send(self, *arguments: Any, **named: Any) -> None:
        """Sends; nothing where the connection is gone already. Raising would end the consumer before it hears
        of that and cleans up."""
        with suppress(Disconnected):
            await super().send(*arguments, **named)
