"""unknown-tool, missing-tool: a condition, action or tool choice names a tool that is not offered there."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import CallAction, NamedToolChoice, Stage, ToolCallCondition, Transition
from runtime.playbook.engine_tools import RESERVED_TOOLS


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Warnings: such a rule never fires, such an action fails."""
    for index, rule in enumerate(outline.playbook.transitions):
        if isinstance(rule.condition, ToolCallCondition):
            yield from _condition(outline, index, rule, rule.condition.tool_name)
    for stage in outline.playbook.stages:
        yield from _stage(outline, stage)


def _condition(outline: Outline, index: int, rule: Transition, tool: str) -> Iterator[Diagnostic]:
    path = pointer("transitions", index, "condition", "toolName")
    if not tool:
        message = f"Transition “{rule.id}” waits for a tool, and says not which: choose one."
        yield error("missing-tool", message, path, transition=rule.id)
        return
    if tool in RESERVED_TOOLS:
        message = f"Transition “{rule.id}” waits for “{tool}”, a tool of the engine itself: it never fires."
        yield warning("unknown-tool", message, path, transition=rule.id)
        return
    # A rule that starts nowhere is an error of its own: its tool may then be any.
    sources = outline.sources(rule) or tuple(outline.stages)
    offered = {name for source in sources for name in outline.offered(outline.stages[source])}
    if tool not in offered:
        hint = did_you_mean(tool, offered)
        message = f"Transition “{rule.id}” waits for the tool “{tool}”, which is not offered there.{hint}"
        yield warning("unknown-tool", message, path, transition=rule.id)


def _stage(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    offered = outline.offered(stage)
    for field, actions in (("onEnter", stage.on_enter), ("onExit", stage.on_exit)):
        for index, action in enumerate(actions):
            if isinstance(action, CallAction) and action.call not in (
                *offered,
                "SaveArtifact",
                "LoadArtifact",
            ):
                message = f"{field} calls the tool “{action.call}”, which “{stage.name}” does not have."
                path = outline.stage_path(stage, field, index, "call")
                yield warning(
                    "unknown-tool", message + did_you_mean(action.call, offered), path, stage=stage.id
                )
    choice = stage.tool_choice
    if isinstance(choice, NamedToolChoice) and choice.name not in offered:
        message = f"“{stage.name}” must first call “{choice.name}”, which it does not have."
        path = outline.stage_path(stage, "toolChoice", "name")
        yield warning("unknown-tool", message + did_you_mean(choice.name, offered), path, stage=stage.id)
