"""How the middle of a window is made shorter: what goes, and what stands for it. Decides nothing.

A shape is the list of segments as it would be. Shapes come in the order of context.md, "Compaction": traffic
of visits that are over, texts of artifacts, tool results, then the oldest turns, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.context.middle import Middle
from runtime.context.segments import SegmentMaker
from runtime.context.sent import is_bound
from runtime.context.summaries import SHORT, short, tools_summary, turns_summary
from runtime.conversation.segments import Replaced, Segment, SegmentKind
from runtime.conversation.state import SessionState
from runtime.conversation.window_events import RewriteRule

LEAST_GAIN = 40
"""Tokens that shortening one segment must save."""


@dataclass(slots=True)
class Shape:
    """A window in the making: indexes of the segments that go, and what is put in their place."""

    gone: set[int] = field(default_factory=set)
    put: dict[int, list[Segment]] = field(default_factory=dict)
    """Index -> segments that stand where that one stood, or stands."""

    def replace(self, indexes: Sequence[int], stand_in: Segment | None) -> None:
        """These go; `stand_in` takes the place of the first."""
        self.gone.update(indexes)
        if stand_in is not None:
            self.put.setdefault(indexes[0], []).append(stand_in)

    def copy(self) -> Shape:
        """One that can be changed without this one."""
        return Shape(set(self.gone), {index: list(put) for index, put in self.put.items()})

    def tokens(self, segments: Sequence[Segment], whole: int) -> int:
        """What is left of a window of `whole` tokens."""
        went = sum(segments[index].tokens for index in self.gone)
        return whole - went + sum(segment.tokens for put in self.put.values() for segment in put)

    def apply(self, segments: Sequence[Segment]) -> tuple[list[Segment], int]:
        """The segments, and the index of the first that is not what it was. Thinking that its model binds to
        the text before it goes from there on."""
        made: list[Segment] = []
        first = len(segments)
        for index, segment in enumerate(segments):
            if index in self.gone or index in self.put:
                first = min(first, len(made))
            made += self.put.get(index, ())
            if index not in self.gone and not (first < len(segments) and is_bound(segment)):
                made.append(segment)
        return made, first


class Shortener:
    """Makes shapes of one middle."""

    def __init__(
        self,
        maker: SegmentMaker,
        state: SessionState,
        middle: Middle,
        rule: RewriteRule,
        better: Mapping[str, Segment],
    ) -> None:
        """`better`: by id of a summary by rules, the one that a model wrote in its place."""
        self.maker, self.state, self.middle, self.rule, self.better = maker, state, middle, rule, better
        self.segments = list(middle.segments)
        self.holding = middle.holding()
        self.prefix = f"c{state.calls + 1}.{rule}"
        self._made = 0

    def texts(self) -> Iterator[Shape]:
        """Shapes that leave all that was said, from the mildest on."""
        shape = Shape()
        for step in (self._visits, self._artifacts, self._results):
            step(shape, self.middle.start, self.middle.end)
            yield shape.copy()

    def without_turns(self, cut: int, room: int | None = None) -> Shape:
        """Everything from the middle's start up to `cut` is replaced; what is left of the middle is shortened
        as well. One summary for each frame: what belongs to a called one goes when it returns. `room`: tokens
        that all summaries may have, as far as that can be."""
        shape, middle = Shape(), self.middle
        parts: dict[str | None, list[int]] = {}
        for index in range(middle.start, cut):
            if index not in self.holding:
                parts.setdefault(middle.frame_at(index), []).append(index)
        for frame, indexes in parts.items():
            gone = [self.segments[index] for index in indexes]
            gone = [self.better.get(segment.id, segment) for segment in gone]
            share = None if room is None else room // len(parts)
            summary = turns_summary(self.maker, self._id("turns"), gone, frame, self.rule, share)
            shape.replace(indexes, summary)
        for step in (self._visits, self._artifacts, self._results):
            step(shape, cut, max(cut, middle.end))
        self._drop_baseless(shape, cut)
        return shape

    def with_shorter_running(self, shape: Shape) -> Shape:
        """That shape, and what the running turn was told and has loaded is shortened as well."""
        shorter = shape.copy()
        self._results(shorter, self.middle.running, len(self.segments))
        self._cut_artifacts(shorter, self.middle.running, len(self.segments))
        return shorter

    def _drop_baseless(self, shape: Shape, cut: int) -> None:
        """State frames behind the cut that build on one before it: the next complete one says it all."""
        for index in range(cut, len(self.segments)):
            segment = self.segments[index]
            if segment.kind != "state" or index in shape.gone:
                continue
            if segment.meta.get("full") or index in self.holding:
                return
            shape.replace([index], None)

    # -- traffic of visits that are over ------------------------------------------------------------------

    def _visits(self, shape: Shape, start: int, end: int) -> None:
        """Tool traffic and instructions of visits that a move ended; state and tail lines that newer ones
        replaced."""
        visits: dict[str | None, str] = {}
        open_visits = {frame.id: f"{frame.id}/{frame.visit}" for frame in self.state.own_frames}
        groups: dict[str, list[int]] = {}
        for index in range(end):
            segment = self.segments[index]
            if segment.kind == "stage":
                visits[segment.frame] = str(segment.meta.get("visit"))
            visit = visits.get(segment.frame, "")
            over = visit != "" and visit != open_visits.get(segment.frame or "", visit)
            if index < start or index in shape.gone:
                continue
            replaced = segment.kind in ("state", "tail") or (segment.kind == "stage" and over)
            if replaced and index not in self.holding:
                shape.replace([index], None)
            elif over and self._is_traffic(index):
                groups.setdefault(visit, []).append(index)
        for indexes in groups.values():
            self._replace_traffic(shape, indexes)

    def _is_traffic(self, index: int) -> bool:
        """A tool call, its result, or the thinking before the call. Words beside a call stay."""
        segment = self.segments[index]
        if segment.kind == "thinking":
            following = self.segments[index + 1 : index + 3]
            return any(other.kind == "tool_call" and other.sources == segment.sources for other in following)
        return segment.kind in ("tool_call", "tool_result")

    def _replace_traffic(self, shape: Shape, indexes: Sequence[int]) -> None:
        gone = [self.segments[index] for index in indexes]
        summary = tools_summary(self.maker, self._id("tools"), gone, self.rule)
        if summary is None or summary.tokens < sum(segment.tokens for segment in gone):
            shape.replace(indexes, summary)

    # -- texts --------------------------------------------------------------------------------------------

    def _artifacts(self, shape: Shape, start: int, end: int) -> None:
        """An artifact stays listed with its summary; its text can be loaded again."""
        for index in range(start, end):
            old = self.segments[index]
            if old.kind == "artifact" and index not in shape.gone:
                text = f"{old.meta['line']}\nIts text was unloaded to save room."
                self._put_short(shape, index, "summary", text, {})

    def _results(self, shape: Shape, start: int, end: int) -> None:
        for index in range(start, end):
            if self.segments[index].kind == "tool_result" and index not in shape.gone:
                self._shorten(shape, index, SHORT)

    def _cut_artifacts(self, shape: Shape, start: int, end: int) -> None:
        """Only their beginning stays, which does not count as loaded."""
        for index in range(start, end):
            old = self.segments[index]
            if old.kind == "artifact" and index not in shape.gone:
                _, _, text = old.text.partition("\n")
                line, beginning = old.meta["line"], short(text, 2 * SHORT)
                cut = f"{line}\n{beginning} [shortened to save room; it can be loaded again]"
                self._put_short(shape, index, "summary", cut, {})

    def _shorten(self, shape: Shape, index: int, characters: int) -> None:
        old = self.segments[index]
        text = f"{short(old.text, characters)} [shortened; {len(old.text):,} characters]"
        self._put_short(shape, index, old.kind, text, old.meta)

    def _put_short(
        self, shape: Shape, index: int, kind: SegmentKind, text: str, meta: dict[str, Any]
    ) -> None:
        """The text in place of the segment's, if that saves anything."""
        old = self.segments[index]
        new = self.maker.make(
            f"{old.id}~{self.state.calls + 1}",
            kind,
            old.role,
            text,
            sources=old.sources,
            frame=old.frame,
            stage=old.stage,
            label=old.label,
            meta=meta,
            replaced=Replaced(what="its text", tokens=old.tokens, rule=self.rule, segments=(old.id,)),
        )
        if new.tokens + LEAST_GAIN <= old.tokens:
            shape.replace([index], new)

    def _id(self, name: str) -> str:
        self._made += 1
        return f"{self.prefix}.{name}{self._made}"
