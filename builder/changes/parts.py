"""The lists of a document whose entries have names of their own, so that they can be matched."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = dict[str, Any]

KEYS: Final[Mapping[str, str]] = {
    "stages": "id",
    "transitions": "id",
    "globalTools": "name",
    "tools": "name",
    "variables": "name",
    "agents": "name",
}
"""List -> the field that names its entries."""
WHAT: Final[Mapping[str, str]] = {
    "stages": "stage",
    "transitions": "transition",
    "globalTools": "tool",
    "tools": "tool",
    "variables": "variable",
    "agents": "agent",
}


def by_key(entries: Any, field: str) -> dict[str, Json] | None:
    """The entries by their names; None where they cannot be told apart by them."""
    if not isinstance(entries, list):
        return None
    found = {
        entry[field]: entry
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get(field), str)
    }
    return found if len(found) == len(entries) else None


def studio_of(document: Json) -> Json:
    """The editor's own part of the metadata; empty where there is none."""
    metadata = document.get("metadata")
    studio = metadata.get("studio") if isinstance(metadata, dict) else None
    return studio if isinstance(studio, dict) else {}


def moved(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The fewest names whose moves explain the other order of those that are in both; in the new order."""
    both = set(before) & set(after)
    place = {name: index for index, name in enumerate(name for name in before if name in both)}
    now = [name for name in after if name in both]
    stayed = _longest_rising([place[name] for name in now])
    return [name for name in now if place[name] not in stayed]


def _longest_rising(numbers: Sequence[int]) -> set[int]:
    """The numbers of a longest rising subsequence; all are different. Takes n log n steps."""
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for number in numbers:
        at = bisect_left(ends, number)
        before[number] = ends[at - 1] if at else None
        ends[at : at + 1] = [number]
    chosen: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        chosen.add(last)
        last = before[last]
    return chosen
