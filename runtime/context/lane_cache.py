"""What a lane's earlier requests have left in the provider's cache, worked out from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final

from runtime.context.cache_model import Mark, Store, bill
from runtime.context.measures import prefixes
from runtime.context.models import ModelRecord
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import SentRequest

REMEMBERED: Final = 64
"""At least so many requests are looked back over, and less than twice as many: each request marks what lives
on again, so older ones tell nothing more."""
_KEY = "store"


def marks_of(segments: Sequence[Segment], points: Sequence[CachePoint], model: ModelRecord) -> list[Mark]:
    """The marks that the points set, in window order; a point on a segment that is not there is no mark."""
    ttls = {point.segment: model.lifetime(point.ttl) for point in points}
    return [Mark(index, ttls[segment.id]) for index, segment in enumerate(segments) if segment.id in ttls]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is in the cache after the first `count` requests, reckoned from request `start` on."""

    start: int
    count: int
    model: ModelRecord
    store: Store


@dataclass(slots=True)
class _Latest:
    """What was worked out last for a lane; kept with its requests."""

    known: _Known | None = None

    def upto(self, count: int) -> _Latest:
        """Nothing is known of a lane that went on in another way."""
        return _Latest(self.known if self.known is not None and self.known.count <= count else None)


def lane_store(requests: AppendList[SentRequest], model: ModelRecord, at: datetime) -> Store:
    """The cache entries of a lane with those requests that are alive at `at`.

    What was worked out for the lane's earlier requests is kept with them; the result does not depend on it.
    """
    latest = requests.note(_KEY, _Latest)
    count = len(requests)
    start = max(0, (count // REMEMBERED - 1) * REMEMBERED)
    known = latest.known
    if known is None or known.start != start or known.count > count or known.model != model:
        known = _Known(start, start, model, {})
    if known.count < count:
        known = latest.known = _Known(start, count, model, _store_after(requests, known))
    return {key: entry for key, entry in known.store.items() if at < entry.expires}


def _store_after(requests: AppendList[SentRequest], known: _Known) -> Store:
    store = dict(known.store)
    before = requests[-1].window
    prefixes(before)  # the longest first: nearly always the others are the beginning of it
    for request in requests[known.count :]:
        laid = prefixes(request.window, before)
        for key in [key for key, entry in store.items() if entry.expires <= request.at]:
            del store[key]
        marks = _marks(request.window, request.cache_points, known.model)
        implicit = marks_its_end(marks, len(request.window))
        bill(laid, marks, store, known.model, request.at, implicit=implicit)
        before = request.window
    return store


def marks_its_end(marks: Sequence[Mark], length: int) -> bool:
    """Whether the request's end is marked: only then OpenAI's API is left to add a point of its own."""
    return bool(marks) and marks[-1].index == length - 1


def _marks(window: AppendList[Segment], points: Sequence[CachePoint], model: ModelRecord) -> list[Mark]:
    """As `marks_of` has them. Most stand at the end, one in the head."""
    ttls = {point.segment: model.lifetime(point.ttl) for point in points}
    found: list[Mark] = []
    for index in (*range(min(2, len(window))), *range(len(window) - 1, 1, -1)):
        if len(found) == len(ttls):
            break
        ttl = ttls.get(window[index].id)
        if ttl is not None:
            found.append(Mark(index, ttl))
    return sorted(found, key=attrgetter("index"))
