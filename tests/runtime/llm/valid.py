"""The rules of a valid Messages request, checked the way the provider would (its wording is not ours)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final

from runtime.context.models import record
from runtime.llm.base import LLMRequest
from runtime.llm.openai_chat_wire import render_chat
from runtime.llm.openai_responses_wire import render_responses
from tests.simulator.answers import HttpRequest, Refusal
from tests.simulator.openai.chat import ChatApi
from tests.simulator.openai.responses import ResponsesApi
from tests.simulator.profiles import Profiles

_PROFILES: Final = Profiles()
_LOCAL: Final = _PROFILES.add_local("a-local-model", window=1_000_000)
_GPT: Final = record("gpt-6.2-sol")


def problems(body: dict[str, Any]) -> list[str]:
    """Every rule that the body breaks, in words; empty for a request that would be accepted."""
    found: list[str] = []
    messages = body["messages"]
    if not messages or messages[0]["role"] != "user":
        found.append("the first message is not a user's")
    if messages and messages[-1]["role"] == "assistant":
        found.append("the last message is the assistant's")
    found += _alternation(messages) + _texts(body) + _calls(messages) + _marks(body)
    names = [tool["name"] for tool in body.get("tools", ())]
    if len(names) != len(set(names)):
        found.append("two tools have one name")
    if "tool_choice" in body and not names:
        found.append("a tool choice without tools")
    return found


def _alternation(messages: list[dict[str, Any]]) -> list[str]:
    found = []
    for index, message in enumerate(messages):
        before = messages[index - 1]["role"] if index else None
        after = messages[index + 1]["role"] if index + 1 < len(messages) else None
        if message["role"] == before:
            found.append(f"messages {index - 1} and {index} have one role")
        if message["role"] == "system" and (before != "user" or after not in (None, "assistant")):
            found.append(f"message {index} is a misplaced system message")
        if not message["content"]:
            found.append(f"message {index} is empty")
    return found


def _texts(body: dict[str, Any]) -> list[str]:
    blocks = [*body.get("system", ()), *(b for m in body["messages"] for b in m["content"])]
    return [
        "a text block is blank" for block in blocks if block["type"] == "text" and not block["text"].strip()
    ]


def _calls(messages: list[dict[str, Any]]) -> list[str]:
    found, seen = [], set()
    for index, message in enumerate(messages):
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        found += [f"id {c} is used twice" for c in calls if c in seen]
        found += [f"id {c} has other characters" for c in calls if not re.fullmatch(r"[a-zA-Z0-9_-]+", c)]
        seen.update(calls)
        following = messages[index + 1]["content"] if index + 1 < len(messages) else []
        results = [b.get("tool_use_id") for b in following[: len(calls)] if b["type"] == "tool_result"]
        if calls and sorted(results) != sorted(calls):
            found.append(f"message {index + 1} does not begin with the results of message {index}")
        previous = (
            [b["id"] for b in messages[index - 1]["content"] if b["type"] == "tool_use"] if index else []
        )
        orphans = [
            b for b in message["content"] if b["type"] == "tool_result" and b["tool_use_id"] not in previous
        ]
        found += [f"message {index} has a result without its call"] * len(orphans)
    return found


def _marks(body: dict[str, Any]) -> list[str]:
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    lives = [block["cache_control"]["ttl"] for block in blocks if "cache_control" in block]
    found = ["more than four marks"] if len(lives) > 4 else []
    if lives != sorted(lives, key=("1h", "5m").index):
        found.append("a 1h mark stands behind a 5m mark")
    if any(block.get("type") == "thinking" and "cache_control" in block for block in blocks):
        found.append("a mark on a thinking block")
    return found


def problems_elsewhere(request: LLMRequest) -> list[str]:
    """What the simulated OpenAI APIs say against the same request in their own forms."""
    chat = render_chat(replace(request, model=_LOCAL.id), _LOCAL)
    responses = render_responses(replace(request, model=_GPT.id), _GPT)
    found = []
    for api, body in ((ChatApi(_PROFILES), chat), (ResponsesApi(_PROFILES), responses)):
        sent = HttpRequest("POST", "/", "", {"authorization": "Bearer k"}, json.dumps(body).encode())
        try:
            api.prepare(sent)
        except Refusal as refusal:
            found.append(str(refusal))
    return found
