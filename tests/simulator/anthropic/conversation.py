"""A Messages request in one form: lists of blocks, neighbours of one role merged, as caching and signatures
see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.context.models import ModelRecord
from runtime.context.tokens import count_tokens
from tests.simulator.answers import Json, compact

IMAGE_TOKENS: Final = 1_500
THINKING: Final = frozenset({"thinking", "redacted_thinking"})


@dataclass(slots=True)
class Turn:
    """Neighbouring messages of one role, as one."""

    role: str
    blocks: list[Json]
    index: int
    """Of the first of these messages in the request."""


@dataclass(slots=True)
class Conversation:
    """Tools, system blocks and turns of one request."""

    tools: list[Json]
    system: list[Json]
    turns: list[Turn]

    def all_blocks(self) -> Iterator[tuple[str, Json]]:
        """Every block with where it stands (`tools`, `system`, or a role), in the order of caching."""
        yield from (("tools", tool) for tool in self.tools)
        yield from (("system", block) for block in self.system)
        yield from ((turn.role, block) for turn in self.turns for block in turn.blocks)


def conversation(body: Mapping[str, Any]) -> Conversation:
    """The request's content; the body is known to be well formed."""
    turns: list[Turn] = []
    for index, message in enumerate(body.get("messages", ())):
        blocks = as_blocks(message["content"])
        if turns and turns[-1].role == message["role"]:
            turns[-1].blocks += blocks
        else:
            turns.append(Turn(message["role"], blocks, index))
    return Conversation(
        list(body.get("tools") or ()),
        as_blocks(body["system"] if body.get("system") is not None else []),
        turns,
    )


def as_blocks(content: str | Sequence[Json]) -> list[Json]:
    """A text alone is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def unmarked(block: Any) -> Any:
    """The block without its cache marks, at any depth: they move from request to request."""
    if isinstance(block, list):
        return [unmarked(item) for item in block]
    if isinstance(block, dict) and block.keys() & {"type", "name"}:
        return {
            key: unmarked(value) if key == "content" else value
            for key, value in block.items()
            if key != "cache_control"
        }
    return block


def block_tokens(place: str, block: Json, model: ModelRecord) -> int:
    """Tokens of one block of a request."""
    if place == "tools":
        return count_tokens(compact(unmarked(block)), "tools", model)[0]
    kind = block["type"]
    if kind == "tool_use":
        return count_tokens(block["name"] + compact(block["input"]), "tool_call", model)[0]
    if kind == "tool_result":
        inner = as_blocks(block.get("content") or [])
        return sum(_text_tokens(item, "tool_result", model) for item in inner)
    return _text_tokens(block, "dialogue", model)


def _text_tokens(block: Json, kind: str, model: ModelRecord) -> int:
    if block["type"] == "image":
        return IMAGE_TOKENS
    text = block.get("text") or block.get("thinking") or block.get("data")
    return count_tokens(text if isinstance(text, str) else compact(unmarked(block)), kind, model)[0]
