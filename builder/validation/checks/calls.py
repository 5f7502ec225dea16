"""call-never-returns: a called stage from which neither a return nor an end can be reached."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import Stage, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """An agent is a playbook of its own, and is checked there."""
    calls = [(index, rule) for index, rule in outline.rules if rule.action.mode == "call"]
    if not calls or any(_comes_back(outline, rule) for _, rule in outline.rules_of_any):
        return
    leading = outline.leading_to(stage.id for stage in outline.stages.values() if _returns(outline, stage))
    for index, rule in calls:
        callee = outline.stages.get(rule.action.target_stage or "")
        if callee is not None and callee.kind != "raw" and callee.id not in leading:
            yield _lost(outline, index, rule, callee)


def _returns(outline: Outline, stage: Stage) -> bool:
    """An end, a rule that returns, or a limit without a rule ends the frame; a rule that points nowhere is an
    error of its own, and where it would lead cannot be judged."""
    if stage.kind == "end" or any(
        _comes_back(outline, rule) for _, rule in outline.own_rules.get(stage.id, ())
    ):
        return True
    limited = stage.max_turns is not None or stage.timeout_ms is not None
    return limited and not outline.has_rules(stage)


def _comes_back(outline: Outline, rule: Transition) -> bool:
    if rule.action.mode == "return":
        return True
    return rule.action.mode == "goto" and rule.action.target_stage not in outline.stages


def _lost(outline: Outline, index: int, rule: Transition, callee: Stage) -> Diagnostic:
    message = (
        f"Transition “{rule.id}” calls “{callee.name}”, from where neither a return nor an end can be "
        "reached: the conversation never comes back. Give it a transition that returns."
    )
    path, related = pointer("transitions", index, "action", "targetStage"), (outline.stage_path(callee),)
    return error("call-never-returns", message, path, related=related, transition=rule.id)
