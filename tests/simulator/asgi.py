"""The thin HTTP side: reads a request, sends an answer, notices when the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from tests.simulator.answers import HttpRequest, compact

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer: an object as JSON, or a stream of bytes."""

    status: int = 200
    body: Any = None
    stream: AsyncIterator[bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)


class ClientLeft(Exception):
    """The client closed the connection before it had the whole answer."""


async def read_request(scope: Scope, receive: Receive) -> HttpRequest:
    """The whole request. Raises ClientLeft."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope.get("query_string", b"").decode("latin-1")
    return HttpRequest(scope["method"], scope["path"], query, headers, bytes(body))


async def send_answer(answer: HttpAnswer, receive: Receive, send: Send) -> None:
    """Sends it all. Raises ClientLeft as soon as the client closes the connection of a stream."""
    kind = JSON_TYPE if answer.stream is None else STREAM_TYPE
    headers = {"content-type": kind, **answer.headers}
    if answer.stream is None:
        await _start(send, answer.status, headers)
        await send({"type": "http.response.body", "body": compact(answer.body).encode()})
        return
    streaming = asyncio.ensure_future(_stream(answer, headers, send))
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({streaming, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not streaming.done():
            raise ClientLeft
        await streaming
    finally:
        for task in (streaming, leaving):
            task.cancel()
        await asyncio.gather(streaming, leaving, return_exceptions=True)


async def _stream(answer: HttpAnswer, headers: dict[str, str], send: Send) -> None:
    """The headers go out at once: a client may leave before the first event."""
    await _start(send, answer.status, headers)
    async with aclosing(cast(Any, answer.stream)) as stream:
        async for data in stream:
            await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _start(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
