"""What a lane's earlier requests have left in the provider's cache, worked out from the log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from runtime.context.cache_model import LIFETIMES, Block, Mark, Store, send
from runtime.context.models import ModelRecord
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import SentRequest, Windows

REMEMBERED: Final = 16
"""Requests looked back over. Each request marks what lives on again, so older ones tell nothing more."""


def blocks_of(segments: Sequence[Segment]) -> list[Block]:
    """The blocks a window's segments become; each tool takes a position of its own."""
    return [Block(segment.hash, segment.tokens, _positions(segment)) for segment in segments]


def _positions(segment: Segment) -> int:
    return _tool_count(segment.text) if segment.kind == "tools" and segment.text else 1


@lru_cache(maxsize=64)
def _tool_count(text: str) -> int:
    return max(1, len(json.loads(text)))


def marks_of(segments: Sequence[Segment], points: Sequence[CachePoint]) -> list[Mark]:
    """The marks that the points set, in window order; a point on a segment that is not there is no mark."""
    index = {segment.id: position for position, segment in enumerate(segments)}
    marks = [Mark(index[point.segment], point.ttl) for point in points if point.segment in index]
    return sorted(marks, key=lambda mark: mark.index)


def lane_store(windows: Windows, lane: str, model: ModelRecord, at: datetime) -> Store:
    """The cache entries of that lane that can be alive at `at`."""
    horizon = max(LIFETIMES.values())
    store: Store = {}
    for request in windows.lane(lane)[-REMEMBERED:]:
        if at - request.at > horizon:
            continue
        segments = sent_segments(windows.texts, request)
        if segments is not None:
            marks = marks_of(segments, request.cache_points)
            store = send(blocks_of(segments), marks, store, model, request.at).store
    return store


def sent_segments(texts: Mapping[str, Segment], request: SentRequest) -> list[Segment] | None:
    """The segments of a request that was sent; None if one of them is not known."""
    found = [texts[digest] for digest in request.window if digest in texts]
    return found if len(found) == len(request.window) else None
