"""The providers' prompt caching and its billing, as pure code: an ordered list of blocks, marks, a store.

Used by the planner's prediction, by `replay`, by the rehearsal model's usage and by the tests' simulator.
Rules that hold for all: an entry lives from the start of the request that wrote or read it, and can be read
by others once the answer to that request begins; a prefix under the minimum is silently not cached. Where
models differ is the `caching` of their record:

- `marks` (Anthropic): an entry is written only at a mark; a read looks from each mark backwards over
  `look_back` positions, the mark included. Long lifetimes come before short ones.
- `breakpoints` (OpenAI since GPT-5.6): written at the last four marks, or, in implicit mode, at the end of
  the request and the last three; read at any of the last 80 marks and, in implicit mode, at the ends of the
  last 20 messages and of the first developer message. No look-back.
- `automatic` (OpenAI's older models, compatible servers): whatever an earlier request began with, in steps
  of `cache_step` tokens; nothing is billed for writing.

Two points that vendors leave open are taken the careful way: a mark before the hit that had no entry gets
none, and a hit refreshes only itself and marked entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from runtime.context.models import ModelRecord
from runtime.conversation.segments import Prediction

LIFETIMES: Final = {
    "5m": timedelta(minutes=5),
    "10m": timedelta(minutes=10),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "12h": timedelta(hours=12),
    "24h": timedelta(hours=24),
}
LONG: Final = frozenset({"1h", "12h"})
"""Lifetimes billed as long writes."""
AUTOMATIC_LIFETIME: Final = "10m"
"""How long an automatic cache keeps what nobody asked it to keep."""
BREAKPOINTS_READ: Final = 80
MESSAGES_READ: Final = 20
NOT_YET: Final = datetime.max.replace(tzinfo=UTC)
"""`first_byte` of a request whose answer has not begun: what it writes can be read after `begin` only."""


class Block(NamedTuple):
    """One block of a request: what it is, how long it is, how many positions of the look-back it takes, and
    whether it is the end of a `message`, of a `developer` message, or of none (``)."""

    hash: str
    tokens: int
    positions: int = 1
    end: str = "message"


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
"""Prefix key -> entry, of one scope."""


class Scope(NamedTuple):
    """What one store is for: caches are never shared across accounts or workspaces, models, or cache keys."""

    workspace: str
    model: str
    cache_key: str = ""


@dataclass(frozen=True, slots=True)
class Billing:
    """What one request costs in tokens, the store after it, and where the hit was."""

    tokens: Prediction
    store: Store
    hit: int
    """Index of the last block read from the cache; -1 for none."""
    written: Store = field(default_factory=dict)
    """The entries that this request adds."""


def send(
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    store: Store,
    model: ModelRecord,
    at: datetime,
    first_byte: datetime | None = None,
    *,
    implicit: bool = True,
) -> Billing:
    """One request at `at`: what is read, written and fresh, and the store afterwards.

    `first_byte`: when the response began; only from then on others can read what this request writes.
    `implicit`: for `breakpoints` models, the provider adds a mark of its own at the end (its default mode).
    """
    keys = prefix_keys(tuple(map(_HASH, blocks)))
    ends = list(accumulate(map(_TOKENS, blocks)))
    if model.caching == "automatic":
        return _automatic(keys, ends, store, model, at, first_byte)
    if model.caching == "breakpoints":
        hit = _longest(_breakpoints(blocks, marks, implicit=implicit), keys, store, at)
        marks = _placed(blocks, marks, model, implicit=implicit)
    else:
        hit = _longest_hit(blocks, marks, keys, store, model, at)
    wanted = [mark for mark in marks if mark.index > hit and ends[mark.index] >= model.minimum_cacheable]
    written = {
        keys[mark.index]: Entry(first_byte or at, at + LIFETIMES[mark.ttl], mark.ttl) for mark in wanted
    }
    after = {**_refreshed(store, keys, marks, hit, at), **written}
    return Billing(tokens=_billed(ends, hit, wanted), store=after, hit=hit, written=written)


def begin(store: Store, billing: Billing, at: datetime) -> Store:
    """The store once the answer to that request begins: what it wrote can be read from `at` on.

    For a request that was sent with `first_byte=NOT_YET`; other requests may have changed the store since.
    """
    begun = {
        key: replace(entry, visible_at=min(at, store.get(key, entry).visible_at))
        for key, entry in billing.written.items()
    }
    return {**store, **begun}


def misplaced(marks: Sequence[Mark]) -> Mark | None:
    """The first mark with a longer lifetime than one before it, which is refused; None if all is well."""
    for earlier, later in pairwise(sorted(marks, key=attrgetter("index"))):
        if LIFETIMES[later.ttl] > LIFETIMES[earlier.ttl]:
            return later
    return None


def _billed(ends: Sequence[int], hit: int, written: Sequence[Mark]) -> Prediction:
    """Read up to the hit, then written long up to the last long mark, then short up to the last mark."""
    read = ends[hit] if hit >= 0 else 0
    long_end = max([read, *(ends[mark.index] for mark in written if mark.ttl in LONG)])
    end = max([long_end, *(ends[mark.index] for mark in written)])
    total = ends[-1] if ends else 0
    return Prediction(read=read, write1h=long_end - read, write5m=end - long_end, fresh=total - end)


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


def _placed(
    blocks: Sequence[Block], marks: Sequence[Mark], model: ModelRecord, *, implicit: bool
) -> list[Mark]:
    """The marks that a `breakpoints` request really sets: the latest of its own, and the provider's one."""
    ordered = sorted(marks, key=attrgetter("index"))
    if not implicit or not blocks:
        return ordered[-model.points :]
    end = len(blocks) - 1
    own = [mark for mark in ordered if mark.index < end]
    last = next((mark for mark in ordered if mark.index == end), Mark(end, model.ttls[0]))
    return [*own[1 - model.points :], last]


def _breakpoints(blocks: Sequence[Block], marks: Sequence[Mark], *, implicit: bool) -> set[int]:
    """Indexes at which a `breakpoints` request looks for an entry."""
    places = set(sorted(mark.index for mark in marks)[-BREAKPOINTS_READ:])
    if implicit:
        ends = [index for index, block in enumerate(blocks) if block.end]
        first = next((index for index in ends if blocks[index].end == "developer"), None)
        places.update(ends[-MESSAGES_READ - 1 :], [first] if first is not None else [])
    return places


def _longest(places: set[int], keys: Sequence[str], store: Store, at: datetime) -> int:
    return max((index for index in places if alive(store.get(keys[index]), at)), default=-1)


def _automatic(
    keys: Sequence[str],
    ends: Sequence[int],
    store: Store,
    model: ModelRecord,
    at: datetime,
    first_byte: datetime | None,
) -> Billing:
    """What an earlier request began with as well is read, in whole steps; all of this one is kept."""
    hit = _longest(set(range(len(keys))), keys, store, at)
    reach = ends[hit] if hit >= 0 else 0
    read = reach // model.cache_step * model.cache_step if reach >= model.minimum_cacheable else 0
    life = at + LIFETIMES[AUTOMATIC_LIFETIME]
    known = {key: entry for key, entry in store.items() if at < entry.expires}
    for key in keys[: hit + 1]:
        if key in known:
            known[key] = replace(known[key], expires=life)
    written = {key: Entry(first_byte or at, life, AUTOMATIC_LIFETIME) for key in keys[hit + 1 :]}
    tokens = Prediction(read=read, fresh=(ends[-1] if ends else 0) - read)
    return Billing(tokens, {**known, **written}, hit if read else -1, written)


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
