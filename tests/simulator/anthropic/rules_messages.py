"""The rules about messages: A08 to A11, A14 to A16."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tests.simulator.answers import Json
from tests.simulator.anthropic.checking import VERSION, Checked
from tests.simulator.anthropic.conversation import Turn, as_blocks

ROLES: Final = ("user", "assistant", "system")
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


def documents(request: Checked) -> str | None:
    """A04, with the newer version: no document of the assistant, no citations of the user."""
    if request.version != VERSION:
        return None
    for turn in request.talk.turns:
        for block in turn.blocks:
            if turn.role == "assistant" and block["type"] == "document":
                return f"messages.{turn.index}: `document` blocks are not permitted in assistant messages"
            if turn.role == "user" and block.get("type") == "text" and block.get("citations"):
                return f"messages.{turn.index}: `citations` are not permitted on user text"
    return None


def roles(request: Checked) -> str | None:
    """A08: there are messages, of known roles, a user's first."""
    messages = request.body.get("messages") or []
    if not messages:
        return "messages: at least one message is required"
    for index, message in enumerate(messages):
        if message["role"] not in ROLES:
            return f"messages.{index}.role: Input should be 'user' or 'assistant'"
    if messages[0]["role"] == "assistant":
        return 'messages: first message must use the "user" role'
    return None


def system_messages(request: Checked) -> str | None:
    """A09: system messages inside the conversation."""
    turns = request.talk.turns
    for place, turn in enumerate(turns):
        if turn.role != "system":
            continue
        at = f"messages.{turn.index}"
        if not request.model.system_in_messages:
            return f"{at}: role 'system' is not supported for this model"
        if place == 0:
            return f"{at}: a system message cannot be the first one"
        if turns[place - 1].role != "user":
            return f"{at}: a system message must follow a user message"
        if place + 1 < len(turns) and turns[place + 1].role != "assistant":
            return f"{at}: a system message must be last or precede an assistant message"
        if any(block["type"] != "text" for block in turn.blocks):
            return f"{at}: a system message may only contain text"
    return None


def empty_content(request: Checked) -> str | None:
    """A10: nothing is empty or blank."""
    messages = request.body["messages"]
    for index, message in enumerate(messages):
        final = index == len(messages) - 1 and message["role"] == "assistant"
        if not message["content"] and not final:
            return (
                f"messages.{index}: all messages must have non-empty content "
                "except for the optional final assistant message"
            )
        blocks = as_blocks(message["content"]) if message["content"] else []
        fault = _blank(blocks, f"messages.{index}")
        if fault is not None:
            return fault
    return _blank(request.talk.system, "system")


def _blank(blocks: list[Json], path: str) -> str | None:
    for block in _texts(blocks):
        if not block["text"]:
            return f"{path}: text content blocks must be non-empty"
        if not block["text"].strip():
            return f"{path}: text content blocks must contain non-whitespace text"
    return None


def _texts(blocks: list[Json]) -> Iterator[Json]:
    """The text blocks, those inside tool results too."""
    for block in blocks:
        if block["type"] == "text":
            yield block
        elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
            yield from _texts(block["content"])


def prefill(request: Checked) -> str | None:
    """A11: what may stand last. A turn that was paused may be sent back."""
    last = request.talk.turns[-1]
    if last.role != "assistant" or request.paused:
        return None
    if not request.model.prefill:
        return (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
    text = last.blocks[-1].get("text", "") if last.blocks else ""
    if text != text.rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    if request.thinking != "disabled":
        return "messages: assistant message prefill is not supported with thinking"
    return None


def call_ids(request: Checked) -> str | None:
    """A14: tool calls of the assistant."""
    seen: set[str] = set()
    for turn in request.talk.turns:
        for call in _calls(turn):
            if not _ID.fullmatch(call["id"]):
                return f"messages.{turn.index}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if call["id"] in seen:
                return f"messages.{turn.index}: `tool_use` ids must be unique"
            if not isinstance(call["input"], dict):
                return f"messages.{turn.index}.tool_use.input: Input should be a valid dictionary"
            seen.add(call["id"])
    return None


def _calls(turn: Turn) -> list[Json]:
    return [block for block in turn.blocks if block["type"] == "tool_use"]


def results_follow(request: Checked) -> str | None:
    """A15: a turn with tool calls is followed by one that begins with exactly their results."""
    turns = request.talk.turns
    for place, turn in enumerate(turns):
        wanted = [call["id"] for call in _calls(turn)]
        following = turns[place + 1] if place + 1 < len(turns) else None
        given = _leading_results(following) if following and following.role == "user" else []
        missing = [call_id for call_id in wanted if call_id not in given]
        if missing:
            return (
                f"messages.{turn.index}: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` "
                "block in the next message."
            )
    return None


def _leading_results(turn: Turn) -> list[str]:
    """Ids of the results that stand before anything else."""
    found = []
    for block in turn.blocks:
        if block["type"] != "tool_result":
            break
        found.append(str(block["tool_use_id"]))
    return found


def results_belong(request: Checked) -> str | None:
    """A16: every result belongs to a call of the turn before, once, and stands before other blocks."""
    before: Turn | None = None
    turns = request.talk.turns
    for before, turn in pairwise([Turn("user", [], 0), *turns]):
        known = {call["id"] for call in _calls(before)}
        given = [block["tool_use_id"] for block in turn.blocks if block["type"] == "tool_result"]
        strange = [call_id for call_id in given if call_id not in known]
        if strange:
            return (
                f"messages.{turn.index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(strange)}. Each `tool_result` block must have a corresponding `tool_use` block "
                "in the previous message."
            )
        if len(given) != len(_leading_results(turn)):
            return f"messages.{turn.index}: `tool_result` blocks must come before other content"
        if len(given) != len(set(given)):
            return f"messages.{turn.index}: each `tool_use` must have a single result"
    return None
