"""The providers' prompt caching and its billing, as pure code: an ordered list of blocks, marks, a store.

Used by the planner's prediction, by `replay`, by the rehearsal model's usage and by the tests' simulator.
Rules: an entry is written only at a mark; a read looks from each mark backwards over `look_back` positions,
the mark included; an entry lives from the start of the request that wrote or read it; a prefix under the
minimum is silently not cached. Two points that vendors leave open are taken the careful way: a mark before
the hit that had no entry gets none, and a hit refreshes only itself and marked entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import Final, NamedTuple

from runtime.context.models import ModelRecord
from runtime.conversation.segments import Prediction

LIFETIMES: Final = {
    "5m": timedelta(minutes=5),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "12h": timedelta(hours=12),
}
LONG: Final = frozenset({"1h", "12h"})
"""Lifetimes billed as long writes."""


class Block(NamedTuple):
    """One block of a request: what it is, how long it is, how many positions of the look-back it takes."""

    hash: str
    tokens: int
    positions: int = 1


_HASH, _TOKENS = attrgetter("hash"), attrgetter("tokens")


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


Store = Mapping[str, Entry]
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
    keys = prefix_keys(tuple(map(_HASH, blocks)))
    ends = list(accumulate(map(_TOKENS, blocks)))
    total = ends[-1] if ends else 0
    hit = _longest_hit(blocks, marks, keys, store, model, at)
    written = [mark for mark in marks if mark.index > hit and ends[mark.index] >= model.minimum_cacheable]
    after = _refreshed(store, keys, marks, hit, at)
    for mark in written:
        lifetime = LIFETIMES[mark.ttl]
        after[keys[mark.index]] = Entry(first_byte or at, at + lifetime, mark.ttl)
    read = ends[hit] if hit >= 0 else 0
    long_end = max([read, *(ends[mark.index] for mark in written if mark.ttl in LONG)])
    end = max([long_end, *(ends[mark.index] for mark in written)])
    tokens = Prediction(read=read, write1h=long_end - read, write5m=end - long_end, fresh=total - end)
    return Billing(tokens=tokens, store=after, hit=hit)


@lru_cache(maxsize=64)
def prefix_keys(hashes: tuple[str, ...]) -> tuple[str, ...]:
    """For each block the key of the prefix that ends with it."""
    return tuple(accumulate(hashes, _longer, initial=""))[1:]


@lru_cache(maxsize=16_384)
def _longer(prefix: str, item: str) -> str:
    """The key of a prefix with one more block. A window that grew needs the keys of its new blocks only."""
    return hashlib.blake2b(f"{prefix} {item}".encode(), digest_size=16).hexdigest()


def _longest_hit(
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    keys: Sequence[str],
    store: Store,
    model: ModelRecord,
    at: datetime,
) -> int:
    hit = -1
    for mark in marks:
        searched = 0
        for index in range(mark.index, -1, -1):
            if model.look_back and searched >= model.look_back:
                break
            if alive(store.get(keys[index]), at):
                hit = max(hit, index)
                break
            searched += blocks[index].positions
    return hit


def alive(entry: Entry | None, at: datetime) -> bool:
    """Whether an entry can be read at that time."""
    return entry is not None and entry.visible_at <= at < entry.expires


def _refreshed(
    store: Store, keys: Sequence[str], marks: Sequence[Mark], hit: int, at: datetime
) -> dict[str, Entry]:
    after = {key: entry for key, entry in store.items() if at < entry.expires}
    used = {hit, *(mark.index for mark in marks if mark.index <= hit)}
    for index in used:
        entry = after.get(keys[index]) if index >= 0 else None
        if entry is not None and alive(entry, at):
            after[keys[index]] = Entry(entry.visible_at, at + LIFETIMES[entry.ttl], entry.ttl)
    return after
