"""Which of the removed and the added entries of a list are one entry with another id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from builder.changes.parts import Json

_ALIKE: Final = 0.5
"""Share of the fields that are set which must be the same."""
_MOST: Final = 200
"""Entries beyond which only equal ones are paired: likeness is measured of each with each."""


def renamed(
    removed: Mapping[str, Json], added: Mapping[str, Json], key: str, telling: tuple[str, ...]
) -> dict[str, str]:
    """Old id -> new id, in document order. They are paired if nothing but the id differs, or if one of the
    `telling` fields and half of all fields are the same."""
    pairs = _equal(removed, added, key)
    old = {name: entry for name, entry in removed.items() if name not in pairs}
    new = {name: entry for name, entry in added.items() if name not in pairs.values()}
    if len(old) * len(new) > _MOST * _MOST:
        return pairs
    likeness = sorted(
        (-_likeness(before, after, key), index, number, name, other)
        for index, (name, before) in enumerate(old.items())
        for number, (other, after) in enumerate(new.items())
        if _tells(before, after, telling)
    )
    for negative, _, _, name, other in likeness:
        if -negative >= _ALIKE and name not in pairs and other not in pairs.values():
            pairs[name] = other
    return pairs


def _equal(removed: Mapping[str, Json], added: Mapping[str, Json], key: str) -> dict[str, str]:
    known: dict[str, list[str]] = {}
    for name, entry in added.items():
        known.setdefault(_rest(entry, key), []).append(name)
    pairs = {}
    for name, entry in removed.items():
        same = known.get(_rest(entry, key))
        if same:
            pairs[name] = same.pop(0)
    return pairs


def _rest(entry: Json, key: str) -> str:
    return repr(sorted((field, repr(value)) for field, value in entry.items() if field != key))


def _tells(before: Json, after: Json, telling: Iterable[str]) -> bool:
    return any(before.get(field) and before.get(field) == after.get(field) for field in telling)


def _likeness(before: Json, after: Json, key: str) -> float:
    fields = {
        field for field in (*before, *after) if field != key and (_set(before, field) or _set(after, field))
    }
    same = sum(before.get(field) == after.get(field) for field in fields)
    return same / len(fields) if fields else 0.0


def _set(entry: Json, field: str) -> Any:
    return entry.get(field) not in (None, (), [], {}, "")
