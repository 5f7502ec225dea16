"""What a lane's earlier requests have left in the provider's cache, worked out from the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from runtime.context.cache_model import LIFETIMES, Block, Mark, Store, send
from runtime.context.models import ModelRecord
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import Windows

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
    ttls = {point.segment: point.ttl for point in points}
    return [Mark(index, ttls[segment.id]) for index, segment in enumerate(segments) if segment.id in ttls]


def lane_store(windows: Windows, lane: str, model: ModelRecord, at: datetime) -> Store:
    """The cache entries of that lane that can be alive at `at`."""
    horizon = max(LIFETIMES.values())
    store: Store = {}
    before: tuple[Segment, ...] = ()
    blocks: list[Block] = []
    for request in windows.lane(lane)[-REMEMBERED:]:
        if at - request.at > horizon:
            continue
        # Most requests only add to the end of the one before: what they share is not worked out again.
        shared = len(before) if request.window[: len(before)] == before else 0
        blocks = blocks[:shared] + blocks_of(request.window[shared:])
        before = request.window
        marks = marks_of(request.window, request.cache_points)
        store = send(blocks, marks, store, model, request.at).store
    return store
