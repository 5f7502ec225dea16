"""limit-comes-first, rule-from-end: transitions that the stage's own settings keep from firing."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import Fix, remove_transition, update_transition
from builder.validation.given import as_given
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import MaxTurnsCondition, Stage, TimeoutCondition, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Of rules with a stage of their own: a `*` rule has its chance elsewhere."""
    for index, rule in outline.rules:
        stage = outline.stages.get(rule.from_stage)
        if stage is None:
            continue
        if stage.kind == "end":
            yield _from_end(outline, index, rule, stage)
        elif stage.max_turns is not None or stage.timeout_ms is not None:
            yield from _limited(outline, index, rule, stage)


def _limited(outline: Outline, index: int, rule: Transition, stage: Stage) -> Iterator[Diagnostic]:
    match rule.condition:
        case MaxTurnsCondition(count=count) if stage.max_turns is not None and count > stage.max_turns:
            words = f"after {count} turns; “{stage.name}” is left after {stage.max_turns}"
            yield _late(outline, index, rule, stage, ("count", stage.max_turns, "maxTurns", words))
        case TimeoutCondition(duration_ms=ms) if stage.timeout_ms is not None and ms > stage.timeout_ms:
            words = f"after {ms / 1000:g} s; “{stage.name}” is left after {stage.timeout_ms / 1000:g} s"
            yield _late(outline, index, rule, stage, ("durationMs", stage.timeout_ms, "timeoutMs", words))


def _from_end(outline: Outline, index: int, rule: Transition, stage: Stage) -> Diagnostic:
    message = f"Transition “{rule.id}” starts at “{stage.name}”, an end: the conversation is over there."
    path, related = pointer("transitions", index, "from"), (outline.stage_path(stage, "kind"),)
    fix = remove_transition("Remove it", rule.id)
    return warning("rule-from-end", message, path, related=related, transition=rule.id, fix=fix)


def _late(
    outline: Outline, index: int, rule: Transition, stage: Stage, what: tuple[str, int, str, str]
) -> Diagnostic:
    field, limit, setting, words = what
    message = f"Transition “{rule.id}” would fire {words} by its {setting}."
    path = pointer("transitions", index, "condition", field)
    fix = _sooner(rule, field, limit)
    related = (outline.stage_path(stage, setting),)
    return warning("limit-comes-first", message, path, related=related, transition=rule.id, fix=fix)


def _sooner(rule: Transition, field: str, limit: int) -> Fix:
    changed = {"type": rule.condition.type, **as_given(rule.condition), field: limit}
    return update_transition("Let both be the same", rule.id, {"condition": changed})
