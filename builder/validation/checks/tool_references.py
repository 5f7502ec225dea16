"""unknown-tool, missing-tool: a condition, action or tool choice names a tool that is not offered there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import Fix, replace_at
from builder.validation.names import close_match, did_you_mean
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
    # A rule that may start anywhere, or starts nowhere, which is an error of its own: any tool may be meant.
    source = outline.stages.get(rule.from_stage)
    offered = outline.tool_names if source is None else outline.offered(source)
    if tool not in offered:
        hint, fix = did_you_mean(tool, offered), _instead(path, tool, offered)
        message = f"Transition “{rule.id}” waits for the tool “{tool}”, which is not offered there.{hint}"
        yield warning("unknown-tool", message, path, transition=rule.id, fix=fix)


def _stage(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    """An action may call a tool of another stage; a tool choice is among the stage's own."""
    for field, actions in (("onEnter", stage.on_enter), ("onExit", stage.on_exit)):
        for index, action in enumerate(actions):
            if isinstance(action, CallAction) and action.call not in (
                *RESERVED_TOOLS[1:],
                *outline.tool_names,
            ):
                message = f"{field} calls the tool “{action.call}”, which this playbook does not have."
                path = outline.stage_path(stage, field, index, "call")
                yield _unknown(stage, message, path, action.call, outline.tool_names)
    choice = stage.tool_choice
    if isinstance(choice, NamedToolChoice) and choice.name not in outline.offered(stage):
        message = f"“{stage.name}” must first call “{choice.name}”, which it does not have."
        path = outline.stage_path(stage, "toolChoice", "name")
        yield _unknown(stage, message, path, choice.name, outline.offered(stage))


def _unknown(stage: Stage, message: str, path: str, name: str, known: Iterable[str]) -> Diagnostic:
    message += did_you_mean(name, known)
    return warning("unknown-tool", message, path, stage=stage.id, fix=_instead(path, name, known))


def _instead(path: str, name: str, known: Iterable[str]) -> Fix | None:
    meant = close_match(name, known)
    return replace_at(f"Make it “{meant}”", path, name, meant) if meant is not None else None
