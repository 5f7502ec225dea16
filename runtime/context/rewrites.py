"""Decides what changes text that was already sent. The runner logs each decision before the call.

Rules so far: `return` (a called frame is replaced by its summary), `clear` (clearHistory) and `swap` (another
stage's prompt and tools in the `swap` layout). Each is a value; nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

from runtime.context.head import head_segments
from runtime.context.measures import HEAD_KINDS
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker
from runtime.context.sent import last_stage
from runtime.context.summaries import return_summary
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.window_fold import replace_range
from runtime.conversation.windows import ROOT_AGENT, AgentWindow, Cleared, Popped, lane_of
from runtime.playbook import Playbook


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One rewriting of the window, with the fields of `window_rewritten`."""

    lane: str
    from_segment: str
    to_segment: str
    rule: Literal["return", "pays", "must", "trim", "clear", "swap", "unload", "restore", "model"]
    replacement: tuple[Segment, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)


def plan_rewrites(
    playbook: Playbook, state: SessionState, model: ModelRecord, policy: Policy
) -> tuple[Rewrite, ...]:
    """What must be rewritten before the next request of the current frame's agent, in order."""
    frame = state.frame
    stage = playbook.stage(frame.stage) if frame else None
    if frame is None or stage is None or stage.kind == "raw":
        return ()
    name = frame.agent or ROOT_AGENT
    agent = state.windows.agent(name)
    lane = lane_of(name, model.provider, model.id)
    maker = SegmentMaker(model)
    segments: Sequence[Segment] = agent.segments
    planned: list[Rewrite] = []

    def plan(rewrite: Rewrite | None) -> None:
        nonlocal segments
        if rewrite is not None:
            planned.append(rewrite)
            segments, _ = replace_range(
                segments, rewrite.from_segment, rewrite.to_segment, rewrite.replacement
            )

    plan(_swap(lane, agent.segments, head_segments(maker, playbook, state, policy), policy))
    for popped in agent.popped:
        plan(_return(lane, maker, playbook, segments, popped, agent))
    for cleared in agent.cleared:
        plan(_clear(lane, segments, cleared, model))
    return tuple(planned)


def _swap(
    lane: str, segments: AppendList[Segment], head: Sequence[Segment], policy: Policy
) -> Rewrite | None:
    """Replaces tools and base where they differ from what this request needs.

    In the `swap` layout the stage's text is part of the base: stage segments of the other layout go too.
    """
    sent = list(takewhile(lambda segment: segment.kind in HEAD_KINDS, segments))
    if policy.layout == "swap" and last_stage(segments) is not None:
        talk = [segment for segment in segments if segment.kind not in (*HEAD_KINDS, "stage")]
        numbers = {
            "removed": _tokens(segments) - _tokens(talk),
            "added": _tokens(head),
            "suffix": _tokens(talk),
        }
        return Rewrite(lane, segments[0].id, segments[-1].id, "swap", (*head, *talk), numbers)
    if not sent or [segment.hash for segment in sent] == [segment.hash for segment in head]:
        return None
    numbers = {"removed": _tokens(sent), "added": _tokens(head), "suffix": _tokens(segments) - _tokens(sent)}
    return Rewrite(lane, sent[0].id, sent[-1].id, "swap", tuple(head), numbers)


def _return(
    lane: str,
    maker: SegmentMaker,
    playbook: Playbook,
    segments: Sequence[Segment],
    popped: Popped,
    agent: AgentWindow,
) -> Rewrite | None:
    """Replaces the frame's trace by its summary; the running turn's user messages stand after it, verbatim.

    A frame none of which was sent needs no rewriting: its summary is added like any new segment.
    """
    start = next((i for i, segment in enumerate(segments) if segment.frame in popped.frames), None)
    if start is None:
        return None
    trace = segments[start:]
    kept = [segment for segment in trace if set(segment.sources) & set(agent.open_messages)]
    if len(kept) == len(trace):
        return None
    gone = [segment for segment in trace if segment not in kept]
    summary = return_summary(maker, playbook, popped, gone)
    kept = [segment.model_copy(update={"frame": popped.caller}) for segment in kept]
    numbers = {"removed": _tokens(gone), "summary": summary.tokens, "kept": _tokens(kept)}
    return Rewrite(lane, trace[0].id, trace[-1].id, "return", (summary, *kept), numbers)


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
