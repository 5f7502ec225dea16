"""A session played by hand: events in, windows out, with the guard on. No engine, no runner, no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from runtime.context.build import build_window
from runtime.context.cache_points import CachePlan, plan_cache_points
from runtime.context.compaction import Decision, Fitted, fit_window
from runtime.context.guard import prefix_violation
from runtime.context.models import ModelRecord, record
from runtime.context.policy import Policy, policy_for
from runtime.context.rewrites import Rewrite, plan_rewrites
from runtime.context.window import ContextWindow
from runtime.conversation import events as ev
from runtime.conversation.fold import apply
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import as_logged
from runtime.playbook import Playbook

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def playbook(**more: Any) -> Playbook:
    """Two stages and a callable one, one tool each; `more` replaces top-level fields."""
    document: dict[str, Any] = {
        "id": "bike-desk",
        "name": "Bike desk",
        "initialStage": "greet",
        "stages": [
            {"id": "greet", "name": "Greeting", "systemPrompt": "Welcome the rider."},
            {
                "id": "pick",
                "name": "Pick a bike",
                "systemPrompt": "Help to choose.",
                "tools": [tool("stock")],
            },
            {"id": "seat", "name": "Pick a seat", "systemPrompt": "Find a seat.", "tools": [tool("seats")]},
            {"id": "close", "name": "Goodbye", "kind": "end", "systemPrompt": "Thank the rider."},
        ],
        "transitions": [
            decision("t1", "greet", "pick", "The rider wants a bike"),
            decision("t2", "pick", "seat", "A seat is needed", mode="call"),
            decision("t3", "seat", None, "The seat is chosen", mode="return"),
            decision("t4", "pick", "close", "All is done"),
        ],
    }
    return Playbook.model_validate({**document, **more})


def tool(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"Looks up {name}",
        "parameters": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
    }


def decision(name: str, source: str, target: str | None, when: str, mode: str = "goto") -> dict[str, Any]:
    action: dict[str, Any] = {"mode": mode}
    if target:
        action["targetStage"] = target
    return {
        "id": name,
        "from": source,
        "condition": {"type": "llm_decision", "description": when},
        "action": action,
    }


@dataclass
class Talk:
    """One session. Every method adds the events that the engine would."""

    playbook: Playbook = field(default_factory=playbook)
    model: ModelRecord = field(default_factory=lambda: record("claude-sonnet-5"))
    now: datetime = START
    guarded: bool = True
    state: SessionState = field(default_factory=lambda: SessionState(session="s"))
    rewrites: list[Rewrite] = field(default_factory=list)
    windows: list[ContextWindow] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    over: int | None = None
    """The limit that the last window passes; None: it fits."""
    plans: list[CachePlan] = field(default_factory=list)
    log: list[ev.Event] = field(default_factory=list)

    def add(self, kind: type[Any], /, **fields: Any) -> Any:
        event = kind(
            seq=self.state.seq + 1,
            at=self.now,
            session="s",
            turn=fields.pop("turn", self.state.turn),
            **fields,
        )
        self.state = apply(self.state, event)
        self.log.append(event)
        return event

    def start(self, stage: str = "greet", variables: dict[str, Any] | None = None, agents: Any = ()) -> Talk:
        self.add(ev.SessionStarted, playbook="bike-desk", variables=variables or {}, agents=tuple(agents))
        self.add(ev.FramePushed, frame="f1", depth=0, caller="", stage=stage)
        return self.enter(stage, frame="f1")

    def enter(
        self, stage: str, frame: str | None = None, prompt: str | None = None, data: Any = None
    ) -> Talk:
        found = self.playbook.stage(stage)
        assert found is not None
        self.add(
            ev.StageEntered,
            stage=stage,
            frame=frame or self.frame,
            visit=self.state.visits + 1,
            prompt=found.system_prompt if prompt is None else prompt,
            data=data,
        )
        return self

    @property
    def frame(self) -> str:
        assert self.state.frame is not None
        return self.state.frame.id

    def user(self, text: str, injected: bool = False) -> Talk:
        self.add(ev.UserMessageEvent, text=text, injected=injected)
        return self

    def turn(self, text: str | None = None, cause: str = "message") -> Talk:
        number = self.state.turn + 1
        if text is not None:
            self.add(ev.UserMessageEvent, text=text, turn=number)
        assert self.state.frame is not None
        self.add(ev.TurnStarted, cause=cause, stage=self.state.frame.stage, turn=number)
        return self

    def policy(self) -> Policy:
        assert self.state.frame is not None
        stage = self.playbook.stage(self.state.frame.stage)
        return policy_for(self.playbook, stage, self.model)

    def ask(self, tail: str | None = None) -> ContextWindow:
        """Plans, logs and sends one request; the guard compares it with the lane's previous one."""
        policy = self.policy()
        before = self.state
        planned = list(plan_rewrites(self.playbook, self.state, self.model, policy))
        for rewrite in planned:
            self.add(ev.WindowRewritten, **rewrite.fields())
        fitted = self._fitted(policy, tail)
        self.over = fitted.limit
        for decision in fitted.decisions:
            self.decisions.append(decision)
            self.add(
                ev.CompactionPlanned,
                lane=decision.lane,
                rule=decision.rule,
                decision=decision.decision,
                numbers=dict(decision.numbers),
            )
            if decision.rewrite is not None:
                planned.append(decision.rewrite)
                self.add(ev.WindowRewritten, **decision.rewrite.fields())
        self.rewrites += planned
        window = fitted.window
        plan = plan_cache_points(window, self.state, self.model, policy, self.now)
        self._send(window, plan)
        if self.guarded and window.lane:
            self._guard(before, window.lane, planned)
        self.windows.append(window)
        self.plans.append(plan)
        return window

    def _fitted(self, policy: Policy, tail: str | None) -> Fitted:
        def rebuild(state: SessionState, longest: int | None) -> ContextWindow:
            return build_window(
                self.playbook, state, self.model, policy, tail=tail, now=self.now, longest=longest
            )

        return fit_window(self.playbook, self.state, self.model, policy, self.now, rebuild)

    def _send(self, window: ContextWindow, plan: CachePlan) -> None:
        self.add(
            ev.LLMCallStarted,
            call=self.state.calls + 1,
            lane=window.lane,
            phase=1,
            stage=window.stage,
            frame=window.frame,
            provider=self.model.provider,
            model=self.model.id,
            layout=window.layout,
            added=window.segments[len(window.segments) - window.added :] if window.lane else (),
            **as_logged(self.state.windows, window.lane, window.segments),
            cache_points=plan.points,
            predicted=plan.predicted,
            empty_state=window.empty_state,
        )

    def _guard(self, before: SessionState, lane: str, planned: Any) -> None:
        requests = self.state.windows.lane(lane)
        if len(requests) < 2:
            return
        segments = list(before.windows.agent().segments)
        starts = [i for i, s in enumerate(segments) if s.id in {rewrite.from_segment for rewrite in planned}]
        violation = prefix_violation(requests[-2], requests[-1], min(starts) if starts else None)
        assert violation is None, violation

    def says(self, text: str = "", calls: Any = (), thinking: str = "", usage: Usage | None = None) -> Talk:
        """The model's message that ends the call in flight."""
        replay = (
            (
                ReplayBlock(
                    provider=self.model.provider,
                    position=0,
                    text=thinking,
                    block={"type": "thinking", "thinking": thinking, "signature": "s1"},
                ),
            )
            if thinking
            else ()
        )
        message = AssistantMessage(text=text, tool_calls=tuple(calls), replay=replay, stop="end_turn")
        self.add(ev.LLMCallCompleted, call=self.state.calls, message=message, usage=usage)
        return self

    def result(self, call_id: str, name: str, result: Any = None, error: str | None = None) -> Talk:
        self.add(
            ev.ToolCallComplete,
            call_id=call_id,
            tool_name=name,
            success=error is None,
            result=result,
            error=error,
        )
        return self

    def end(self, text: str = "") -> Talk:
        assert self.state.frame is not None
        stage = self.state.frame.stage
        if text:
            self.add(ev.Phase2Complete, stage=stage, text=text)
        self.add(ev.TurnComplete, stage=stage, text=text)
        return self

    def exchange(self, text: str, reply: str) -> Talk:
        """A whole turn without tools."""
        self.turn(text)
        self.ask()
        return self.says(reply).end(reply)

    def call_frame(self, stage: str, frame: str) -> Talk:
        """A rule of mode `call` fires: a frame is pushed and its stage entered."""
        self.add(ev.FramePushed, frame=frame, depth=len(self.state.frames), caller=self.frame, stage=stage)
        return self.enter(stage, frame=frame)

    def pop(self, value: Any = None, summary: str | None = None, reason: str = "return") -> Talk:
        frame = self.state.frame
        assert frame is not None
        self.add(
            ev.FramePopped, frame=frame.id, stage=frame.stage, value=value, summary=summary, reason=reason
        )
        return self

    def set(self, **variables: Any) -> Talk:
        self.add(ev.StateChanged, set=variables, cause="user")
        return self

    def delete(self, *names: str) -> Talk:
        self.add(ev.StateChanged, deleted=names, cause="user")
        return self

    def wait(self, seconds: float) -> Talk:
        self.now += timedelta(seconds=seconds)
        return self


def call(call_id: str, name: str = "stock", **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def kinds(window: ContextWindow) -> list[str]:
    return [segment.kind for segment in window.segments]


def of_kind(window: ContextWindow, kind: str) -> list[Segment]:
    return [segment for segment in window.segments if segment.kind == kind]


def texts(window: ContextWindow, kind: str) -> list[str]:
    return [segment.text for segment in of_kind(window, kind)]
