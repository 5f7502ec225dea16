"""automatic-cycle: transitions that fire without a word of the user lead in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import networkx as nx

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import ANY_STAGE, Outline
from builder.validation.pointers import pointer
from builder.validation.references import references
from builder.validation.words import listed
from runtime.playbook import CustomCondition, MaxTurnsCondition, Stage, TimeoutCondition, Transition

MOST_OF_ANY: Final = 30


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Each group of stages that such rules join is told by one shortest circle in it."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for index, rule in outline.rules:
        if not isinstance(rule.condition, TimeoutCondition | MaxTurnsCondition | CustomCondition):
            continue
        target = rule.action.target_stage
        if rule.action.mode != "goto" or target not in outline.stages:
            continue
        for source in _sources(outline, rule):
            if _by_itself(rule, source) and (source.id, target) not in graph.edges:
                graph.add_edge(source.id, target, rule=index)
    circles = [_shortest_circle(outline, graph, group) for group in nx.strongly_connected_components(graph)]
    for circle in sorted((c for c in circles if c), key=lambda c: outline.index_of(outline.stages[c[0]])):
        yield _cycle(outline, graph, circle)


def _sources(outline: Outline, rule: Transition) -> Sequence[Stage]:
    """The stages it fires in. Of very many `*` rules only the first are looked at in each stage."""
    if rule.from_stage != ANY_STAGE:
        stages = [outline.stages[rule.from_stage]] if rule.from_stage in outline.stages else []
    elif any(rule is other for _, other in outline.rules_of_any[:MOST_OF_ANY]):
        stages = [outline.stages[key] for key in outline.sources(rule)]
    else:
        stages = []
    return [stage for stage in stages if stage.kind != "end"]


def _by_itself(rule: Transition, stage: Stage) -> bool:
    """Whether the rule is sure to fire in the stage though nobody says anything."""
    condition, speaks = rule.condition, stage.speak_on_enter or stage.kind == "raw"
    if isinstance(condition, TimeoutCondition):
        return speaks or condition.since == "stage_entered"
    if isinstance(condition, MaxTurnsCondition):
        return speaks and condition.count == 1
    if isinstance(condition, CustomCondition):
        return speaks and condition.when == "after" and _always(condition.expression)
    return False


def _always(expression: str) -> bool:
    """Whether an expression looks at nothing that could change; what is false then never fires at all."""
    return expression.strip() != "false" and not any(path[0] != "stage" for path in references(expression))


def _shortest_circle(outline: Outline, graph: nx.DiGraph[str], group: set[str]) -> list[str]:
    """From the group's first stage back to it; empty where it leads in no circle."""
    first = min(group, key=lambda key: outline.index_of(outline.stages[key]))
    if graph.has_edge(first, first):
        return [first]
    if len(group) == 1:
        return []
    inside = graph.subgraph(group)
    paths = nx.single_source_shortest_path(inside, first)
    before = min(inside.pred[first], key=lambda key: (len(paths[key]), outline.index_of(outline.stages[key])))
    return list(paths[before])


def _cycle(outline: Outline, graph: nx.DiGraph[str], circle: list[str]) -> Diagnostic:
    stages = [outline.stages[key] for key in circle]
    hops = zip(circle, [*circle[1:], circle[0]], strict=True)
    rules = [graph.edges[hop]["rule"] for hop in hops]
    names = listed([stage.name for stage in stages])
    where = (
        f"{names} leads back to itself" if len(stages) == 1 else f"{names} lead from one to the next and back"
    )
    message = f"{where} by transitions that need no word of the user: the conversation can go round for ever."
    related = (*(outline.stage_path(s) for s in stages[1:]), *(pointer("transitions", r) for r in rules))
    path, first = outline.stage_path(stages[0]), stages[0].id
    return warning("automatic-cycle", message, path, related=related, stage=first)
