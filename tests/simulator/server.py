"""The simulator on a real port: HTTP/1.1 by h11, on the running loop, so that a test can break a connection
off at any byte. `serving` is for tests, `run` for the command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import unquote

import h11

from tests.simulator.answers import Dropped
from tests.simulator.asgi import Message

READ_SIZE = 65_536


@asynccontextmanager
async def serving(app: Any, port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Serves the app and gives its address, without a slash at the end; port 0 is a free one."""
    open_tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        try:
            with suppress(ConnectionError):
                await _Connection(app, reader, writer).serve()
        finally:
            open_tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, host, port)
    try:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in open_tasks:
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)


class _Connection:
    """One connection: its requests one after the other."""

    def __init__(self, app: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._app, self._reader, self._writer = app, reader, writer
        self._http = h11.Connection(h11.SERVER)
        self._gone = False

    async def serve(self) -> None:
        while True:
            request = await self._event()
            if not isinstance(request, h11.Request):
                return
            body = await self._body()
            try:
                await self._answer(request, body)
            except Dropped:
                self._writer.transport.abort()
                return
            if self._http.our_state is not h11.DONE or self._gone:
                return
            self._http.start_next_cycle()

    async def _event(self) -> Any:
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError:
                return None
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(READ_SIZE))

    async def _body(self) -> bytes:
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
        return bytes(body)

    async def _answer(self, request: h11.Request, body: bytes) -> None:
        path, _, query = request.target.decode("latin-1").partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method.decode(),
            "path": unquote(path),
            "query_string": query.encode("latin-1"),
            "headers": list(request.headers),
        }
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": body}
            await self._client_left()
            return {"type": "http.disconnect"}

        await self._app(scope, receive, self._send)

    async def _client_left(self) -> None:
        """Until the client closes; what it sends beforehand belongs to its next request."""
        while data := await self._reader.read(READ_SIZE):
            self._http.receive_data(data)
        self._gone = True

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            out = self._http.send(h11.Response(status_code=message["status"], headers=message["headers"]))
        else:
            out = self._http.send(h11.Data(data=message.get("body", b""))) or b""
            if not message.get("more_body"):
                out += self._http.send(h11.EndOfMessage()) or b""
        self._writer.write(out or b"")
        await self._writer.drain()
