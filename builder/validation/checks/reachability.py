"""unreachable-stage: no path leads there from the initial stage."""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import connect
from builder.validation.outline import Outline
from runtime.playbook import Stage


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Rules that are switched off lead nowhere."""
    lost = [stage for stage in outline.stages.values() if stage.id not in outline.reachable]
    if not lost:
        return
    reached = _good_sources(outline)
    near = _neighbours(outline, reached)
    places = [outline.index_of(outline.stages[key]) for key in reached]
    for stage in lost:
        nearest = near.get(stage.id) or reached[_beside(places, outline.index_of(stage))]
        yield _unreachable(outline, stage, outline.stages[nearest])


def _unreachable(outline: Outline, stage: Stage, nearest: Stage) -> Diagnostic:
    label = f"Connect it from “{nearest.name}”"
    fix = connect(label, nearest.id, stage.id)
    message = (
        f"“{stage.name}” is never reached: no path from the start leads there. "
        f"The nearest stage that is reached is “{nearest.name}”."
    )
    path, related = outline.stage_path(stage), (outline.stage_path(nearest),)
    return warning("unreachable-stage", message, path, related=related, stage=stage.id, fix=fix)


def _neighbours(outline: Outline, reached: Sequence[str]) -> dict[str, str]:
    """For stages that hang together with reached ones: the nearest, whichever way the rules point."""
    graph = outline.graph
    nearest, distance = {key: key for key in reached}, dict.fromkeys(reached, 0)
    waiting = deque(reached)
    while waiting:
        node = waiting.popleft()
        for other, edges in chain(graph.succ[node].items(), graph.pred[node].items()):
            weight = next(iter(edges.values()))["weight"]  # of parallel edges all have the same
            if other not in distance or distance[node] + weight < distance[other]:
                nearest[other], distance[other] = nearest[node], distance[node] + weight
                (waiting.append if weight else waiting.appendleft)(other)
    return nearest


def _beside(places: Sequence[int], here: int) -> int:
    """For stages that hang together with nothing: which of the reached ones is nearest in the list."""
    behind = bisect(places, here)
    around = [index for index in (behind - 1, behind) if 0 <= index < len(places)]
    return min(around, key=lambda index: abs(places[index] - here))


def _good_sources(outline: Outline) -> list[str]:
    """Reached stages that a rule can start from: an end completes the session, unless there is nothing
    else."""
    reached = [key for key in outline.stages if key in outline.reachable]
    return [key for key in reached if outline.stages[key].kind != "end"] or reached
