"""The blocks and marks of OpenAI's requests, as the cache model wants them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.context.cache_model import Mark
from runtime.context.models import ModelRecord
from runtime.context.prefixes import DEVELOPER, MESSAGE, NO_END, Block
from runtime.context.tokens import count_tokens
from tests.simulator.answers import Json, compact

IMAGE_TOKENS: Final = 1_000
STANDARD_TTL: Final = "30m"
IGNORED: Final = frozenset({"id", "status", "annotations", "logprobs", "phase", "prompt_cache_breakpoint"})
"""What of an item or a part does not belong to the prompt."""
TEXT_TYPES: Final = {"input_text": "text", "output_text": "text"}


@dataclass(slots=True)
class Prompt:
    """A request as a list of blocks, and where its marks stand."""

    blocks: list[Block]
    marks: list[Mark]


def plain(item: Json) -> Json:
    """What the model reads of an item or a part: without ids and marks, a text alone as one part."""
    kept: Json = {key: value for key, value in item.items() if key not in IGNORED and value is not None}
    for key in ("content", "output"):
        if isinstance(kept.get(key), list):
            kept[key] = [plain(part) for part in kept[key]]
    if isinstance(kept.get("content"), str):
        kept["content"] = [{"type": "text", "text": kept["content"]}]
    if kept.get("type") == "message":
        del kept["type"]
    if kept.get("type") in TEXT_TYPES:
        kept["type"] = "text"
    return kept


def prompt(
    settings: Json,
    tools: Sequence[Json],
    instructions: str | None,
    items: Sequence[Json],
    model: ModelRecord,
    ttl: str | None,
    hidden_tokens: Callable[[Json], int],
) -> Prompt:
    """Settings, tools, instructions, items. `hidden_tokens`: what an item counts beyond its text."""
    found = Prompt([Block(f"settings {compact(settings)}", 0, positions=0, end=NO_END)], [])
    for tool in tools:
        tokens = count_tokens(compact(tool), "tools", model)[0]
        found.blocks.append(Block(f"tools {compact(tool)}", tokens, end=NO_END))
    if instructions:
        tokens = count_tokens(instructions, "base", model)[0]
        found.blocks.append(Block(f"instructions {instructions}", tokens, end=DEVELOPER))
    for item in items:
        _add(found, item, model, ttl or STANDARD_TTL, hidden_tokens(item))
    return found


def _add(found: Prompt, item: Json, model: ModelRecord, ttl: str, extra: int) -> None:
    """The blocks of one item: its parts, and its calls as one more."""
    role = item.get("role", item.get("type", ""))
    end = DEVELOPER if role in ("developer", "system") else MESSAGE
    pieces = list(_pieces(item))
    for index, (piece, mark) in enumerate(pieces):
        last = index == len(pieces) - 1
        key = f"{role} {item.get('tool_call_id', '')} {compact(plain(piece))}"
        tokens = _tokens(piece, model) + (extra if last else 0)
        found.blocks.append(Block(key, tokens, end=end if last else NO_END))
        if mark is not None and role != "assistant":
            found.marks.append(Mark(len(found.blocks) - 1, mark.get("ttl") or ttl))


def _pieces(item: Json) -> Iterator[tuple[Json, Json | None]]:
    """Each part of an item with its mark."""
    content = item.get("content", item.get("output"))
    if isinstance(content, str):
        yield {"type": "text", "text": content}, None
    elif content:
        yield from ((part, part.get("prompt_cache_breakpoint")) for part in content)
    rest = {key: value for key, value in item.items() if key not in ("content", "output", "role")}
    if item.get("tool_calls") or item.get("type") not in (None, "message", "function_call_output"):
        yield rest, None
    elif item.get("type") == "function_call_output":
        yield {"call_id": item["call_id"]}, None


def _tokens(piece: Json, model: ModelRecord) -> int:
    kind = piece.get("type")
    if kind in ("image_url", "input_image"):
        return IMAGE_TOKENS
    if kind == "reasoning" or piece.keys() <= {"call_id", "type"}:
        return 0
    if "text" in piece:
        return count_tokens(piece["text"], "dialogue", model)[0]
    if kind == "function_call":
        return count_tokens(piece["name"] + piece["arguments"], "tool_call", model)[0]
    if "tool_calls" in piece:
        calls = "".join(c["function"]["name"] + c["function"]["arguments"] for c in piece["tool_calls"])
        return count_tokens(calls, "tool_call", model)[0]
    return count_tokens(compact(piece), "dialogue", model)[0]
