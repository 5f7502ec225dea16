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

from runtime.context.cache_model import AUTOMATIC_LIFETIME, LIFETIMES, LONG, Entry, Mark, bill
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
        tokens, _ = bill(sent.laid, choose(sent), store, sent.model, sent.at, sent.first_byte)
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


def lower_bound(requests: Iterable[Sent]) -> float:
    """Units below which no cache points could have brought these requests, knowing what came later."""
    tries: dict[tuple[str, str], _Node] = {}
    for sent in requests:
        tries.setdefault((sent.scope, sent.model.id), _Node()).send(sent, _rates(sent.model))
    return sum(root.least() for root in tries.values())


@dataclass(frozen=True, slots=True)
class _Rates:
    """What a token costs: read, and written for each of the lifetimes."""

    read: float
    lives: tuple[tuple[timedelta, float], ...]


def _rates(model: ModelRecord) -> _Rates:
    if model.caching == "automatic":
        return _Rates(model.read_multiplier, ((LIFETIMES[AUTOMATIC_LIFETIME], 1.0),))
    lives = [(LIFETIMES[ttl], model.write_multiplier("1h" if ttl in LONG else "5m")) for ttl in model.ttls]
    return _Rates(model.read_multiplier, tuple(lives))


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
    alive: tuple[float, ...] = ()
    """By lifetime: the least, if it is."""

    def send(self, sent: Sent, rates: _Rates) -> None:
        """One request goes down the trie."""
        node, place, laid = self, 0, sent.laid
        weight = _tier(sent.model, laid.total)
        while place < laid.length:
            child = node.children.get(laid.keys[place])
            if child is None:
                child = node.children[laid.keys[place]] = _Node(place, laid.length, laid.keys, laid.ends)
            else:
                child._part_at(_shared(child, laid))
            child._visit(sent.at, rates, weight)
            node, place = child, child.end

    def least(self) -> float:
        """What all blocks from here on cost at least."""
        total, left = 0.0, [self]
        while left:
            node = left.pop()
            total += min((node.dead, *node.alive)) * node._size()
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
        rest = _Node(
            end, self.end, self.keys, self.tokens, self.children, self.at, self.dead, self.alive
        )
        self.end, self.children = end, {self.keys[end]: rest}

    def _visit(self, at: datetime, rates: _Rates, weight: float) -> None:
        before, gap = min((self.dead, *self.alive)), at - self.at if self.at is not None else None
        kept = [
            cost
            for (life, _), cost in zip(rates.lives, self.alive, strict=False)
            if gap is not None and gap < life
        ]
        read = min(kept, default=inf) + rates.read * weight
        self.alive = tuple([min(read, before + write * weight) for _, write in rates.lives])
        self.dead, self.at = before + weight, at


def _shared(node: _Node, laid: Prefixes) -> int:
    """Up to where the request goes along with the node's blocks: equal keys, equal prefixes."""
    low, high = node.start + 1, min(node.end, laid.length)
    while low < high:
        middle = (low + high + 1) // 2
        if node.keys[middle - 1] == laid.keys[middle - 1]:
            low = middle
        else:
            high = middle - 1
    return low
