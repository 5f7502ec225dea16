"""What a session's requests cost, what other cache points would have cost, and the least that any could have.

All from the requests as they were sent; contents are fixed. Costs are in units: one input token at the
model's plain price. The lower bound looks at each piece of text by itself (a trie over all requests): when
it was sent, and whether it was cheaper to keep it in the cache in between. No cache points, however many,
can cost less.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Literal

from runtime.context.cache_model import AUTOMATIC_LIFETIME, LIFETIMES, LONG, Entry, Mark, bill
from runtime.context.lane_cache import marks_its_end
from runtime.context.models import ModelRecord
from runtime.context.prefixes import DEVELOPER, Prefixes
from runtime.context.prices import prices_for
from runtime.conversation.segments import Prediction


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it was sent."""

    at: datetime
    laid: Prefixes
    marks: tuple[Mark, ...]
    model: ModelRecord
    scope: str = ""
    """Requests of other scopes share no cache with it."""
    first_byte: datetime | None = None


Choice = Callable[[Sent], Sequence[Mark]]
"""Where to mark a request."""


def own_points(sent: Sent) -> Sequence[Mark]:
    """As it was sent."""
    return sent.marks


def no_points(sent: Sent) -> Sequence[Mark]:
    """Nothing is marked."""
    return ()


def system_point(sent: Sent) -> Sequence[Mark]:
    """The end of the instructions that stand first."""
    head = next((i for i in range(sent.laid.length) if sent.laid.endings[i] == DEVELOPER), None)
    return () if head is None or not sent.model.ttls else (Mark(head, sent.model.ttls[0]),)


def tail_point(sent: Sent) -> Sequence[Mark]:
    """The last block: what automatic caching marks."""
    if not sent.laid.length or not sent.model.ttls:
        return ()
    return (Mark(sent.laid.length - 1, sent.model.ttls[0]),)


def bill_all(requests: Iterable[Sent], choose: Choice = own_points) -> list[Prediction]:
    """What each request reads, writes and sends fresh, if it is marked like that."""
    stores: dict[tuple[str, str], dict[int, Entry]] = {}
    billed: list[Prediction] = []
    for sent in requests:
        store = stores.setdefault((sent.scope, sent.model.id), {})
        for key in [key for key, entry in store.items() if entry.expires <= sent.at]:
            del store[key]
        marks = choose(sent)
        implicit = marks_its_end(marks, sent.laid.length)
        tokens, _ = bill(sent.laid, marks, store, sent.model, sent.at, sent.first_byte, implicit=implicit)
        billed.append(tokens)
    return billed


def units(tokens: Prediction, model: ModelRecord) -> float:
    """The price of those tokens, which are one request, in input tokens at the plain price."""
    read, short, long = model.read_multiplier, model.write_multiplier("5m"), model.write_multiplier("1h")
    paid = tokens.fresh + tokens.read * read + tokens.write5m * short + tokens.write1h * long
    total = tokens.fresh + tokens.read + tokens.write5m + tokens.write1h
    return paid * _tier(model, total)


def cost_with(requests: Sequence[Sent], choose: Choice) -> float:
    """Units that the requests would have cost with such marks."""
    billed = bill_all(requests, choose)
    return sum(units(tokens, sent.model) for tokens, sent in zip(billed, requests, strict=True))


def uncached_cost(requests: Iterable[Sent]) -> float:
    """Units that they would have cost with nothing ever read or written."""
    return sum(units(Prediction(fresh=sent.laid.total), sent.model) for sent in requests)


def _tier(model: ModelRecord, total: int) -> float:
    prices = prices_for(model, total)
    return prices.input / model.prices.input if prices is not None and model.prices is not None else 1.0


# -- the lower bound ------------------------------------------------------------------------------------


def lower_bound(requests: Iterable[Sent], *, lifetimes: Literal["free", "kept"] = "free") -> float:
    """Units below which no cache points could have brought these requests, knowing what came later.

    `free`: the lifetimes are chosen with that knowledge as well, so pauses are known beforehand. `kept`: what
    each request kept for long is kept for long, and only the places are chosen.
    """
    tries: dict[tuple[str, str], _Node] = {}
    for sent in requests:
        parts = _free(sent) if lifetimes == "free" else _kept(sent)
        tries.setdefault((sent.scope, sent.model.id), _Node()).send(sent, parts)
    return sum(root.least() for root in tries.values())


@dataclass(frozen=True, slots=True)
class _Part:
    """Blocks of a request up to `end`, for which a token costs that: read, or written to live so long."""

    end: int
    read: float
    lives: tuple[tuple[timedelta, float], ...]


def _free(sent: Sent) -> list[_Part]:
    model = sent.model
    weight = _tier(model, sent.laid.total)
    lives = [(AUTOMATIC_LIFETIME, 1.0)] if model.caching == "automatic" else _writes(model)
    return [_part(sent.laid.length, model, lives, weight)]


def _kept(sent: Sent) -> list[_Part]:
    """Up to the last long mark it is long, behind it short."""
    model, writes = sent.model, _writes(sent.model)
    if model.caching != "marks" or len(writes) < 2:
        return _free(sent)
    weight = _tier(model, sent.laid.total)
    end = max((mark.index + 1 for mark in sent.marks if mark.ttl in LONG), default=0)
    long = [write for write in writes if write[0] in LONG]
    short = [write for write in writes if write[0] not in LONG]
    return [_part(end, model, long, weight), _part(sent.laid.length, model, short, weight)]


def _writes(model: ModelRecord) -> list[tuple[str, float]]:
    return [(ttl, model.write_multiplier("1h" if ttl in LONG else "5m")) for ttl in model.ttls]


def _part(end: int, model: ModelRecord, lives: Sequence[tuple[str, float]], weight: float) -> _Part:
    weighted = tuple([(LIFETIMES[ttl], price * weight) for ttl, price in lives])
    return _Part(end, model.read_multiplier * weight, weighted)


@dataclass(slots=True)
class _Node:
    """Blocks that were always sent together, from `start` to `end`, behind those of its ancestors."""

    start: int = 0
    end: int = 0
    keys: array[int] = field(default_factory=lambda: array("Q"))
    tokens: array[int] = field(default_factory=lambda: array("q"))
    """Ends of the prefixes, as in `Prefixes`."""
    children: dict[int, _Node] = field(default_factory=dict)
    at: datetime | None = None
    dead: float = 0.0
    """The least that one token cost so far, if it is not in the cache now."""
    alive: tuple[tuple[timedelta, float], ...] = ()
    """By lifetime: the least, if it is."""

    def send(self, sent: Sent, parts: Sequence[_Part]) -> None:
        """One request goes down the trie."""
        node, place, laid = self, 0, sent.laid
        for part in parts:
            while place < part.end:
                child = node.children.get(laid.keys[place])
                if child is None:
                    child = node.children[laid.keys[place]] = _Node(place, part.end, laid.keys, laid.ends)
                else:
                    child._part_at(_shared(child, laid, part.end))
                child._visit(sent.at, part, _tier(sent.model, laid.total))
                node, place = child, child.end

    def least(self) -> float:
        """What all blocks from here on cost at least."""
        total, left = 0.0, [self]
        while left:
            node = left.pop()
            total += node._least() * node._size()
            left += node.children.values()
        return total

    def _size(self) -> int:
        if self.end == self.start:
            return 0
        return self.tokens[self.end - 1] - (self.tokens[self.start - 1] if self.start else 0)

    def _part_at(self, end: int) -> None:
        """From here on the blocks up to `end` go their own way."""
        if end == self.end:
            return
        rest = _Node(end, self.end, self.keys, self.tokens, self.children, self.at, self.dead, self.alive)
        self.end, self.children = end, {self.keys[end]: rest}

    def _visit(self, at: datetime, part: _Part, plain: float) -> None:
        """A token that was kept is read, and lives as long as what is written behind it; or it is sent again.
        It is never cheaper not to read it."""
        before = self._least()
        kept = [cost for life, cost in self.alive if self.at is not None and at - self.at < life]
        read = min(kept, default=inf) + part.read
        self.alive = tuple([(life, min(read, before + write)) for life, write in part.lives])
        self.dead, self.at = before + plain, at

    def _least(self) -> float:
        return min([self.dead, *(cost for _, cost in self.alive)])


def _shared(node: _Node, laid: Prefixes, end: int) -> int:
    """Up to where the request goes along with the node's blocks: equal keys, equal prefixes."""
    low, high = node.start + 1, min(node.end, end)
    while low < high:
        middle = (low + high + 1) // 2
        if node.keys[middle - 1] == laid.keys[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low
