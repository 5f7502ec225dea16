"""Which tokens of each segment were read from the cache, written to it, or sent fresh.

A cache is a prefix: what was read stands first, then what was written, then what is fresh. Providers report
sums only, so the sums are laid over the window in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from runtime.conversation.base import Value
from runtime.conversation.messages import Usage
from runtime.conversation.segments import Prediction


class Share(Value):
    """What became of one segment's tokens. Over a window they add up to the provider's sums."""

    segment: str
    read: int = 0
    written: int = 0
    fresh: int = 0


def prefix_shares(
    window: Sequence[tuple[str, int]], usage: Usage | None, predicted: Prediction | None
) -> tuple[Share, ...]:
    """Shares of all segments, given as (id, counted tokens) in order. What really happened wins over what was
    predicted; with neither, everything is fresh. Counts are scaled so that they add up to the given total."""
    counted = sum(tokens for _, tokens in window)
    source = usage or predicted or Prediction(fresh=counted)
    read = source.read
    written = source.write5m + source.write1h
    ends = _scaled_ends([tokens for _, tokens in window], read + written + source.fresh)
    shares: list[Share] = []
    start = 0
    for (segment, _), end in zip(window, ends, strict=True):
        shares.append(
            Share(
                segment=segment,
                read=_overlap(start, end, 0, read),
                written=_overlap(start, end, read, read + written),
                fresh=_overlap(start, end, read + written, ends[-1]),
            )
        )
        start = end
    return tuple(shares)


def _scaled_ends(tokens: Sequence[int], total: int) -> list[int]:
    """Where each segment ends when all of them together are `total` tokens long; whole numbers, no drift."""
    counted = sum(tokens)
    if not counted:
        return [total * (index + 1) // len(tokens) for index in range(len(tokens))]
    ends: list[int] = []
    upto = 0
    for count in tokens:
        upto += count
        ends.append(round(upto * total / counted))
    return ends


def _overlap(start: int, end: int, low: int, high: int) -> int:
    return max(0, min(end, high) - max(start, low))
