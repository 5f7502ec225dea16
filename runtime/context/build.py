"""build_window: what the model will see, as a pure function of playbook, state, model and policy.

A window is the segments already sent, byte for byte, and what this request adds behind them, in this order:
what was said since (replies, tool results, summaries, user text, injected messages), the state frame, the
stage's instructions, the tail line (context.md, "Layout"). What changes earlier text is decided in
`rewrites.py` and was applied to the state before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from runtime.context import segments as seg
from runtime.context.artifacts import ABOVE, FOLLOWS, artifact_segment
from runtime.context.head import head_segments, instructions, offers_artifacts, window_tools
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker
from runtime.context.state_frames import FullState, next_frame
from runtime.context.summaries import return_summary
from runtime.context.window import ContextWindow
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
from runtime.conversation.windows import ROOT_AGENT, AgentWindow, Pending, lane_of
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
) -> ContextWindow:
    """The window of the next request of the current frame. `tail` is a line for the end of this request.

    Same inputs, same bytes. `now` is for a playbook that shows the clock; nothing else may depend on it.
    Raises ValueError if the session has not entered a stage of this playbook.
    """
    frame = state.frame
    stage = playbook.stage(frame.stage) if frame else None
    if frame is None or stage is None:
        raise ValueError("a window needs a session that has entered a stage of its playbook")
    if stage.kind == "raw":
        return _raw_window(playbook, state, model, stage, frame)
    return _Builder(playbook, state, model, policy, stage, frame).build(tail)


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
    ) -> None:
        self.playbook, self.state, self.model, self.policy = playbook, state, model, policy
        self.stage, self.frame = stage, frame
        self.agent_name = frame.agent or ROOT_AGENT
        self.agent: AgentWindow = state.windows.agent(self.agent_name)
        self.maker = SegmentMaker(model)
        self.model_key = f"{model.provider}/{model.id}"
        self.prefix = f"c{state.calls + 1}"
        self.artifacts = offers_artifacts(state, policy)

    def build(self, tail: str | None) -> ContextWindow:
        sent = [segment for segment in self.agent.segments if self._is_mine(segment)]
        head = [] if sent else list(head_segments(self.maker, self.playbook, self.state, self.policy))
        said = self._said(sent)
        frame = self._state_frame()
        added = [*head, *said, *frame, *self._instructions(sent), *self._tail(tail)]
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
            state_snapshot=snapshot(self.state),
        )

    def _is_mine(self, segment: Segment) -> bool:
        """Thinking of another model is left out: it could not be verified there. So are stages in `swap`."""
        if segment.kind == "thinking":
            return bool(segment.meta.get("model") == self.model_key)
        return not (segment.kind == "stage" and self.policy.layout == "swap")

    # -- what was said ------------------------------------------------------------------------------------

    def _said(self, sent: Sequence[Segment]) -> list[Segment]:
        """Everything pending in order; within one gap between replies: results, summaries, user, injected."""
        made: list[Segment] = []
        gap: list[Segment] = [*self._missing_results(sent)]
        for item in self.agent.pending:
            if item.kind == "returned":
                made, gap = self._after_agent(item, made, gap)
                continue
            segments = self._segments_of(item, [*sent, *made, *gap])
            if segments and segments[0].role == "assistant":
                made += _in_gap_order(gap)
                gap = []
                made += segments
                gap += self._results_for(segments)
            else:
                gap += segments
        gap += self._unsent_summaries([*sent, *made, *gap])
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
        summaries = [return_summary(self.maker, self.playbook, one, one.sent) for one in popped]
        return [*made, *_in_gap_order(closed)], [*summaries, *waiting]

    def _segments_of(self, item: Pending, before: Sequence[Segment]) -> list[Segment]:
        event = item.event
        if isinstance(event, UserMessageEvent):
            return [seg.user_segment(self.maker, item, event)]
        if isinstance(event, LLMCallCompleted):
            return seg.assistant_segments(self.maker, item, event, self.model_key)
        if isinstance(event, ArtifactLoaded) and item.artifact is not None:
            return [artifact_segment(self.maker, item, item.artifact, event, self.policy.artifact_preview)]
        if item.kind == "interrupted" and isinstance(event, TurnInterrupted):
            return [seg.interrupted_segment(self.maker, item, event)]
        if item.kind == "no_reply" and self._next_message_came(item) and _ends_with_user(before):
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
        """Results of calls that were sent without one; the log makes sure that there are none."""
        answered = {segment.meta["callId"] for segment in sent if segment.kind == "tool_result"}
        calls = [s for s in sent if s.kind == "tool_call" and s.meta["callId"] not in answered]
        return self._results_for(calls)

    def _unsent_summaries(self, before: Sequence[Segment]) -> list[Segment]:
        """Summaries of frames that returned and have no place of their own: nothing of them was sent."""
        there = {segment.id for segment in before}
        made = [
            return_summary(self.maker, self.playbook, popped, popped.sent) for popped in self.agent.popped
        ]
        return [summary for summary in made if summary.id not in there]

    def _opened(self, sent: Sequence[Segment], said: Sequence[Segment]) -> list[Segment]:
        """What was said, with a fixed user block where nothing of the user stands before the model's turn to
        speak; loaded artifacts come behind it."""
        silent = ("tools", "base", "artifact")
        conversation = [s for s in (*sent, *said) if s.kind not in silent and self._is_mine(s)]
        if conversation and conversation[-1].role != "assistant":
            return list(said)
        text = seg.CONTINUE if conversation else seg.CONVERSATION_STARTS
        end = len(said)
        while end and said[end - 1].kind == "artifact":
            end -= 1
        return [*said[:end], self._own("start", "injected", "user", text, label="nobody spoke"), *said[end:]]

    def _first_word(self, sent: Sequence[Segment], said: Sequence[Segment]) -> list[Segment]:
        """No provider takes a conversation that the model begins, as a raw stage can that nobody answered."""
        if sent or not said or said[0].role != "assistant":
            return []
        return [self._own("first", "injected", "user", seg.CONVERSATION_STARTS, label="nobody spoke")]

    # -- what the engine adds -----------------------------------------------------------------------------

    def _state_frame(self) -> list[Segment]:
        frame = next_frame(
            self.agent.state_base,
            snapshot(self.state),
            number=self.agent.state_number + 1,
            since_full=self.agent.since_full,
            interval=self.policy.full_state_interval,
            compression=self.policy.state_compression,
        )
        if frame is None:
            return []
        full = isinstance(frame, FullState)
        label = f"state {frame.number}, {'complete' if full else f'changes to state {frame.number - 1}'}"
        meta = {"full": full, "number": frame.number}
        return [self._own("state", "state", "user", frame.text, label=label, meta=meta)]

    def _instructions(self, sent: Sequence[Segment]) -> list[Segment]:
        if self.policy.layout == "swap":
            return []
        stages = [segment for segment in sent if segment.kind == "stage"]
        visit = f"{self.frame.id}/{self.frame.visit}"
        if stages and not self.agent.header_due and stages[-1].meta.get("visit") == visit:
            return []
        prompt = seg.segment_hash("stage", "system", self.frame.prompt.strip(), {"name": self.stage.name})
        repeats = any(s.meta.get("full") and s.meta.get("prompt") == prompt for s in stages)
        text = instructions(
            self.playbook,
            self.stage,
            self.frame,
            self.policy,
            artifacts=self.artifacts,
            repeats=repeats,
        )
        meta = {"visit": visit, "prompt": prompt, "full": not repeats}
        segment = self._own("stage", "stage", "system", text, label=f"«{self.stage.name}»", meta=meta)
        return [segment.model_copy(update={"sources": (self.frame.entered_seq,)})]

    def _tail(self, text: str | None) -> list[Segment]:
        if not text:
            return []
        return [self._own("tail", "tail", "system", text, label="tail line")]

    def _own(self, name: str, kind: str, role: str, text: str, **more: object) -> Segment:
        made = self.maker.make(
            f"{self.prefix}.{name}",
            kind,
            role,
            text,
            sources=(self.state.seq,),
            frame=self.frame.id,
            stage=self.stage.id,
            label=str(more.get("label", "")),
        )
        meta = more.get("meta")
        if not isinstance(meta, dict):
            return made
        digest = seg.segment_hash(kind, role, made.text, meta)
        return made.model_copy(update={"meta": meta, "hash": digest})


_GAP_ORDER = {"tool_result": 0, "summary": 1, "dialogue": 2, "injected": 3, "artifact": 4}


def _in_gap_order(segments: Sequence[Segment]) -> list[Segment]:
    return sorted(segments, key=lambda segment: _GAP_ORDER.get(segment.kind, 5))


def _ends_with_user(segments: Sequence[Segment]) -> bool:
    conversation = [segment for segment in segments if segment.kind not in ("tools", "base")]
    return bool(conversation) and conversation[-1].role != "assistant"
