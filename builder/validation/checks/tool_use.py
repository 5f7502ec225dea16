"""unused-tool, tool-not-offered: tools that no request offers, and prompts that name what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import remove_at
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline, PlacedTool
from runtime.playbook import CallAction, Stage
from runtime.playbook.engine_tools import RESERVED_TOOLS

_IN_CODE_MARKS: Final = re.compile(
    r"(\b(?:call|calls|calling|use|run|invoke)\s+(?:the\s+)?(?:tool\s+|function\s+)?)?`([A-Za-z_][\w-]{1,63})(?:\(\))?`"
)


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Of a tool that is offered the model alone knows whether it is of use."""
    yield from _unused(outline)
    for stage in outline.playbook.stages:
        if "`" in stage.system_prompt and stage.kind != "raw":
            yield from _named(outline, stage)


def _unused(outline: Outline) -> Iterator[Diagnostic]:
    stages = outline.playbook.stages
    silent = {stage.id for stage in stages if stage.kind == "raw" or stage.tool_choice == "none"}
    if not silent:
        return
    called = {
        action.call
        for stage in stages
        for action in (*stage.on_enter, *stage.on_exit)
        if isinstance(action, CallAction)
    }
    nobody_asks = len(silent) == len(outline.stages)
    for placed in outline.tools:
        offered = not nobody_asks if placed.stage is None else placed.stage.id not in silent
        if not offered and placed.tool.name not in called:
            yield _idle(placed)


def _idle(placed: PlacedTool) -> Diagnostic:
    where = "no stage offers tools" if placed.stage is None else f"“{placed.stage.name}” never offers tools"
    message = f"The tool “{placed.tool.name}” is never used: {where}, and no action calls it."
    fix = remove_at("Remove it", placed.path, {"name": placed.tool.name})
    return warning("unused-tool", message, placed.path, stage=placed.stage_id, fix=fix)


def _named(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    """A word in code marks is taken for a tool if it is one elsewhere, or if the prompt says to call it."""
    offered = outline.offered(stage)
    meant_otherwise = outline.variables | outline.stages.keys() | set(RESERVED_TOOLS)
    found: dict[str, None] = {}
    for called, name in _IN_CODE_MARKS.findall(stage.system_prompt):
        is_tool = name in outline.tool_names or (called and name not in meant_otherwise)
        if is_tool and name not in offered:
            found.setdefault(name)
    for name in found:
        message = f"The prompt of “{stage.name}” speaks of the tool “{name}”, which it does not have."
        path = outline.stage_path(stage, "systemPrompt")
        yield warning("tool-not-offered", message + did_you_mean(name, offered), path, stage=stage.id)
