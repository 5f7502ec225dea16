"""The blocks and marks of a Messages request, as the cache model wants them."""

from __future__ import annotations

from typing import Final

from runtime.context.cache_model import Mark
from runtime.context.prefixes import NO_END, Block
from tests.simulator.answers import Json, compact
from tests.simulator.anthropic.checking import Checked
from tests.simulator.anthropic.conversation import block_tokens, unmarked
from tests.simulator.anthropic.rules_settings import last_markable, marked_blocks, ttl_of

TOOL_PROMPT: Final = {
    "claude-opus-5": (286, 406),
    "claude-sonnet-5": (354, 474),
    "claude-opus-4-8": (290, 410),
}
"""Tokens of the hidden text about tools: with `auto` or `none`, and with a forced choice."""
OLDER_TOOL_PROMPT: Final = (496, 588)
NEWER_TOOL_PROMPT: Final = (286, 406)


def cache_blocks(request: Checked) -> tuple[list[Block], list[Mark]]:
    """Blocks in the order tools, system, messages, with what invalidates from there on folded in."""
    blocks: list[Block] = []
    places: dict[int, int] = {}
    marks = {index: ttl_of(block["cache_control"]) for index, block in marked_blocks(request)}
    last = last_markable(request) if request.get("cache_control") else None
    stage = "tools"
    for index, (place, block) in enumerate(request.talk.all_blocks()):
        if place == "tools" and block.get("defer_loading"):
            continue
        if stage == "tools" and place != "tools":
            blocks.append(_settings(_system_settings(request)))
            stage = "system"
        if stage == "system" and place != "system":
            blocks.append(_settings(_message_settings(request), _tool_prompt(request)))
            stage = "messages"
        places[index] = len(blocks)
        if block is last:
            marks.setdefault(index, ttl_of(request.body["cache_control"]))
        key = f"{place} {compact(unmarked(block))}"
        blocks.append(Block(key, block_tokens(place, block, request.model)))
    return blocks, [Mark(places[index], ttl) for index, ttl in sorted(marks.items()) if index in places]


def _settings(settings: Json, tokens: int = 0) -> Block:
    """A block that stands for settings: it takes no position of the look-back."""
    return Block(f"settings {compact(settings)}", tokens, positions=0, end=NO_END)


def _system_settings(request: Checked) -> Json:
    return {"speed": request.get("speed") or "standard"}


def _message_settings(request: Checked) -> Json:
    return {
        "tool_choice": request.get("tool_choice", "type") or "auto",
        "one_call": bool(request.get("tool_choice", "disable_parallel_tool_use")),
        "images": any(block.get("type") == "image" for _, block in request.talk.all_blocks()),
        "thinking": request.thinking,
        "effort": request.get("output_config", "effort"),
    }


def _tool_prompt(request: Checked) -> int:
    if not request.talk.tools:
        return 0
    standard = OLDER_TOOL_PROMPT if request.generation < (4, 7) else NEWER_TOOL_PROMPT
    return TOOL_PROMPT.get(request.model.id, standard)[request.forces_tools]
