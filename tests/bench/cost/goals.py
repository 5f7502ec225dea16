"""What the figures were to reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.cost.rows import APPEND_ONLY, OURS, SWAPPED, Rows

Table = Mapping[str, Mapping[float, Rows]]
SLACK: Final = 1.05
FORGETS: Final = frozenset({"LLMRTC", "Playbooks AI", "ours, swap layout"})
"""Rows whose windows drop what was said: cheaper for what they forget, not for how they send it."""
BOUNDS: Final = "bound"


@dataclass(frozen=True, slots=True)
class Goal:
    """One of them, and what was measured."""

    words: str
    value: float
    reached: bool


def goals(table: Table) -> list[Goal]:
    """All that can be judged from these figures."""
    found: list[Goal] = []
    for key, by_price in table.items():
        for read, rows in by_price.items():
            found += _of(key, read, rows)
    return found


def _of(key: str, read: float, rows: Rows) -> Iterator[Goal]:
    at = f"({key}) at r = {read}:"
    cost, raw = rows[OURS].cost, rows[OURS].raw
    if key == "a":
        yield _least(f"{at} bound / paid, pauses known beforehand", rows["bound"].cost / cost, 0.97)
        one = rows["bound, 5 minutes only"].cost / rows["ours, all for 5 minutes"].cost
        yield _least(f"{at} the same where all lives 5 minutes", one, 0.97)
        appended = cost / rows[APPEND_ONLY].cost
        yield _most(f"{at} paid / append only with automatic caching", appended, 0.65)
    if key == "b":
        yield _most(f"{at} paid / uncached", cost / raw, 0.20)
    if key == "e":
        yield _most(f"{at} paid / swap (LLMRTC's, its last 50 messages)", cost / rows["LLMRTC"].cost, 0.35)
        yield _most(f"{at} paid / swap of the same conversation", cost / rows[SWAPPED].cost, 0.35)
    yield _least(f"{at} reads predicted to the token", rows[OURS].exact / rows[OURS].calls, 0.98)
    yield _most(f"{at} requests over the budget or refused", rows[OURS].over + rows[OURS].faults, 0)
    name, best = _cheapest(rows)
    yield _most(f"{at} paid / the cheapest other row, «{name}»", cost / best, SLACK)


def _cheapest(rows: Rows) -> tuple[str, float]:
    """Of the rows that send what we send."""
    others = {n: row.cost for n, row in rows.items() if n != OURS and not n.startswith(BOUNDS)}
    name = min((name for name in others if name not in FORGETS), key=lambda name: others[name])
    return name, others[name]


def _least(words: str, value: float, least: float) -> Goal:
    return Goal(f"{words} (at least {least})", value, value >= least)


def _most(words: str, value: float, most: float) -> Goal:
    return Goal(f"{words} (at most {most})", value, value <= most)


def missed(found: Sequence[Goal]) -> list[str]:
    """Those that were not reached."""
    return [goal.words for goal in found if not goal.reached]
