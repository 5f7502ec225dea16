"""The providers' prompt caching and its billing, as pure code: an ordered list of blocks, marks, a store.

Used by the planner's prediction, by `replay`, by the rehearsal model's usage and by the tests' simulator.
Rules: an entry is written only at a mark; a read looks from each mark backwards over `look_back` positions,
the mark included; an entry lives from the start of the request that wrote or read it; a prefix under the
minimum is silently not cached. Two points that vendors leave open are taken the careful way: a mark before
the hit that had no entry gets none, and a hit refreshes only itself and marked entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from runtime.context.models import ModelRecord
from runtime.context.prefixes import Block, Prefixes, lay_out
from runtime.conversation.segments import Prediction

LIFETIMES: Final = {
    "5m": timedelta(minutes=5),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "12h": timedelta(hours=12),
}
LONG: Final = frozenset({"1h", "12h"})
"""Lifetimes billed as long writes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache mark at the end of the block with that index."""

    index: int
    ttl: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached prefix. It can be read from `visible_at` on and until `expires`."""

    visible_at: datetime
    expires: datetime
    ttl: str
    index: int
    """Of the last block of the prefix."""


Store = Mapping[int, Entry]
"""Prefix key -> entry, of one model and account."""


@dataclass(frozen=True, slots=True)
class Billing:
    """What one request costs in tokens, the store after it, and where the hit was."""

    tokens: Prediction
    store: Store
    hit: int
    """Index of the last block read from the cache; -1 for none."""


def send(
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    store: Store,
    model: ModelRecord,
    at: datetime,
    first_byte: datetime | None = None,
) -> Billing:
    """One request at `at`: what is read, written and fresh, and the store afterwards.

    `first_byte`: when the response began; only from then on others can read what this request writes.
    """
    after = {key: entry for key, entry in store.items() if at < entry.expires}
    tokens, hit = bill(lay_out(blocks), marks, after, model, at, first_byte)
    return Billing(tokens=tokens, store=after, hit=hit)


def bill(
    laid: Prefixes,
    marks: Sequence[Mark],
    store: dict[int, Entry],
    model: ModelRecord,
    at: datetime,
    first_byte: datetime | None = None,
) -> tuple[Prediction, int]:
    """As `send`, with the store changed in place: the tokens, and the index of the last block read or -1."""
    hit = _longest_hit(laid, marks, store, model, at)
    written = [
        mark for mark in marks if mark.index > hit and laid.ends[mark.index] >= model.minimum_cacheable
    ]
    _refresh(store, laid, marks, hit, at)
    for mark in written:
        store[laid.keys[mark.index]] = Entry(first_byte or at, at + LIFETIMES[mark.ttl], mark.ttl, mark.index)
    read = laid.ends[hit] if hit >= 0 else 0
    long_end = max([read, *(laid.ends[mark.index] for mark in written if mark.ttl in LONG)])
    end = max([long_end, *(laid.ends[mark.index] for mark in written)])
    parts = {"read": read, "write1h": long_end - read, "write5m": end - long_end, "fresh": laid.total - end}
    return Prediction(**parts), hit


def _longest_hit(
    laid: Prefixes, marks: Sequence[Mark], store: Store, model: ModelRecord, at: datetime
) -> int:
    if not model.look_back:
        ends = living(laid, store, at)
        return max((i for mark in marks for i in ends if i <= mark.index), default=-1)
    return max((_hit_of(laid, mark, store, model.look_back, at) for mark in marks), default=-1)


def _hit_of(laid: Prefixes, mark: Mark, store: Store, look_back: int, at: datetime) -> int:
    last = laid.positions[mark.index]
    for index in range(mark.index, -1, -1):
        if last - laid.positions[index] >= look_back:
            break
        if alive(store.get(laid.keys[index]), at):
            return index
    return -1


def living(laid: Prefixes, store: Store, at: datetime) -> list[int]:
    """Indexes of the blocks whose prefix is in the cache, in order."""
    return sorted(
        entry.index
        for key, entry in store.items()
        if entry.index < laid.length and laid.keys[entry.index] == key and alive(entry, at)
    )


def alive(entry: Entry | None, at: datetime) -> bool:
    """Whether an entry can be read at that time."""
    return entry is not None and entry.visible_at <= at < entry.expires


def _refresh(store: dict[int, Entry], laid: Prefixes, marks: Sequence[Mark], hit: int, at: datetime) -> None:
    used = {hit, *(mark.index for mark in marks if mark.index <= hit)}
    for index in used:
        entry = store.get(laid.keys[index]) if index >= 0 else None
        if entry is not None and alive(entry, at):
            store[laid.keys[index]] = replace(entry, expires=at + LIFETIMES[entry.ttl])
