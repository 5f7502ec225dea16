"""Questions about the segments that were sent, answered without a look at each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runtime.context.measures import measure
from runtime.context.models import record
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment

Layout = Literal["append", "swap"]


def is_own(segment: Segment, model_key: str, layout: Layout) -> bool:
    """Thinking of another model is left out: it could not be verified there. So are stages in `swap`."""
    if segment.kind == "thinking":
        return bool(segment.meta.get("model") == model_key)
    return not (segment.kind == "stage" and layout == "swap")


def is_bound(segment: Segment) -> bool:
    """Whether it is thinking that its model takes back only behind the very text it was made under."""
    if segment.kind != "thinking":
        return False
    provider, _, model = str(segment.meta.get("model", "")).partition("/")
    return record(model, provider or None).binds_thinking


@dataclass(slots=True)
class _Own:
    """The segments of one lane among the first so many of its agent; kept with those."""

    latest: tuple[int, AppendList[Segment]]

    def upto(self, count: int) -> _Own:
        """Nothing is known where fewer are shared."""
        return self if count >= self.latest[0] else _none()


def _none() -> _Own:
    return _Own((0, AppendList()))


def own_segments(segments: AppendList[Segment], model_key: str, layout: Layout) -> AppendList[Segment]:
    """Those that the lane's requests send: nearly always all, and then it is the same list."""
    if not _has_others(segments, model_key, layout):
        return segments
    known = segments.note(("own", model_key, layout), _none)
    count, own = known.latest if known.latest[0] <= len(segments) else _none().latest
    own = own.extend(segment for segment in segments[count:] if is_own(segment, model_key, layout))
    if len(segments) > known.latest[0]:
        known.latest = (len(segments), own)
    return own


def _has_others(segments: AppendList[Segment], model_key: str, layout: Layout) -> bool:
    known, count = measure(segments), len(segments)
    if layout == "swap" and known.stages and known.stages[0] < count:
        return True
    return any(place < count for model, place in known.thinkers.items() if model != model_key)


def last_stage(segments: AppendList[Segment]) -> Segment | None:
    """The newest stage segment."""
    for place in reversed(measure(segments).stages):
        if place < len(segments):
            return segments[place]
    return None


def has_prompt(segments: AppendList[Segment], prompt: str) -> bool:
    """Whether that prompt, by its hash, stands in full in a stage segment."""
    return measure(segments).prompts.get(prompt, len(segments)) < len(segments)
