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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from runtime.context.models import ModelRecord
from runtime.context.prefixes import DEVELOPER, NO_END, Block, Prefixes, lay_out
from runtime.conversation.segments import Prediction

LIFETIMES: Final = {
    "5m": timedelta(minutes=5),
    "10m": timedelta(minutes=10),
    "30m": timedelta(minutes=30),
    "1h": timedelta(hours=1),
    "12h": timedelta(hours=12),
}
LONG: Final = frozenset({"1h", "12h"})
"""Lifetimes billed as long writes."""
AUTOMATIC_LIFETIME: Final = "10m"
"""How long an automatic cache keeps what nobody asked it to keep."""
BREAKPOINTS_READ: Final = 80
MESSAGES_READ: Final = 20
NOT_YET: Final = datetime.max.replace(tzinfo=UTC)
"""`first_byte` of a request whose answer has not begun: what it writes can be read after `begin` only."""


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
"""Prefix key -> entry, of one scope."""


class Scope(NamedTuple):
    """What one store is for: caches are never shared across workspaces or accounts, models, or cache keys."""

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
    after = {key: entry for key, entry in store.items() if at < entry.expires}
    return _settle(lay_out(blocks), marks, after, model, at, first_byte or at, implicit=implicit)


def bill(
    laid: Prefixes,
    marks: Sequence[Mark],
    store: dict[int, Entry],
    model: ModelRecord,
    at: datetime,
    first_byte: datetime | None = None,
    *,
    implicit: bool = True,
) -> tuple[Prediction, int]:
    """As `send`, with the store changed in place: the tokens, and the index of the last block read or -1."""
    settled = _settle(laid, marks, store, model, at, first_byte or at, implicit=implicit)
    return settled.tokens, settled.hit


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


def _settle(
    laid: Prefixes,
    marks: Sequence[Mark],
    store: dict[int, Entry],
    model: ModelRecord,
    at: datetime,
    first_byte: datetime,
    *,
    implicit: bool,
) -> Billing:
    """Reads and writes, by the rules of the model; changes the store in place."""
    if model.caching == "automatic":
        return _automatic(laid, store, model, at, first_byte)
    if model.caching == "breakpoints":
        hit = _longest(_breakpoints(laid, marks, implicit=implicit), laid, store, at)
        marks = _placed(laid, marks, model, implicit=implicit)
    else:
        hit = _longest_hit(laid, marks, store, model, at)
    wanted = [mark for mark in marks if mark.index > hit and laid.ends[mark.index] >= model.minimum_cacheable]
    _refresh(store, laid, marks, hit, at)
    written = {
        laid.keys[mark.index]: Entry(first_byte, at + LIFETIMES[mark.ttl], mark.ttl, mark.index)
        for mark in wanted
    }
    store.update(written)
    return Billing(_billed(laid, hit, wanted), store, hit, written)


def _billed(laid: Prefixes, hit: int, written: Sequence[Mark]) -> Prediction:
    """Read up to the hit, then written long up to the last long mark, then short up to the last mark."""
    read = laid.ends[hit] if hit >= 0 else 0
    long_end = max([read, *(laid.ends[mark.index] for mark in written if mark.ttl in LONG)])
    end = max([long_end, *(laid.ends[mark.index] for mark in written)])
    parts = {"read": read, "write1h": long_end - read, "write5m": end - long_end, "fresh": laid.total - end}
    return Prediction(**parts)


# -- marks (Anthropic) ----------------------------------------------------------------------------------


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


# -- breakpoints and automatic caches (OpenAI) -------------------------------------------------------------


def _placed(laid: Prefixes, marks: Sequence[Mark], model: ModelRecord, *, implicit: bool) -> list[Mark]:
    """The marks that a `breakpoints` request really sets: the latest of its own, and the provider's one."""
    ordered = sorted(marks, key=attrgetter("index"))
    if not implicit or not laid.length:
        return ordered[-model.points :]
    end = laid.length - 1
    own = [mark for mark in ordered if mark.index < end]
    last = next((mark for mark in ordered if mark.index == end), Mark(end, model.ttls[0]))
    return [*own[1 - model.points :], last]


def _breakpoints(laid: Prefixes, marks: Sequence[Mark], *, implicit: bool) -> set[int]:
    """Indexes at which a `breakpoints` request looks for an entry."""
    places = set(sorted(mark.index for mark in marks)[-BREAKPOINTS_READ:])
    if implicit:
        places.update(_last_messages(laid, MESSAGES_READ + 1))
        places.update(index for index in (_first_developer(laid),) if index is not None)
    return places


def _last_messages(laid: Prefixes, count: int) -> list[int]:
    found: list[int] = []
    for index in range(laid.length - 1, -1, -1):
        if len(found) == count:
            break
        if laid.endings[index] != NO_END:
            found.append(index)
    return found


def _first_developer(laid: Prefixes) -> int | None:
    return next((i for i in range(laid.length) if laid.endings[i] == DEVELOPER), None)


def _longest(places: set[int], laid: Prefixes, store: Store, at: datetime) -> int:
    return max((index for index in places if alive(store.get(laid.keys[index]), at)), default=-1)


def _automatic(
    laid: Prefixes, store: dict[int, Entry], model: ModelRecord, at: datetime, first_byte: datetime
) -> Billing:
    """What an earlier request began with as well is read, in whole steps; all of this one is kept."""
    hit = max(living(laid, store, at), default=-1)
    reach = laid.ends[hit] if hit >= 0 else 0
    read = reach // model.cache_step * model.cache_step if reach >= model.minimum_cacheable else 0
    life = at + LIFETIMES[AUTOMATIC_LIFETIME]
    for key in laid.keys[: hit + 1]:
        if key in store:
            store[key] = replace(store[key], expires=life)
    written = {
        laid.keys[index]: Entry(first_byte, life, AUTOMATIC_LIFETIME, index)
        for index in range(hit + 1, laid.length)
    }
    store.update(written)
    return Billing(Prediction(read=read, fresh=laid.total - read), store, hit if read else -1, written)


# -- entries ----------------------------------------------------------------------------------------------


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
