"""call-never-returns: a called stage from which neither a return nor an end can be reached."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.outline import ANY_STAGE, Outline
from builder.validation.pointers import pointer
from runtime.playbook import Stage, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """An agent is a playbook of its own, and is checked there."""
    calls = [(index, rule) for index, rule in outline.rules if rule.action.mode == "call"]
    if not calls or ANY_STAGE in outline.leading_away:
        return
    leading = outline.leading_to(stage.id for stage in outline.stages.values() if _returns(outline, stage))
    for index, rule in calls:
        callee = outline.stages.get(rule.action.target_stage or "")
        if callee is not None and callee.kind != "raw" and callee.id not in leading:
            yield _lost(outline, index, rule, callee)


def _returns(outline: Outline, stage: Stage) -> bool:
    """An end, a rule that leads away, or a limit without a rule ends the frame."""
    limited = stage.max_turns is not None or stage.timeout_ms is not None
    ends = stage.kind == "end" or stage.id in outline.leading_away
    return ends or (limited and not outline.has_rules(stage))


def _lost(outline: Outline, index: int, rule: Transition, callee: Stage) -> Diagnostic:
    message = (
        f"Transition “{rule.id}” calls “{callee.name}”, from where neither a return nor an end can be "
        "reached: the conversation never comes back. Give it a transition that returns."
    )
    path, related = pointer("transitions", index, "action", "targetStage"), (outline.stage_path(callee),)
    return error("call-never-returns", message, path, related=related, transition=rule.id)
