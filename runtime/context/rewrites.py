"""Decides what changes text that was already sent. The runner logs each decision before the call.

Here: `return` (a called frame is replaced by its summary), `restore` (the detail of the frame that becomes
current comes back), `clear` (clearHistory), `swap` (another stage's prompt and tools in the `swap` layout),
and better words for a summary where that place is rewritten anyway. What is too long: compaction.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from runtime.context.calibration import corrections
from runtime.context.head import head_segments
from runtime.context.measures import HEAD_KINDS
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker
from runtime.context.sent import is_bound, last_stage
from runtime.context.summaries import return_summary, written_summary
from runtime.conversation.segments import Segment
from runtime.conversation.state import Frame, SessionState
from runtime.conversation.window_events import RewriteRule
from runtime.conversation.window_fold import replace_range
from runtime.conversation.windows import ROOT_AGENT, AgentWindow, Cleared, Popped, lane_of, shared_start
from runtime.playbook import Playbook


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One rewriting of the window, with the fields of `window_rewritten`."""

    lane: str
    from_segment: str
    to_segment: str
    rule: RewriteRule
    replacement: tuple[Segment, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """As the event has them."""
        return {
            "lane": self.lane,
            "from_segment": self.from_segment,
            "to_segment": self.to_segment,
            "rule": self.rule,
            "replacement": self.replacement,
            "numbers": dict(self.numbers),
        }


def difference(
    lane: str,
    before: Sequence[Segment],
    after: Sequence[Segment],
    rule: RewriteRule,
    numbers: Mapping[str, Any] = MappingProxyType({}),
) -> Rewrite | None:
    """The rewriting that makes `after` of `before`, as short as it can be; None if they are equal."""
    first = shared_start(before, after)
    if first == len(before) == len(after):
        return None
    rest = min(len(before), len(after)) - first
    last = shared_start(before[::-1][:rest], after[::-1][:rest])
    if first == len(before) - last:  # something is put in and nothing goes: a neighbour stands for the place
        first, last = (first, last - 1) if last else (first - 1, last)
    gone, put = before[first : len(before) - last], after[first : len(after) - last]
    return Rewrite(lane, gone[0].id, gone[-1].id, rule, tuple(put), numbers)


def plan_rewrites(
    playbook: Playbook, state: SessionState, model: ModelRecord, policy: Policy
) -> tuple[Rewrite, ...]:
    """What must be rewritten before the next request of the current frame's agent, in order."""
    frame = state.frame
    stage = playbook.stage(frame.stage) if frame else None
    if frame is None or stage is None or stage.kind == "raw":
        return ()
    return _Planner(playbook, state, frame, model, policy).planned()


class _Planner:
    def __init__(
        self, playbook: Playbook, state: SessionState, frame: Frame, model: ModelRecord, policy: Policy
    ) -> None:
        self.playbook, self.state, self.frame, self.policy = playbook, state, frame, policy
        name = frame.agent or ROOT_AGENT
        self.agent = state.windows.agent(name)
        self.lane = lane_of(name, model.provider, model.id)
        self.model = model
        self.maker = SegmentMaker(model, corrections=corrections(state.windows, model))
        self.segments: Sequence[Segment] = self.agent.segments
        self.rewrites: list[Rewrite] = []

    def planned(self) -> tuple[Rewrite, ...]:
        """All of them; each is about the segments as the ones before it leave them."""
        self._plan(self._swap())
        if self.policy.compaction:
            for popped in self.agent.popped:
                self._plan(self._return(popped))
            self._restore()
        for cleared in self.agent.cleared:
            self._plan(_clear(self.lane, self.segments, cleared, self.model))
        if self.rewrites:
            self._use_written()
        return tuple(self.rewrites)

    def _plan(self, rewrite: Rewrite | None) -> None:
        if rewrite is not None:
            self.rewrites.append(rewrite)
            self.segments, _ = replace_range(
                self.segments, rewrite.from_segment, rewrite.to_segment, rewrite.replacement
            )

    def _swap(self) -> Rewrite | None:
        """Replaces tools and base where they differ from what this request needs.

        In the `swap` layout the stage's text is part of the base: stage segments of the other layout go too.
        """
        segments = self.agent.segments
        head = head_segments(self.maker, self.playbook, self.state, self.policy)
        sent = list(takewhile(lambda segment: segment.kind in HEAD_KINDS, segments))
        changing = self.policy.layout == "swap" and last_stage(segments) is not None
        same = [segment.hash for segment in sent] == [segment.hash for segment in head]
        if not changing and (not sent or same):
            return None
        talk = [segment for segment in segments[len(sent) :] if not (changing and segment.kind == "stage")]
        numbers = {
            "removed": _tokens(segments) - _tokens(talk),
            "added": _tokens(head),
            "suffix": _tokens(talk),
        }
        valid = [segment for segment in talk if not is_bound(segment)]
        return difference(self.lane, segments, [*head, *valid], "swap", numbers)

    def _return(self, popped: Popped) -> Rewrite | None:
        """Replaces the frame's trace by its summary; the running turn's user messages stand after it,
        verbatim.

        A frame none of which was sent needs no rewriting: its summary is added like any new segment.
        """
        segments, waiting = self.segments, set(self.agent.open_messages)
        start = next((i for i, segment in enumerate(segments) if segment.frame in popped.frames), None)
        if start is None:
            return None
        trace = segments[start:]
        kept = [segment for segment in trace if set(segment.sources) & waiting]
        if len(kept) == len(trace):
            return None
        gone = [segment for segment in trace if segment not in kept]
        by_rules = self.policy.summaries == "rules"
        summary = return_summary(self.maker, self.playbook, popped, gone, by_rules=by_rules)
        kept = [segment.model_copy(update={"frame": popped.caller}) for segment in kept]
        numbers = {"removed": _tokens(gone), "summary": summary.tokens, "kept": _tokens(kept)}
        return Rewrite(self.lane, trace[0].id, trace[-1].id, "return", (summary, *kept), numbers)

    def _restore(self) -> None:
        """A frame that became current through a return gets its detail back, if there is room."""
        returned = any(rewrite.rule == "return" for rewrite in self.rewrites)
        if not returned or not self.agent.details:
            return
        while (restored := self._with_detail()) is not None:
            tokens = _tokens(restored)
            if tokens > self.policy.budget_target:
                return
            numbers = {"tokens": tokens, "target": self.policy.budget_target}
            self._plan(difference(self.lane, self.segments, restored, "restore", numbers))

    def _with_detail(self) -> list[Segment] | None:
        details = {
            segment.id: self.agent.details[segment.id]
            for segment in self.segments
            if segment.frame == self.frame.id and self.agent.details.get(segment.id)
        }
        if not details:
            return None
        made: list[Segment] = []
        changed = False
        for segment in self.segments:
            changed = changed or segment.id in details
            put = details.get(segment.id, (segment,))
            made += [one for one in put if not (changed and is_bound(one))]
        return made

    def _use_written(self) -> None:
        """Summaries by rules for which a model wrote a better one, behind the first place that changes."""
        first = shared_start(self.agent.segments, self.segments)
        better = better_summaries(self.maker, self.agent, self.segments[first:])
        if better:
            after = [better.get(segment.id, segment) for segment in self.segments]
            self._plan(difference(self.lane, self.segments, after, self.rewrites[-1].rule))


def better_summaries(
    maker: SegmentMaker, agent: AgentWindow, segments: Sequence[Segment]
) -> dict[str, Segment]:
    """By id of a summary by rules among the segments, the one that a model wrote in its place."""
    if not agent.written:
        return {}
    texts = {segment.id: agent.written.get(segment.id) for segment in segments}
    return {
        segment.id: written_summary(maker, segment, text)
        for segment in segments
        if (text := texts[segment.id]) is not None
    }


def _clear(lane: str, segments: Sequence[Segment], cleared: Cleared, model: ModelRecord) -> Rewrite | None:
    """Removes the current frame's part of the window; a turn that still waits for its reply keeps its own."""
    start = _first_of(segments, cleared)
    if start is None:
        return None
    kept_from = len(segments)
    if cleared.keep_from is not None:
        kept_from = next(
            (i for i in range(start, len(segments)) if _is_from(segments[i], cleared.keep_from)), kept_from
        )
    gone = segments[start:kept_from]
    if not gone:
        return None
    kept = list(segments[kept_from:])
    if model.binds_thinking and any(segment.kind == "thinking" for segment in kept):
        valid = [segment for segment in kept if segment.kind != "thinking"]
        return Rewrite(lane, gone[0].id, segments[-1].id, "clear", tuple(valid), {"removed": _tokens(gone)})
    return Rewrite(lane, gone[0].id, gone[-1].id, "clear", (), {"removed": _tokens(gone)})


def _first_of(segments: Sequence[Segment], cleared: Cleared) -> int | None:
    for index, segment in enumerate(segments[: cleared.sent]):
        if segment.kind not in HEAD_KINDS and (cleared.is_root or segment.frame == cleared.frame):
            return index
    return None


def _is_from(segment: Segment, seq: int) -> bool:
    return bool(segment.sources) and max(segment.sources) >= seq


def _tokens(segments: Sequence[Segment]) -> int:
    return sum(segment.tokens for segment in segments)
