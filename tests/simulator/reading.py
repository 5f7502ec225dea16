"""Reads raw streams of all three APIs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.simulator import ManualClock, Simulator, serving
from tests.simulator.asking import (
    LOCAL,
    VERSION,
    Json,
    chat_request,
    message_request,
    post,
    responses_request,
)

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
BODIES = {
    MESSAGES: message_request(stream=True),
    RESPONSES: responses_request(stream=True),
    CHAT: chat_request(model=LOCAL, stream=True, stream_options={"include_usage": True}),
}
EVERY = pytest.mark.parametrize("path", list(BODIES))
TEXTS = ("The ", "bike ", "is ", "blue.")


def simulator(*quirks: str, clock: ManualClock | None = None) -> Simulator:
    made = Simulator(clock=clock)
    made.profiles.add_local(LOCAL, *quirks)
    return made


def lines(raw: str) -> list[tuple[str | None, Any]]:
    """The events of a stream as (name, data); checks that each is an optional name and one data line."""
    found = []
    for block in raw.split("\n\n")[:-1]:
        rows = [row for row in block.split("\n") if not row.startswith(":")]
        if not rows:
            continue
        name = rows.pop(0).removeprefix("event: ") if rows[0].startswith("event: ") else None
        (data,) = rows
        value = data.removeprefix("data: ")
        found.append((name, value if value == "[DONE]" else json.loads(value)))
    return found


async def streamed(asked: Simulator, path: str, body: Json | None = None) -> list[tuple[str | None, Any]]:
    answer = await post(asked, path, body or BODIES[path])
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return lines(answer.text)


def kinds(events: list[tuple[str | None, Any]]) -> list[str]:
    """The types in order, runs of one type as one."""
    found: list[str] = []
    for _, data in events:
        kind = data if isinstance(data, str) else data.get("type", "chunk")
        if not found or found[-1] != kind:
            found.append(kind)
    return found


def text_of(path: str, events: list[tuple[str | None, Any]]) -> str:
    if path == MESSAGES:
        return "".join(d["delta"].get("text", "") for _, d in events if d["type"] == "content_block_delta")
    if path == RESPONSES:
        return "".join(d["delta"] for _, d in events if d["type"] == "response.output_text.delta")
    choices = [c for _, d in events if isinstance(d, dict) for c in d["choices"]]
    return "".join(c["delta"].get("content") or "" for c in choices)


WAYS = pytest.mark.parametrize("way", ["process", "port"])
HEADERS = {"authorization": "Bearer k", "anthropic-version": VERSION}


@asynccontextmanager
async def address(asked: Simulator, way: str) -> AsyncIterator[tuple[str, httpx2.AsyncClient | None]]:
    """Where the simulator is: on a port, or nowhere but behind a client of its own."""
    if way == "port":
        async with serving(asked) as url:
            yield url, None
    else:
        async with httpx2.AsyncClient(transport=asked.transport(), base_url="http://simulator") as client:
            yield "http://simulator", client


@asynccontextmanager
async def opened(asked: Simulator, path: str, way: str = "process") -> AsyncIterator[httpx2.Response]:
    """A stream that is read piece by piece."""
    async with address(asked, way) as (url, client), AsyncExitStack() as stack:
        sender = client or httpx2.AsyncClient(base_url=url)
        stack.push_async_callback(sender.aclose)
        stream = sender.stream("POST", path, json=BODIES[path], headers=HEADERS)
        yield await stack.enter_async_context(stream)
