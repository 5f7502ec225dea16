"""The rules about settings, tools and cache marks: A05, A07, A12, A13, A17, A19."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from runtime.context.cache_model import Mark, misplaced
from tests.simulator.answers import Json
from tests.simulator.anthropic.checking import VERSION, Checked, generation
from tests.simulator.anthropic.conversation import THINKING, as_blocks

SAMPLING: Final = {"temperature": 1, "top_p": 1, "top_k": None}
"""The sampling parameters and the values that mean nothing."""
MARKS: Final = 4
_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def sampling(body: Json, model_id: str, version: str) -> str | None:
    """A05: sampling parameters."""
    given = {name: body[name] for name in SAMPLING if name in body}
    if version == VERSION:
        return next((f"{name}: Extra inputs are not permitted" for name in given), None)
    if generation(model_id) >= (4, 7):
        odd = [name for name, value in given.items() if value != SAMPLING[name]]
        return f"{odd[0]} cannot be set for this model" if odd else None
    if given.keys() >= {"temperature", "top_p"}:
        return "`temperature` and `top_p` cannot both be specified for this model"
    return None


def max_tokens(request: Checked) -> str | None:
    """A07: the limit of the output."""
    if request.counting:
        return None
    limit, most = request.get("max_tokens"), request.model.max_output
    if limit is None:
        return "max_tokens: Field required"
    if limit < 0:
        return "max_tokens: Input should be greater than or equal to 0"
    if limit > most:
        return f"max_tokens: {limit} > {most}, the maximum allowed number of output tokens for this model"
    if limit == 0:
        return _prewarm(request)
    return None


def _prewarm(request: Checked) -> str | None:
    """With `max_tokens: 0` the prompt is only cached."""
    unfit = {
        "stream": bool(request.get("stream")),
        "enabled thinking": request.get("thinking", "type") == "enabled",
        "an output format": request.get("output_config", "format") is not None,
        "a forced tool choice": request.forces_tools,
    }
    found = next((name for name, given in unfit.items() if given), None)
    return f"max_tokens: 0 cannot be combined with {found}" if found else None


def tools(request: Checked) -> str | None:
    """A12: names, schemas, and at least one tool that is not deferred."""
    own = [tool for tool in request.talk.tools if tool.get("type") in (None, "custom")]
    for index, tool in enumerate(own):
        if not _TOOL_NAME.fullmatch(tool["name"]):
            return f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        if tool["input_schema"].get("type") != "object":
            return f"tools.{index}.custom.input_schema.type: Input should be 'object'"
    names = [tool.get("name") for tool in request.talk.tools]
    if len(names) != len(set(names)):
        return "tools: Tool names must be unique."
    if names and all(tool.get("defer_loading") for tool in request.talk.tools):
        return "tools: At least one tool must not be deferred."
    return None


def tool_choice(request: Checked) -> str | None:
    """A13: the tool choice fits the tools and the model."""
    choice = request.get("tool_choice")
    if choice is None:
        return None
    if not request.talk.tools:
        return "tool_choice: tool_choice may only be specified while providing tools."
    names = {tool.get("name") for tool in request.talk.tools}
    if choice["type"] == "tool" and choice["name"] not in names:
        return f"tool_choice: Tool '{choice['name']}' not found in provided tools"
    if request.forces_tools and not request.model.forced_tool_choice:
        return 'tool_choice: type "tool" and "any" are not supported for this model.'
    if request.forces_tools and request.thinking == "enabled":
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


def thinking(request: Checked) -> str | None:
    """A17: the thinking mode, its budget and the effort."""
    mode = request.get("thinking", "type")
    if mode is not None and (fault := _mode(request, mode)) is not None:
        return fault
    effort = request.get("output_config", "effort")
    if effort is not None and not request.model.efforts:
        return "output_config.effort: This model does not support the effort parameter."
    if effort is not None and effort not in request.model.efforts:
        return f"output_config.effort: Input should be one of {', '.join(request.model.efforts)}"
    if mode == "disabled" and request.model.id == "claude-opus-5" and effort in ("xhigh", "max"):
        return f"thinking: cannot be disabled with effort {effort}"
    return None


def _mode(request: Checked, mode: str) -> str | None:
    if mode == "disabled" and not request.model.thinking:
        return None
    if mode not in request.model.thinking:
        return _unsupported(request, mode)
    if mode != "enabled":
        return None
    budget, limit = request.get("thinking", "budget_tokens"), request.get("max_tokens")
    if budget < 1024:
        return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    if limit is not None and budget >= limit:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    return None


def _unsupported(request: Checked, mode: str) -> str:
    if mode == "adaptive":
        return "adaptive thinking is not supported on this model"
    hint = ' Use "thinking.type.adaptive" instead.' if "adaptive" in request.model.thinking else ""
    return f'"thinking.type.{mode}" is not supported for this model.{hint}'


def cache_marks(request: Checked) -> str | None:
    """A19: at most four marks, long ones first, on blocks that can carry one."""
    marks = list(marked_blocks(request))
    explicit = len(marks)
    automatic = request.get("cache_control")
    total = explicit + (automatic is not None)
    if total > MARKS:
        return f"A maximum of {MARKS} blocks with cache_control may be provided. Found {total}."
    for block in (block for _, block in marks):
        if block.get("type") in THINKING:
            return "cache_control cannot be set for thinking blocks"
        if block.get("type") == "text" and not block["text"]:
            return "cache_control cannot be set for empty text blocks"
    lives = [Mark(index, ttl_of(block["cache_control"])) for index, (_, block) in enumerate(marks)]
    if automatic is not None:
        last = last_markable(request)
        own = last.get("cache_control") if last else None
        if own is not None and ttl_of(own) != ttl_of(automatic):
            return "cache_control: the last block already has a cache_control with another ttl"
        lives.append(Mark(explicit, ttl_of(automatic)))
    if misplaced(lives):
        return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    return None


def ttl_of(control: Json) -> str:
    """The lifetime of a mark; five minutes if it names none."""
    return str(control.get("ttl") or "5m")


def marked_blocks(request: Checked) -> Iterator[tuple[int, Json]]:
    """Every block with a mark, also inside tool results, with the index of the outer block."""
    for index, (_, block) in enumerate(request.talk.all_blocks()):
        for candidate in (block, *_inner(block)):
            if candidate.get("cache_control") is not None:
                yield index, candidate


def _inner(block: Json) -> list[Any]:
    return as_blocks(block.get("content") or []) if block.get("type") == "tool_result" else []


def last_markable(request: Checked) -> Json | None:
    """The block that the automatic mark sits on."""
    blocks = [block for _, block in request.talk.all_blocks()]
    fitting = (b for b in reversed(blocks) if b.get("type") not in THINKING and b.get("text") != "")
    return next(fitting, None)
