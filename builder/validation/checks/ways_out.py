"""dead-end, no-way-to-end, …-without-way-out: how a conversation can end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import networkx as nx

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import update_stage
from builder.validation.outline import ANY_STAGE, Outline
from builder.validation.words import counted, listed
from runtime.playbook import MaxTurnsCondition, Stage, TimeoutCondition, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A loop is fine as long as some path leads out of it."""
    for stage in outline.stages.values():
        if stage.kind != "end":
            yield from _dead_end(outline, stage)
            yield from _limits(outline, stage)
    for trap, others in traps(outline):
        yield _trapped(outline, trap, others)


def _dead_end(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    if outline.has_rules(stage):
        return
    fix = update_stage("Let it end the conversation", stage.id, {"kind": "end"})
    message = (
        f"Nothing leads out of “{stage.name}”, and it is not marked as an end: a conversation stays there."
    )
    yield warning("dead-end", message, outline.stage_path(stage), stage=stage.id, fix=fix)


def _limits(outline: Outline, stage: Stage) -> Iterator[Diagnostic]:
    if stage.max_turns is None and stage.timeout_ms is None:
        return
    rules = outline.rules_from(stage)
    if stage.max_turns is not None and not any(isinstance(r.condition, MaxTurnsCondition) for r in rules):
        after = f"After {counted(stage.max_turns, 'turn')} in “{stage.name}”"
        yield _limit(outline, stage, rules, "maxTurns", after)
    if stage.timeout_ms is not None and not any(isinstance(r.condition, TimeoutCondition) for r in rules):
        after = f"After {stage.timeout_ms / 1000:g} s of waiting in “{stage.name}”"
        yield _limit(outline, stage, rules, "timeoutMs", after)


def _limit(outline: Outline, stage: Stage, rules: Sequence[Transition], field: str, after: str) -> Diagnostic:
    code = "max-turns-without-way-out" if field == "maxTurns" else "timeout-without-way-out"
    if not rules:
        message = f"{after} the conversation just ends: no transition leads out."
    else:
        # As the engine chooses: higher priority, a named stage before `*`, document order.
        best = min(rules, key=lambda rule: (-rule.priority, rule.from_stage == ANY_STAGE))
        way = outline.target_name(best)
        to = "to " if best.action.target_stage in outline.stages else ""
        message = f"{after} the transition {to}{way} is taken anyway: none is meant for that case."
    return warning(code, message, outline.stage_path(stage, field), stage=stage.id)


def traps(outline: Outline) -> list[tuple[list[Stage], list[Stage]]]:
    """Groups of stages that lead only to one another, each with the stages that lead only into it or others.

    Of the stages that a conversation comes to by itself; a stage that is called has a check of its own. In
    document order.
    """
    if ANY_STAGE in outline.leading_away:
        return []
    start = outline.playbook.initial_stage
    reached = outline.reached_by_moves(start) if start in outline.stages else set(outline.stages)
    leading = outline.leading_to(
        stage.id for stage in outline.stages.values() if _ends_a_visit(outline, stage)
    )
    trapped = [stage for key, stage in outline.stages.items() if key in reached and key not in leading]
    if not trapped:
        return []
    groups = _closed_groups(outline, trapped)
    inside = {stage.id for group in groups for stage in group}
    others = [stage for stage in trapped if stage.id not in inside]
    return [(group, others if index == 0 else []) for index, group in enumerate(groups)]


def _closed_groups(outline: Outline, trapped: Sequence[Stage]) -> list[list[Stage]]:
    """The strongly connected groups that nothing leads out of."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(stage.id for stage in trapped)
    anywhere = outline.moves.get(ANY_STAGE, [])
    for stage in trapped:
        graph.add_edges_from((stage.id, target) for target in outline.moves.get(stage.id, ()))
        if anywhere:
            graph.add_edge(stage.id, ANY_STAGE)
    graph.add_edges_from((ANY_STAGE, target) for target in anywhere)
    found = nx.condensation(graph)
    closed = [found.nodes[node]["members"] for node in found if found.out_degree(node) == 0]
    groups = [
        sorted((outline.stages[key] for key in members if key in outline.stages), key=outline.index_of)
        for members in closed
    ]
    return sorted((group for group in groups if group), key=lambda group: outline.index_of(group[0]))


def _trapped(outline: Outline, trap: Sequence[Stage], others: Sequence[Stage]) -> Diagnostic:
    names = listed([stage.name for stage in trap])
    if len(trap) == 1:
        message = f"From {names} no path leads to an end: such a conversation never ends by itself."
    else:
        message = f"{names} lead only to one another: a conversation that comes there never ends by itself."
    if others:
        into = "leads only there." if len(others) == 1 else "lead only to such stages."
        message += f" {listed([stage.name for stage in others])} {into}"
    path, related = outline.stage_path(trap[0]), tuple(outline.stage_path(s) for s in (*trap[1:], *others))
    return warning("no-way-to-end", message, path, related=related, stage=trap[0].id)


def _ends_a_visit(outline: Outline, stage: Stage) -> bool:
    """An end, a rule that leads away, or nothing at all: a dead end is reported by itself."""
    return stage.kind == "end" or stage.id in outline.leading_away or not outline.has_rules(stage)
