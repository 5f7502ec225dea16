"""The best staircase under a survival curve: which at most m block ends to mark, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block end that could be marked."""

    index: int
    tokens: int
    """Tokens of the prefix up to and including this block."""
    survival: float
    """Probability that the next request still shares that prefix."""
    reason: str = ""
    forced: bool = False
    """Must be among the chosen; at most as many as there are slots."""


def best_points(
    candidates: Sequence[Candidate], slots: int, *, premium: float = 0.0, written: int = 0
) -> list[Candidate]:
    """The at most `slots` candidates, in order, with the greatest sum of (x - previous x) · survival, less
    `premium` for each token that the last point writes beyond the `written` ones.

    `premium` is (w - 1) / (w - r): what a write costs more than plain input, in units of what a read saves.
    Forced candidates are always among them, the later ones where there are more than slots. With equal
    sums the fewer points win.
    """
    ordered = _with_few_forced(sorted(candidates, key=lambda candidate: candidate.index), slots)
    if slots <= 0 or not ordered:
        return []
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(-1, 0): (0.0, ())}
    for last in range(len(ordered)):
        for count in range(1, min(slots, last + 1) + 1):
            found = [_step(best, ordered, previous, last, count) for previous in range(-1, last)]
            steps = [step for step in found if step is not None]
            if steps:
                best[(last, count)] = max(steps, key=lambda step: step[0])
    final = [
        (value - premium * max(0, ordered[last].tokens - written if last >= 0 else 0), chosen)
        for (last, _), (value, chosen) in best.items()
        if _may_stop(ordered, last)
    ]
    _, chosen = max(final, key=lambda value: (round(value[0], 9), -len(value[1])))
    return [ordered[index] for index in chosen]


def _with_few_forced(ordered: Sequence[Candidate], slots: int) -> list[Candidate]:
    forced = [candidate.index for candidate in ordered if candidate.forced][-slots:] if slots > 0 else []
    return [c if c.forced == (c.index in forced) else _unforced(c) for c in ordered]


def _unforced(candidate: Candidate) -> Candidate:
    return Candidate(candidate.index, candidate.tokens, candidate.survival, candidate.reason)


def _step(
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]],
    ordered: Sequence[Candidate],
    previous: int,
    last: int,
    count: int,
) -> tuple[float, tuple[int, ...]] | None:
    """The value of choosing `last` right after `previous`; None where that skips a forced candidate."""
    before = best.get((previous, count - 1))
    if before is None or any(candidate.forced for candidate in ordered[previous + 1 : last]):
        return None
    value, chosen = before
    start = ordered[previous].tokens if previous >= 0 else 0
    gain = (ordered[last].tokens - start) * ordered[last].survival
    return value + gain, (*chosen, last)


def _may_stop(ordered: Sequence[Candidate], last: int) -> bool:
    return not any(candidate.forced for candidate in ordered[last + 1 :])
