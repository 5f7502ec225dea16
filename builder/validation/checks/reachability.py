"""unreachable-stage: no path leads there from the initial stage."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from builder.validation.diagnostics import Diagnostic, Fix, warning
from builder.validation.outline import Outline
from runtime.playbook import Stage


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Rules that are switched off lead nowhere."""
    for stage in outline.stages.values():
        if stage.id not in outline.reachable:
            yield _unreachable(outline, stage)


def _unreachable(outline: Outline, stage: Stage) -> Diagnostic:
    nearest = _nearest_reachable(outline, stage)
    label = f"Connect it from “{nearest.name}”"
    fix = Fix(command="connect", label=label, args={"from": nearest.id, "target": stage.id})
    message = (
        f"“{stage.name}” is never reached: no transition leads there. "
        f"The nearest stage that is reached is “{nearest.name}”."
    )
    related = (outline.stage_path(nearest),)
    return warning(
        "unreachable-stage", message, outline.stage_path(stage), related=related, stage=stage.id, fix=fix
    )


def _nearest_reachable(outline: Outline, stage: Stage) -> Stage:
    """By transitions, whichever way they point; else the nearest in the list of stages."""
    distances = nx.single_source_shortest_path_length(outline.graph.to_undirected(as_view=True), stage.id)
    here = outline.index_of(stage)

    def distance(other: str) -> tuple[float, int]:
        candidate = outline.stages[other]
        return distances.get(other, float("inf")), abs(outline.index_of(candidate) - here)

    return outline.stages[min(sorted(outline.reachable, key=list(outline.stages).index), key=distance)]
