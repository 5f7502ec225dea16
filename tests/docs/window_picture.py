"""Draws docs/images/window.svg from a real call: `python -m tests.docs.window_picture`.

The bar is the inspector's: segments to scale, coloured by what was read, written and sent fresh, hatched
where one stands for something longer, with the cache points as numbered pins; under it a small bar a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from runtime.inspector.calls import CallView, SegmentView
from runtime.inspector.shares import Share
from tests.docs.mystery import calls, in_stage, last_of

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "images" / "window.svg"
WIDTH, HEIGHT, MARGIN = 1080, 372, 24
BAR_TOP, BAR_HEIGHT = 96, 64
STRIP_TOP, STRIP_HEIGHT, BAR = 232, 84, 30
CENTRED: Final = ' text-anchor="middle"'
READ, WRITTEN, FRESH, TEXT, QUIET = "#0f9b86", "#d98400", "#8a94a6", "#1b2130", "#5b6575"
LEAST: Final = 3
"""Pixels of the narrowest segment."""
LABELLED: Final = 46
"""Pixels from which a segment has its name in it."""


def picture() -> str:
    """The whole drawing."""
    call = last_of(2)
    body = [*_head(call), *_bar(call), *_legend(call), *_strip(call)]
    return "\n".join([*_start(), *body, "</svg>", ""])


def _start() -> Iterator[str]:
    what = "The context window of one call, segment by segment, and all calls of the conversation."
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{what}" font-family="system-ui, sans-serif" font-size="13">'
    )
    yield (
        '<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><path d="M0 0V8" stroke="#fff" stroke-opacity=".55" stroke-width="5"/>'
        "</pattern></defs>"
    )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff" stroke="#dde1e7"/>'


def _text(x: float, y: float, text: str, fill: str = TEXT, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}"{more}>{escape(text)}</text>'


def _head(call: CallView) -> Iterator[str]:
    total = sum(segment.tokens for segment in call.segments)
    yield _text(MARGIN, 38, f"Call {call.call} · {call.stage}", more=' font-size="17" font-weight="600"')
    words = f"{len(call.segments)} segments, {total:,} tokens: the agent has returned"
    yield _text(MARGIN + 150, 38, words, QUIET)


def _bar(call: CallView) -> Iterator[str]:
    shares = {share.segment: share for share in call.shares}
    pins = {point.segment: (point.number, point.ttl) for point in call.cache_points}
    for segment, left, width in _places(call.segments, WIDTH - 2 * MARGIN):
        yield from _segment(segment, shares[segment.id], MARGIN + left, width)
        if segment.id in pins:
            yield from _pin(MARGIN + left + width, *pins[segment.id])


def _places(segments: Sequence[SegmentView], width: float) -> Iterator[tuple[SegmentView, float, float]]:
    """Each segment with its left edge and its width; small ones keep the least there is."""
    total = sum(segment.tokens for segment in segments)
    spare = width - LEAST * len(segments)
    left = 0.0
    for segment in segments:
        own = LEAST + spare * segment.tokens / total
        yield segment, left, own
        left += own


def _segment(segment: SegmentView, share: Share, left: float, width: float) -> Iterator[str]:
    parts = ((share.read, READ), (share.written, WRITTEN), (share.fresh, FRESH))
    whole = sum(tokens for tokens, _ in parts) or 1
    at = left
    for tokens, colour in parts:
        own = width * tokens / whole
        if own:
            yield _box(at, BAR_TOP, own, BAR_HEIGHT, colour)
        at += own
    if segment.replaced is not None:
        yield _box(left, BAR_TOP, width, BAR_HEIGHT, "url(#hatch)")
    yield f'<path d="M{left:.1f} {BAR_TOP}v{BAR_HEIGHT}" stroke="#fff"/>'
    if width >= LABELLED:
        name = segment.kind if width >= 8 * len(segment.kind) else segment.kind[:4] + "…"
        yield _text(round(left + 6, 1), BAR_TOP + 26, name, "#0b1220")
        yield _text(round(left + 6, 1), BAR_TOP + 46, f"{segment.tokens:,}", "#0b1220")


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'


def _pin(x: float, number: int, ttl: str) -> Iterator[str]:
    yield f'<path d="M{x:.1f} {BAR_TOP - 10}v{BAR_HEIGHT + 14}" stroke="{TEXT}" stroke-width="2"/>'
    middle = min(x, WIDTH - MARGIN - 25)
    box = f'x="{middle - 25:.1f}" y="{BAR_TOP - 32}" width="50" height="22" rx="4"'
    yield f'<rect {box} fill="#fff" stroke="{QUIET}"/>'
    yield _text(round(middle, 1), BAR_TOP - 16, f"{number} · {ttl}", TEXT, ' text-anchor="middle"')


def _legend(call: CallView) -> Iterator[str]:
    usage = call.usage
    assert usage is not None
    stands_for = sum(segment.replaced.tokens for segment in call.segments if segment.replaced is not None)
    entries = (
        (READ, f"read from the cache {usage.read:,}"),
        (WRITTEN, f"written to it {usage.write5m + usage.write1h:,}"),
        (FRESH, f"sent fresh {usage.fresh:,}"),
    )
    x = float(MARGIN)
    for colour, words in entries:
        yield _box(x, 178, 12, 12, colour)
        yield _text(x + 18, 189, words, QUIET)
        x += 40 + 7.2 * len(words)
    yield _box(x, 178, 12, 12, READ)
    yield _box(x, 178, 12, 12, "url(#hatch)")
    yield _text(x + 18, 189, f"stands for {stands_for:,} tokens", QUIET)


def _strip(shown: CallView) -> Iterator[str]:
    step = (WIDTH - 2 * MARGIN) / len(calls())
    tallest = max(call.usage.input for call in calls() if call.usage is not None)
    for index, call in enumerate(calls()):
        assert call.usage is not None
        left, bottom = MARGIN + index * step, float(STRIP_TOP + STRIP_HEIGHT)
        written = call.usage.write5m + call.usage.write1h
        for tokens, colour in ((call.usage.read, READ), (written, WRITTEN), (call.usage.fresh, FRESH)):
            height = STRIP_HEIGHT * tokens / tallest
            bottom -= height
            if tokens:
                yield _box(left, bottom, BAR, height, colour)
        mark = ' font-weight="700"' if call.call == shown.call else ""
        yield _text(left + BAR / 2, STRIP_TOP + STRIP_HEIGHT + 18, str(call.call), QUIET, f"{CENTRED}{mark}")
    yield _text(MARGIN, HEIGHT - 16, _caption(), QUIET)


def _caption() -> str:
    agent = ", ".join(str(call.call) for call in in_stage("check"))
    back = [call.call for call in in_stage("search") if call.turn == 1][-1]
    return (
        f"All {len(calls())} calls. Those of the agent ({agent}) have a window of their own; "
        f"behind call {back} a called stage has returned."
    )


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
