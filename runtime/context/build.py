"""build_window: what the model will see, as a pure function of playbook, state, model and policy.

A window is the segments already sent, byte for byte, and what this request adds behind them, in this order:
what was said since (replies, tool results, summaries, user text, injected messages), the state frame, the
stage's instructions, the tail line (context.md, "Layout"). What changes earlier text is decided in
`rewrites.py` and was applied to the state before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from runtime.context import segments as seg
from runtime.context.artifacts import ABOVE, FOLLOWS, artifact_segment
from runtime.context.calibration import corrections
from runtime.context.head import head_segments, instructions, offers_artifacts, window_tools
from runtime.context.measures import HEAD_KINDS
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker
from runtime.context.sent import has_prompt, is_bound, is_own, last_stage, own_segments
from runtime.context.state_frames import FullState, Known, next_frame, still_known
from runtime.context.summaries import return_summary
from runtime.context.window import ContextWindow
from runtime.conversation.appendlist import AppendList
from runtime.conversation.events import (
    ArtifactLoaded,
    LLMCallCompleted,
    ToolCallComplete,
    TurnInterrupted,
    UserMessageEvent,
)
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import snapshot
from runtime.conversation.state import Frame, SessionState
from runtime.conversation.windows import ROOT_AGENT, AgentWindow, Pending, Popped, lane_of
from runtime.playbook import Playbook, Stage
from runtime.playbook.engine_tools import stage_tools


def build_window(
    playbook: Playbook,
    state: SessionState,
    model: ModelRecord,
    policy: Policy,
    *,
    tail: str | None = None,
    now: datetime,
    longest: int | None = None,
) -> ContextWindow:
    """The window of the next request of the current frame. `tail` is a line for the end of this request.
    `longest`: characters to which new results and artifacts are cut; None cuts nothing.

    Same inputs, same bytes. `now` is for a playbook that shows the clock; nothing else may depend on it.
    Raises ValueError if the session has not entered a stage of this playbook.
    """
    frame = state.frame
    stage = playbook.stage(frame.stage) if frame else None
    if frame is None or stage is None:
        raise ValueError("a window needs a session that has entered a stage of its playbook")
    if stage.kind == "raw":
        return _raw_window(playbook, state, model, stage, frame)
    return _Builder(playbook, state, model, policy, stage, frame, longest).build(tail)


def _raw_window(
    playbook: Playbook, state: SessionState, model: ModelRecord, stage: Stage, frame: Frame
) -> ContextWindow:
    """Exactly the resolved prompt as one user message: no history, no tools, no lane. No provider takes a
    blank message, so a blank prompt is said to be one."""
    segment = SegmentMaker(model).make(
        f"c{state.calls + 1}.raw",
        "dialogue",
        "user",
        frame.prompt if frame.prompt.strip() else seg.EMPTY_MESSAGE,
        sources=(frame.entered_seq,),
        frame=frame.id,
        stage=stage.id,
        label=f"raw prompt of «{stage.name}»",
    )
    return ContextWindow(
        layout="append",
        lane="",
        stage=stage.id,
        frame=frame.id,
        segments=(segment,),
        added=1,
        tools=(),
        allowed_tools=(),
    )


class _Builder:
    """One window in the making."""

    def __init__(
        self,
        playbook: Playbook,
        state: SessionState,
        model: ModelRecord,
        policy: Policy,
        stage: Stage,
        frame: Frame,
        longest: int | None,
    ) -> None:
        self.playbook, self.state, self.model, self.policy = playbook, state, model, policy
        self.stage, self.frame = stage, frame
        self.agent_name = frame.agent or ROOT_AGENT
        self.agent: AgentWindow = state.windows.agent(self.agent_name)
        self.maker = SegmentMaker(model, longest, corrections(state.windows, model))
        self.model_key = f"{model.provider}/{model.id}"
        self.prefix = f"c{state.calls + 1}"
        self.artifacts = offers_artifacts(state, policy)

    def build(self, tail: str | None) -> ContextWindow:
        sent = own_segments(self.agent.segments, self.model_key, self.policy.layout)
        head = [] if sent else list(head_segments(self.maker, self.playbook, self.state, self.policy))
        said = self._said(sent)
        now = snapshot(self.state)
        frame = self._state_frame(now)
        added = (*head, *said, *frame, *self._instructions(sent), *self._tail(tail))
        tools = stage_tools(self.playbook, self.stage, self.policy.layout, self.artifacts)
        return ContextWindow(
            layout=self.policy.layout,
            lane=lane_of(self.agent_name, self.model.provider, self.model.id),
            stage=self.stage.id,
            frame=self.frame.id,
            segments=(*sent, *added),
            added=len(added),
            tools=window_tools(self.playbook, self.stage, self.policy, self.artifacts),
            allowed_tools=tuple(tool.name for tool in tools),
            empty_state=not frame,
            state_snapshot=now,
            sent=sent,
        )

    def _is_mine(self, segment: Segment) -> bool:
        return is_own(segment, self.model_key, self.policy.layout)

    # -- what was said ------------------------------------------------------------------------------------

    def _said(self, sent: AppendList[Segment]) -> list[Segment]:
        """Everything pending in order; within one gap between replies: results, summaries, user, injected."""
        made: list[Segment] = []
        gap: list[Segment] = [*self._missing_results(sent)]
        for item in self.agent.pending:
            if item.kind == "returned":
                made, gap = self._after_agent(item, made, gap)
                continue
            segments = self._segments_of(item, (gap or made or sent)[-1:])
            if segments and segments[0].role == "assistant":
                made += _in_gap_order(gap)
                gap = []
                made += segments
                gap += self._results_for(segments)
            else:
                gap += segments
        gap += self._unsent_summaries(sent, [*made, *gap])
        made += _in_gap_order(gap)
        made = self._opened(sent, made)
        made = [segment for segment in made if self._is_mine(segment)]
        return [*self._first_word(sent, made), *made]

    def _after_agent(
        self, item: Pending, made: list[Segment], gap: list[Segment]
    ) -> tuple[list[Segment], list[Segment]]:
        """An agent's summary stands behind what was said before it was called; what still waits for an
        answer comes after it."""
        popped = [other for other in self.agent.popped if other.event == item.event]
        waiting = [segment for segment in gap if set(segment.sources) & set(self.agent.open_messages)]
        closed = [segment for segment in gap if segment not in waiting]
        summaries = [self._summary(one) for one in popped]
        return [*made, *_in_gap_order(closed)], [*summaries, *waiting]

    def _segments_of(self, item: Pending, last: Sequence[Segment]) -> list[Segment]:
        event = item.event
        if isinstance(event, UserMessageEvent):
            return [seg.user_segment(self.maker, item, event)]
        if isinstance(event, LLMCallCompleted):
            made = seg.assistant_segments(self.maker, item, event, self.model_key)
            was_bound = event.seq < self.agent.rewritten
            return [one for one in made if not (was_bound and is_bound(one))]
        if isinstance(event, ArtifactLoaded) and item.artifact is not None:
            return [artifact_segment(self.maker, item, item.artifact, event, self.policy.artifact_preview)]
        if item.kind == "interrupted" and isinstance(event, TurnInterrupted):
            return [seg.interrupted_segment(self.maker, item, event)]
        if item.kind == "no_reply" and self._next_message_came(item) and _ends_with_user(last):
            return [seg.no_reply_segment(self.maker, item)]
        return []

    def _next_message_came(self, item: Pending) -> bool:
        return any(
            other.kind in ("user", "injected") and other.event.seq > item.event.seq
            for other in self.agent.pending
        )

    def _results_for(self, message: Sequence[Segment]) -> list[Segment]:
        """One result for each call of the message, in the order of the calls."""
        results = {
            item.event.call_id: item
            for item in self.agent.pending
            if item.kind == "tool_result" and isinstance(item.event, ToolCallComplete)
        }
        made: list[Segment] = []
        for call in message:
            if call.kind == "tool_call":
                item = results.get(call.meta["callId"])
                if item is not None and isinstance(item.event, ToolCallComplete):
                    made.append(seg.tool_result_segment(self.maker, item, item.event, self._where(item)))
                else:
                    made.append(seg.missing_result_segment(self.maker, call))
        return made

    def _where(self, item: Pending) -> str:
        """Where the text of a result stands that became an artifact."""
        loaded = [other.artifact for other in self.agent.pending if other.kind == "artifact"]
        own = item.artifact
        return FOLLOWS if any(own and other and other.hash == own.hash for other in loaded) else ABOVE

    def _missing_results(self, sent: Sequence[Segment]) -> list[Segment]:
        """Results of calls that were sent last without one; the log makes sure that there are none."""
        answered: set[str] = set()
        calls: list[Segment] = []
        spoken = False
        for index in range(len(sent) - 1, -1, -1):
            segment = sent[index]
            if spoken and segment.role != "assistant":
                break
            spoken = segment.role == "assistant"
            if segment.kind == "tool_result":
                answered.add(segment.meta["callId"])
            elif segment.kind == "tool_call":
                calls.append(segment)
        return self._results_for([call for call in reversed(calls) if call.meta["callId"] not in answered])

    def _unsent_summaries(self, sent: AppendList[Segment], made: Sequence[Segment]) -> list[Segment]:
        """Summaries of frames that returned and have no place of their own: nothing of them was sent."""
        if not self.agent.popped:
            return []
        there = {segment.id for segment in (*sent, *made)}
        summaries = [self._summary(one) for one in self.agent.popped]
        return [summary for summary in summaries if summary.id not in there]

    def _opened(self, sent: Sequence[Segment], said: Sequence[Segment]) -> list[Segment]:
        """What was said, with a fixed user block where nothing of the user stands before the model's turn to
        speak; loaded artifacts come behind it."""
        mine = [segment for segment in said if segment.kind != "artifact" and self._is_mine(segment)]
        last = mine[-1:] or sent[-1:]
        if _ends_with_user(last):
            return list(said)
        text = seg.CONTINUE if last and last[0].kind not in HEAD_KINDS else seg.CONVERSATION_STARTS
        end = len(said)
        while end and said[end - 1].kind == "artifact":
            end -= 1
        return [*said[:end], self._own("start", "injected", "user", text, label="nobody spoke"), *said[end:]]

    def _summary(self, popped: Popped) -> Segment:
        by_rules = self.policy.summaries == "rules"
        return return_summary(self.maker, self.playbook, popped, popped.sent, by_rules=by_rules)

    def _first_word(self, sent: Sequence[Segment], said: Sequence[Segment]) -> list[Segment]:
        """No provider takes a conversation that the model begins, as a raw stage can that nobody answered."""
        if sent or not said or said[0].role != "assistant":
            return []
        return [self._own("first", "injected", "user", seg.CONVERSATION_STARTS, label="nobody spoke")]

    # -- what the engine adds -----------------------------------------------------------------------------

    def _state_frame(self, now: Mapping[str, Any]) -> list[Segment]:
        known = self._known_state()
        frame = next_frame(
            known.base,
            now,
            number=known.number + 1,
            since_full=known.since_full,
            interval=self.policy.full_state_interval,
            compression=self.policy.state_compression,
            changed=self._changed_since(known) if self.policy.is_default("full_state_interval") else None,
        )
        if frame is None:
            return []
        full = isinstance(frame, FullState)
        label = f"state {frame.number}, {'complete' if full else f'changes to state {frame.number - 1}'}"
        meta = {"full": full, "number": frame.number, "since": 0 if full else known.since_full + 1}
        return [self._own("state", "state", "user", frame.text, label=label, meta=meta)]

    def _known_state(self) -> Known:
        """The state that the model knows. Where the newest frames left the window, with a stage that
        returned, those before them still hold."""
        agent = self.agent
        if agent.state_base is not None:
            return Known(agent.state_base, agent.state_number, agent.since_full)
        known = still_known([segment.text for segment in agent.segments if segment.kind == "state"])
        return known if known.base is not None else Known(None, agent.state_number)

    def _changed_since(self, known: Known) -> int:
        """Characters of the P-frames since the last I-frame; asked for where one falls due."""
        total = 0
        if known.since_full >= self.policy.full_state_interval:
            for segment in reversed(self.agent.segments):
                if segment.kind == "state" and segment.meta.get("full"):
                    break
                total += len(segment.text) if segment.kind == "state" else 0
        return total

    def _instructions(self, sent: AppendList[Segment]) -> list[Segment]:
        if self.policy.layout == "swap":
            return []
        last = last_stage(sent)
        visit = f"{self.frame.id}/{self.frame.visit}"
        if last is not None and not self.agent.header_due and last.meta.get("visit") == visit:
            return []
        prompt = seg.segment_hash("stage", "system", self.frame.prompt.strip(), {"name": self.stage.name})
        repeats = has_prompt(sent, prompt)
        text = instructions(
            self.playbook,
            self.stage,
            self.frame,
            self.policy,
            artifacts=self.artifacts,
            repeats=repeats,
        )
        meta = {"visit": visit, "prompt": prompt, "full": not repeats}
        label, sources = f"«{self.stage.name}»", (self.frame.entered_seq,)
        return [self._own("stage", "stage", "system", text, label=label, meta=meta, sources=sources)]

    def _tail(self, text: str | None) -> list[Segment]:
        if not text:
            return []
        return [self._own("tail", "tail", "system", text, label="tail line")]

    def _own(self, name: str, kind: str, role: str, text: str, **more: Any) -> Segment:
        more.setdefault("sources", (self.state.seq,))
        return self.maker.make(
            f"{self.prefix}.{name}", kind, role, text, frame=self.frame.id, stage=self.stage.id, **more
        )


_GAP_ORDER = {"tool_result": 0, "summary": 1, "dialogue": 2, "injected": 3, "artifact": 4}


def _in_gap_order(segments: Sequence[Segment]) -> list[Segment]:
    return sorted(segments, key=lambda segment: _GAP_ORDER.get(segment.kind, 5))


def _ends_with_user(segments: Sequence[Segment]) -> bool:
    return bool(segments) and segments[-1].kind not in HEAD_KINDS and segments[-1].role != "assistant"
