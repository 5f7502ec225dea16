"""What the graph of a playbook is like: ways to an end, gates, traps. For people who review it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import networkx as nx

from builder.validation.checking import check_outline
from builder.validation.checks.ways_out import traps
from builder.validation.diagnostics import Diagnostic
from builder.validation.outline import ANY_STAGE, Outline
from runtime.conversation.base import Value
from runtime.playbook import Playbook

# A node of the graph that is no stage; no id can have a NUL.
_OVER: Final = "\0over"
MOST_GATES: Final = 50
"""Gates that a report lists, those that most depend on first."""


class NamedStage(Value):
    """A stage as a report speaks of it."""

    id: str
    name: str


class Hop(Value):
    """A step of a path: the transition that is taken, and where it leads. The first one has none."""

    stage: NamedStage
    transition: str | None = None
    condition: str | None = None
    """Kind of the transition's condition."""


class Gate(Value):
    """A stage that all conversations pass which come to any of `behind` others."""

    stage: NamedStage
    behind: int
    always: bool
    """Every conversation that comes to an end passes here."""


class GraphReport(Value):
    """The graph in figures and paths. Stages stand in document order unless a path orders them."""

    stages: int
    transitions: int
    """Those that are switched on."""
    switched_off: int
    conditions: dict[str, int]
    """Kind of condition -> how many transitions have it."""
    ends: tuple[NamedStage, ...]
    unreachable: tuple[NamedStage, ...]
    shortest: tuple[Hop, ...]
    """The shortest path from the start to an end, calls left out; empty if there is none."""
    gates: tuple[Gate, ...]
    traps: tuple[tuple[NamedStage, ...], ...]
    """Groups of stages that lead only to one another."""
    loops: int
    """Groups of stages that lead back to one another."""
    diagnostics: tuple[Diagnostic, ...]


def report_of(playbook: Playbook) -> GraphReport:
    """The report; the same one every time."""
    outline = Outline.of(playbook)
    graph = _paths(outline)
    return GraphReport(
        stages=len(playbook.stages),
        transitions=len(outline.rules),
        switched_off=len(playbook.transitions) - len(outline.rules),
        conditions=dict(sorted(Counter(rule.condition.type for _, rule in outline.rules).items())),
        ends=_named(outline, [key for key, stage in outline.stages.items() if stage.kind == "end"]),
        unreachable=_named(outline, [key for key in outline.stages if key not in outline.reachable]),
        shortest=_shortest(outline, graph),
        gates=_gates(outline, graph),
        traps=tuple(_named(outline, [stage.id for stage in group]) for group, _ in traps(outline)),
        loops=sum(_is_loop(graph, group) for group in nx.strongly_connected_components(graph)),
        diagnostics=tuple(check_outline(outline)),
    )


def _paths(outline: Outline) -> nx.DiGraph[str]:
    """What a conversation can do by itself, with one edge between two stages, and the end of it all."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(outline.stages)
    anywhere = outline.moves.get(ANY_STAGE, [])
    for key, stage in outline.stages.items():
        graph.add_edges_from((key, target) for target in outline.moves.get(key, ()))
        if stage.kind == "end":
            graph.add_edge(key, _OVER)
        elif anywhere:
            graph.add_edge(key, ANY_STAGE)
        if any(rule.action.mode == "return" for _, rule in outline.own_rules.get(key, ())):
            graph.add_edge(key, _OVER)
    graph.add_edges_from((ANY_STAGE, target) for target in anywhere)
    return graph


def _is_loop(graph: nx.DiGraph[str], group: set[str]) -> bool:
    real = [key for key in group if key != ANY_STAGE]
    return len(real) > 1 or any(graph.has_edge(key, key) for key in real)


def _shortest(outline: Outline, graph: nx.DiGraph[str]) -> tuple[Hop, ...]:
    start = outline.playbook.initial_stage
    if start not in outline.stages or _OVER not in graph or not nx.has_path(graph, start, _OVER):
        return ()
    path = [key for key in nx.shortest_path(graph, start, _OVER) if key in outline.stages]
    hops = [Hop(stage=_one(outline, start))]
    for before, key in pairwise(path):
        rule = next(
            rule
            for _, rule in (*outline.own_rules.get(before, ()), *outline.rules_of_any)
            if rule.action.target_stage == key and rule.action.mode == "goto"
        )
        hops.append(Hop(stage=_one(outline, key), transition=rule.id, condition=rule.condition.type))
    return tuple(hops)


def _gates(outline: Outline, graph: nx.DiGraph[str]) -> tuple[Gate, ...]:
    """Stages that are the only way to at least one other stage, or to the end."""
    start = outline.playbook.initial_stage
    if start not in outline.stages:
        return ()
    above = {node: parent for node, parent in nx.immediate_dominators(graph, start).items() if parent != node}
    above.pop(start, None)
    behind = _counted(above)
    always = set(_chain(above, _OVER))
    found = [
        Gate(stage=_one(outline, key), behind=behind.get(key, 0), always=key in always)
        for key in outline.stages
        if key != start and (key in always or behind.get(key, 0) > 0)
    ]
    return tuple(sorted(found, key=lambda gate: (not gate.always, -gate.behind))[:MOST_GATES])


def _counted(above: dict[str, str]) -> Counter[str]:
    """How many stages stand below each in the tree of dominators."""
    children: Counter[str] = Counter(above.values())
    leaves = [node for node in above if node not in children]
    behind: Counter[str] = Counter()
    while leaves:
        node = leaves.pop()
        parent = above.get(node)
        if parent is None:
            continue
        behind[parent] += behind[node] + (node not in (_OVER, ANY_STAGE))
        children[parent] -= 1
        if children[parent] == 0:
            leaves.append(parent)
    return behind


def _chain(above: dict[str, str], node: str) -> Iterator[str]:
    while node in above:
        node = above[node]
        yield node


def _one(outline: Outline, key: str) -> NamedStage:
    return NamedStage(id=key, name=outline.stages[key].name)


def _named(outline: Outline, keys: Sequence[str]) -> tuple[NamedStage, ...]:
    return tuple(_one(outline, key) for key in keys)
