"""The window of a call as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runtime.conversation.messages import Usage
from runtime.conversation.segments import Prediction
from runtime.inspector.calls import CallView, SegmentView
from runtime.runner.wording import printable

BAR: Final = 24
"""Characters of the longest bar."""


def window_lines(call: CallView) -> Iterator[str]:
    """What the model was sent: one line a segment, a mark where the provider is asked to cache, the sums."""
    yield f"call {call.call} · {call.stage} · {call.model} · {call.layout} layout"
    points = {point.segment: f"◆{point.number} {point.ttl}" for point in call.cache_points}
    widest = max((segment.tokens for segment in call.segments), default=0)
    for segment in call.segments:
        yield _segment_line(segment, widest, points.get(segment.id, "")).rstrip()
    total = sum(segment.tokens for segment in call.segments)
    limit = f" of {call.window_limit:,}" if call.window_limit else ""
    yield f"{total:>8,} tokens{limit}, ◆ = cache point"
    yield from _billing_lines(call)


def _segment_line(segment: SegmentView, widest: int, point: str) -> str:
    bar = "▇" * max(1, round(BAR * segment.tokens / widest)) if segment.tokens else ""
    label = printable(segment.label).replace("\n", " ")
    return f"{segment.tokens:>8,}  {segment.kind:<11} {bar:<{BAR}} {point:<5} {label}"


def _billing_lines(call: CallView) -> Iterator[str]:
    if call.predicted is not None:
        yield f"predicted  {_parts(call.predicted)}"
    if call.usage is not None:
        cost = "unknown" if call.cost is None else f"${call.cost:.4f}"
        yield f"billed     {_parts(call.usage)}, {call.usage.output:,} out, cost {cost}"


def _parts(tokens: Usage | Prediction) -> str:
    written = tokens.write5m + tokens.write1h
    return f"{tokens.read:,} read, {written:,} written, {tokens.fresh:,} fresh"
