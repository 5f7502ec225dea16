"""dead-end, no-way-to-end, max-turns-without-way-out: how a conversation can end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import networkx as nx

from builder.validation.diagnostics import Diagnostic, Fix, warning
from builder.validation.outline import Outline
from runtime.playbook import MaxTurnsCondition, Stage, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A loop is fine as long as some path leads out of it."""
    for stage in outline.stages.values():
        yield from _dead_end(outline, stage)
        yield from _limit(outline, stage)
    yield from _no_way_to_end(outline)


def _dead_end(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    if stage.kind == "end" or outline.rules_from(stage):
        return
    fix = Fix(
        command="updateStage",
        label="Let it end the conversation",
        args={"id": stage.id, "changes": {"kind": "end"}},
    )
    message = (
        f"Nothing leads out of “{stage.name}”, and it is not marked as an end: a conversation stays there."
    )
    yield warning("dead-end", message, outline.stage_path(stage), stage=stage.id, fix=fix)


def _limit(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    if stage.max_turns is None or stage.kind == "end":
        return
    rules = outline.rules_from(stage)
    if any(isinstance(rule.condition, MaxTurnsCondition) for rule in rules):
        return
    path = outline.stage_path(stage, "maxTurns")
    count = "1 turn" if stage.max_turns == 1 else f"{stage.max_turns} turns"
    turns = f"After {count} in “{stage.name}”"
    if not rules:
        message = f"{turns} the conversation just ends: no transition leads out."
    else:
        best = max(rules, key=lambda rule: rule.priority)
        way = _target_name(outline, best)
        message = f"{turns} the transition {way} is taken anyway: none is meant for that case."
    yield warning("max-turns-without-way-out", message, path, stage=stage.id)


def _target_name(outline: Outline, rule: Transition) -> str:
    target = outline.stages.get(rule.action.target_stage or "")
    return f"to “{target.name}”" if target is not None else f"“{rule.id}”"


def _no_way_to_end(outline: Outline) -> Iterator[Diagnostic]:
    """Dead ends are reported by themselves; a stage that returns ends its visit."""
    ends = [stage.id for stage in outline.stages.values() if _ends_a_visit(outline, stage)]
    leading = _leading_to(outline, ends)
    trapped = [
        stage for key, stage in outline.stages.items() if key in outline.reachable and key not in leading
    ]
    if not trapped:
        return
    names = ", ".join(f"“{stage.name}”" for stage in trapped[:3]) + (", …" if len(trapped) > 3 else "")
    related = tuple(outline.stage_path(stage) for stage in trapped[1:])
    message = f"From {names} no path leads to an end: such a conversation never ends by itself."
    yield warning(
        "no-way-to-end", message, outline.stage_path(trapped[0]), related=related, stage=trapped[0].id
    )


def _leading_to(outline: Outline, ends: Iterable[str]) -> set[str]:
    """The ends, and every stage that some path leads from to one of them; each is looked at once."""
    backwards = outline.graph.reverse(copy=False)
    return {node for layer in nx.bfs_layers(backwards, list(ends)) for node in layer}


def _ends_a_visit(outline: Outline, stage: Stage) -> bool:
    rules = outline.rules_from(stage)
    # A rule that points nowhere is an error of its own; where it would lead cannot be judged.
    leads_away = any(
        rule.action.mode == "return" or rule.action.target_stage not in outline.stages for rule in rules
    )
    return stage.kind == "end" or not rules or leads_away
