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


# -- OpenAI -----------------------------------------------------------------------------------------------


def chat_request(*messages: Json, **more: Any) -> Json:
    """A good Chat Completions request; None leaves a field out."""
    body: Json = {"model": GPT, "messages": list(messages) or [user("hi")], **more}
    return {key: value for key, value in body.items() if value is not None}


def responses_request(*items: Json, **more: Any) -> Json:
    """A good, stateless Responses request; None leaves a field out."""
    body: Json = {"model": GPT, "input": list(items) or "hi", "store": False, **more}
    return {key: value for key, value in body.items() if value is not None}


def chat_tool(name: str = "stock", **more: Any) -> Json:
    schema = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": schema, **more}}


def function_tool(name: str = "stock", **more: Any) -> Json:
    schema = {"type": "object", "properties": {}}
    return {"type": "function", "name": name, "parameters": schema, "strict": False, **more}


def calling(*call_ids: str, **more: Any) -> Json:
    made = [{"id": c, "type": "function", "function": {"name": "stock", "arguments": "{}"}} for c in call_ids]
    return {"role": "assistant", "tool_calls": made, **more}


def answered(call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": "2"}


def function_call(call_id: str, **more: Any) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": "stock", "arguments": "{}", **more}


def output(call_id: str) -> Json:
    return {"type": "function_call_output", "call_id": call_id, "output": "2"}
