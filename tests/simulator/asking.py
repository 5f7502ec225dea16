"""Requests without an SDK: as wrong as a test wants them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.simulator.simulator import Simulator

CLAUDE = "claude-sonnet-5"
BINDING = "claude-opus-5-5"
GPT = "gpt-6.2-sol"
LOCAL = "a-local-model"
VERSION = "2026-10-21"
OLD_VERSION = "2023-06-01"
Json = dict[str, Any]


async def post(
    simulator: Simulator, path: str, body: Any, headers: Mapping[str, str] | None = None
) -> httpx2.Response:
    """One request; a body that is bytes is sent as it is."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"authorization": "Bearer k", "anthropic-version": VERSION, **(headers or {})}
    async with httpx2.AsyncClient(transport=simulator.transport(), base_url="http://simulator") as client:
        return await client.post(path, content=content, headers={k: v for k, v in sent.items() if v})


async def ask(simulator: Simulator, body: Json, headers: Mapping[str, str] | None = None) -> Json:
    """The message that answers this Messages request; fails the test for any other answer."""
    response = await post(simulator, "/v1/messages", body, headers)
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


def message_request(*messages: Json, **more: Any) -> Json:
    """A good Messages request, with what is given replaced; None leaves a field out."""
    body: Json = {"model": CLAUDE, "max_tokens": 100, "messages": list(messages) or [user("hi")], **more}
    return {key: value for key, value in body.items() if value is not None}


def user(*content: Any) -> Json:
    return {"role": "user", "content": _content(content)}


def assistant(*content: Any) -> Json:
    return {"role": "assistant", "content": _content(content)}


def _content(content: tuple[Any, ...]) -> Any:
    return content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)


def text(value: str, **more: Any) -> Json:
    return {"type": "text", "text": value, **more}


def use(call_id: str, **more: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "stock", "input": {}, **more}


def result(call_id: str, **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "2", **more}


def tool(name: str = "stock", **more: Any) -> Json:
    schema = {"type": "object", "properties": {}}
    return {"name": name, "description": "How many there are", "input_schema": schema, **more}


def marked(block: Json, ttl: str | None = "5m") -> Json:
    return {**block, "cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}}


def words(count: int, word: str = "bike") -> str:
    """A text of about that many tokens."""
    return " ".join([word] * count)
