"""What a lane's earlier requests have left in the provider's cache, worked out from the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Final

from runtime.context.cache_model import LIFETIMES, Block, Mark, Store, send
from runtime.context.models import ModelRecord
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import Windows

REMEMBERED: Final = 16
"""Requests looked back over. Each request marks what lives on again, so older ones tell nothing more."""


def blocks_of(segments: Sequence[Segment]) -> list[Block]:
    """The blocks a window's segments become; each tool takes a position of its own."""
    return [_block(segment) for segment in segments]


def _block(segment: Segment) -> Block:
    if segment.kind == "tools":
        return Block(segment.hash, segment.tokens, _tool_count(segment.text), end="")
    return Block(segment.hash, segment.tokens, end="developer" if segment.kind == "base" else "message")


@lru_cache(maxsize=64)
def _tool_count(text: str) -> int:
    return max(1, len(json.loads(text))) if text else 1


def marks_of(segments: Sequence[Segment], points: Sequence[CachePoint]) -> list[Mark]:
    """The marks that the points set, in window order; a point on a segment that is not there is no mark."""
    ttls = {point.segment: point.ttl for point in points}
    return [Mark(index, ttls[segment.id]) for index, segment in enumerate(segments) if segment.id in ttls]


def lane_store(
    windows: Windows,
    lane: str,
    model: ModelRecord,
    at: datetime,
    window: tuple[Segment, ...] = (),
    blocks: Sequence[Block] = (),
) -> Store:
    """The cache entries of that lane that can be alive at `at`.

    `window`: the next request's, with its `blocks`; what earlier ones share with it is not worked out again.
    """
    horizon = max(LIFETIMES.values())
    store: Store = {}
    at_hand = _AtHand(window, blocks)
    for request in windows.lane(lane)[-REMEMBERED:]:
        if at - request.at > horizon:
            continue
        at_hand.move_to(request.window)
        store = send(at_hand.blocks, at_hand.marks(request.cache_points), store, model, request.at).store
    return store


class _AtHand:
    """One window with its blocks. Most windows only begin like another one and end elsewhere."""

    def __init__(self, window: tuple[Segment, ...], blocks: Sequence[Block]) -> None:
        self.window, self.blocks = window, list(blocks)
        self._places = {segment.id: index for index, segment in enumerate(window)}
        """Segment id -> index; of a window before, where that is longer."""

    def move_to(self, window: tuple[Segment, ...]) -> None:
        """From here on it is about this window."""
        shared = min(len(window), len(self.window))
        if window[:shared] != self.window[:shared]:
            shared = 0
        self.blocks = self.blocks[:shared] + blocks_of(window[shared:])
        self._places.update((window[index].id, index) for index in range(shared, len(window)))
        self.window = window

    def marks(self, points: Sequence[CachePoint]) -> list[Mark]:
        """As `marks_of` has them, found without a look at every segment."""
        placed = [(self._places.get(point.segment, -1), point) for point in points]
        return [
            Mark(index, point.ttl)
            for index, point in sorted(placed, key=itemgetter(0))
            if 0 <= index < len(self.window) and self.window[index].id == point.segment
        ]
