"""A small real HTTP server that streams what a test tells it to: the provider's end of the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    """How one request is answered. `then`: `end` closes cleanly, `cut` breaks it off, `stall` waits."""

    events: Sequence[dict[str, Any]] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    then: str = "end"


@dataclass
class Provider:
    """What the stub was asked, and what it answers next."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


def message(*texts: str, stop: str = "end_turn", usage: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The events of a text reply, the final event included."""
    start = {"input_tokens": 9, "output_tokens": 1, **(usage or {})}
    envelope = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": start,
    }
    return [
        {"type": "message_start", "message": {**envelope, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
            for text in texts
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]


def error_event(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "sk-ant-api03-secretsecret is busy"}}


@asynccontextmanager
async def provider(*answers: Answer) -> AsyncIterator[Provider]:
    """Serves the answers, one per request, on a free port of this machine."""
    state = Provider(answers=list(answers))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(state, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            state.hung_up.set()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield state
    finally:
        server.close()


async def _serve(state: Provider, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
    state.headers.append(headers)
    state.bodies.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
    state.asked.set()
    answer = state.answers.pop(0)
    if answer.body is not None:
        _send_json(writer, answer)
        await writer.drain()
        return
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for event in answer.events:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()
    if answer.then == "stall":
        await reader.read()
        state.hung_up.set()
    elif answer.then == "end":
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _send_json(writer: asyncio.StreamWriter, answer: Answer) -> None:
    data = json.dumps(answer.body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(data)), **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode() + data)
