"""The simulator inside the process: a transport for the SDKs' HTTP client that streams as it comes.

The client's own ASGI transport collects a whole answer before it hands out any of it; with that nobody could
leave a stream early, and a silent one would hang.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx2

from tests.simulator.answers import Dropped
from tests.simulator.asgi import Message


class SimulatorTransport(httpx2.AsyncBaseTransport):
    """`httpx2.AsyncClient(transport=SimulatorTransport(simulator))`: what `anthropic` and `openai` take as
    `http_client`. A broken connection and the read time-out are errors of the client as on a real one."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Runs the app and returns as soon as it has sent its headers."""
        timeout = request.extensions.get("timeout", {}).get("read")
        exchange = _Exchange(await request.aread(), timeout)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "path": request.url.path,
            "query_string": request.url.query,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
        }
        exchange.task = asyncio.ensure_future(exchange.run(self._app, scope))
        try:
            start = await exchange.next()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx2.Response(start["status"], headers=start["headers"], stream=exchange)


class _Exchange(httpx2.AsyncByteStream):
    def __init__(self, body: bytes, timeout: float | None) -> None:
        self._body, self._timeout = body, timeout
        self._messages: asyncio.Queue[Message | Exception] = asyncio.Queue(maxsize=1)
        self._asked = False
        self._left = asyncio.Event()
        self.task: asyncio.Future[None] | None = None

    async def run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._messages.put)
        except Dropped:
            await self._messages.put(httpx2.RemoteProtocolError("the server broke the connection off"))
        except Exception as error:
            await self._messages.put(error)

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def next(self) -> Message:
        try:
            # Not `wait_for`: until Python 3.12 it can swallow a cancellation.
            async with asyncio.timeout(self._timeout):
                message = await self._messages.get()
        except TimeoutError:
            raise httpx2.ReadTimeout("nothing came in time") from None
        if isinstance(message, Exception):
            raise message
        return message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self.next()
            more = message.get("more_body", False)
            if message.get("body"):
                yield cast(bytes, message["body"])

    async def aclose(self) -> None:
        """The client is done: what still runs is told that it left."""
        self._left.set()
        if self.task is None:
            return
        while not self.task.done():
            _drain(self._messages)
            await asyncio.wait({self.task}, timeout=0.01)


def _drain(messages: asyncio.Queue[Any]) -> None:
    """Makes room, so that nobody waits for a reader that is gone."""
    while not messages.empty():
        messages.get_nowait()
