"""unknown-initial-stage, duplicate-id, reserved-stage-id, blank-in-id, similar-id: the names of stages."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import Fix
from builder.validation.names import did_you_mean
from builder.validation.outline import AGENT_PREFIX, ANY_STAGE, Outline
from runtime.playbook import Stage
from runtime.playbook.engine_tools import RETURN_TARGET


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Transitions refer to stages by id, so each id has to be one, and one only."""
    yield from _initial_stage(outline)
    first: dict[str, Stage] = {}
    by_form: dict[str, Stage] = {}
    for stage in outline.playbook.stages:
        path = outline.stage_path(stage, "id")
        yield from _form(stage, path)
        if stage.id in first:
            yield _duplicate(outline, stage, first[stage.id])
            continue
        first[stage.id] = stage
        similar = by_form.setdefault(stage.id.strip().casefold(), stage)
        if similar is not stage:
            message = f"The stages “{similar.id}” and “{stage.id}” differ only in case or blanks."
            other = outline.stage_path(similar, "id")
            yield warning("similar-id", message, path, related=(other,), stage=stage.id)


def _initial_stage(outline: Outline) -> Iterator[Diagnostic]:
    start = outline.playbook.initial_stage
    if start in outline.stages:
        return
    first = outline.playbook.stages[0].id
    fix = Fix(command="setInitialStage", label=f"Start in “{first}”", args={"id": first})
    hint = did_you_mean(start, outline.stages)
    message = f"The playbook starts in “{start}”, but there is no such stage.{hint}"
    yield error("unknown-initial-stage", message, "/initialStage", fix=fix)


def _form(stage: Stage, path: str) -> Iterator[Diagnostic]:
    if stage.id in (ANY_STAGE, RETURN_TARGET) or stage.id.startswith(AGENT_PREFIX):
        message = f"“{stage.id}” has a meaning of its own in transitions; give the stage another id."
        yield error("reserved-stage-id", message, path, stage=stage.id)
    elif stage.id != stage.id.strip():
        message = f"The id “{stage.id}” begins or ends with a blank, which nobody sees."
        fix = Fix(
            command="changeStageId",
            label="Remove the blank",
            args={"id": stage.id, "wanted": stage.id.strip()},
        )
        yield error("blank-in-id", message, path, stage=stage.id, fix=fix)


def _duplicate(outline: Outline, stage: Stage, first: Stage) -> Diagnostic:
    message = f"Two stages have the id “{stage.id}”; transitions can only mean one of them."
    path, other = outline.stage_path(stage, "id"), outline.stage_path(first, "id")
    return error("duplicate-id", message, path, related=(other,), stage=stage.id)
