"""The order of a merged list: the one that somebody gave it, and what the other added."""

from __future__ import annotations

from collections.abc import Sequence


def merged_order(
    base: Sequence[str] | None, mine: list[str], theirs: list[str], prefer: Sequence[str] | None = None
) -> list[str] | None:
    """All names of both lists, in one order. None if both were put in another order, each in its own.

    `base`: the order before; None if it is not known. `prefer`: the order to take where they conflict.
    """
    both = set(mine) & set(theirs)
    ours, others = ([name for name in side if name in both] for side in (mine, theirs))
    if ours == others:
        return _woven(mine, theirs)
    before = None if base is None else [name for name in base if name in both]
    if prefer is not None:
        return _woven(mine, theirs) if list(prefer) == mine else _woven(theirs, mine)
    if before is None:
        return None
    known = set(before)
    if [name for name in ours if name in known] == before:
        return _woven(theirs, mine)
    if [name for name in others if name in known] == before:
        return _woven(mine, theirs)
    return None


def _woven(order: list[str], other: list[str]) -> list[str]:
    """`order`, with the names that only `other` has behind the one that stands before them there."""
    placed = set(order)
    behind: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for name in other:
        if name in placed:
            anchor = name
        else:
            behind.setdefault(anchor, []).append(name)
    woven = list(behind.get(None, []))
    for name in order:
        woven += [name, *behind.get(name, [])]
    return woven
