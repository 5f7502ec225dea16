"""The fold: what one event makes of a state. Nothing is decided here and nothing is computed from a playbook.

`apply` is the only way a SessionState comes about, so a state can always be rebuilt from its log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, assert_never

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.evolving import evolve
from runtime.conversation.messages import Usage
from runtime.conversation.state import (
    ACTION_CALL,
    ArtifactRef,
    CallRecord,
    Frame,
    Moving,
    RunningTurn,
    SessionState,
)
from runtime.conversation.window_fold import fold_windows

_REMEMBERED_CLIENT_IDS = 200
_TRANSITION_TOOL = "playbook_transition"
_NEW_VISIT = {"phase": 0, "requests": 0, "calls_here": 0, "closed_at": None}


def fold(session: str, events: Iterable[Event], state: SessionState | None = None) -> SessionState:
    """The state after all of `events`, in order, starting from `state` or from a new session."""
    current = state if state is not None else SessionState(session=session)
    for event in events:
        current = apply(current, event)
    return current


def apply(state: SessionState, event: Event) -> SessionState:
    """The state after `event`. Raises ValueError if its `seq` is not the next one."""
    if event.seq != state.seq + 1:
        raise ValueError(f"event {event.seq} cannot follow event {state.seq}: the log has a gap")
    folded = _apply(state, event)
    windows = fold_windows(state.windows, state, event)
    entries = folded.entries.append(event) if _is_entry(event) else folded.entries
    if folded is state:
        return evolve(state, seq=event.seq, windows=windows, entries=entries)
    # A copy that nobody else has seen yet takes its last changes in place.
    folded.__dict__.update(seq=event.seq, windows=windows, entries=entries)
    return folded


_ENTRIES: frozenset[type] = frozenset(
    (
        ev.UserMessageEvent,
        ev.LLMCallCompleted,
        ev.StageEntered,
        ev.FramePushed,
        ev.FramePopped,
        ev.TurnComplete,
        ev.TurnInterrupted,
        ev.TurnFailed,
        ev.ArtifactSaved,
        ev.ArtifactLoaded,
        ev.ArtifactUnloaded,
    )
)


def _is_entry(event: Event) -> bool:
    if isinstance(event, ev.ToolCallComplete):
        return not event.call_id.startswith(ACTION_CALL)
    if isinstance(event, ev.TransitionTriggered):
        return event.clear_history
    return type(event) in _ENTRIES


def _apply(state: SessionState, event: Event) -> SessionState:  # noqa: C901  one arm per event
    match event:
        case ev.TransitionEvaluated() | ev.CachePlanned() | ev.CompactionPlanned() | ev.WindowRewritten():
            return state
        case ev.ToolCallStart():
            return _tool_started(state, event)
        case ev.ToolCallComplete():
            return _tool_completed(state, event)
        case ev.LLMCallStarted():
            return _call_started(state, event)
        case ev.LLMCallCompleted():
            return _call_completed(state, event)
        case ev.LLMCallFailed():
            return _call_failed(state, event)
        case ev.UserMessageEvent():
            return _user_message(state, event)
        case ev.TurnStarted():
            return _turn_started(state, event)
        case ev.Phase1Start():
            return _phase1_started(state, event)
        case ev.Phase1Complete():
            return _phase1_completed(state, event)
        case ev.Phase2Start():
            return _phase2_started(state, event)
        case ev.Phase2Complete():
            return _phase2_completed(state, event)
        case ev.TurnComplete():
            return _turn_ended(state, event)
        case ev.TurnInterrupted():
            ended = _turn_ended(_count_if_shown(state, event), event)
            return evolve(ended, failed=state.running if _can_go_on(state, event) else None)
        case ev.TurnFailed():
            return evolve(_turn_ended(state, event), failed=state.running if event.retryable else None)
        case ev.TransitionTriggered():
            return _transition_triggered(state, event)
        case ev.TransitionRefused():
            return _transition_refused(state, event)
        case ev.StageExited():
            return _stage_exited(state)
        case ev.StageEntered():
            return _stage_entered(state, event)
        case ev.FramePushed():
            return _frame_pushed(state, event)
        case ev.FramePopped():
            return _frame_popped(state, event)
        case ev.StateChanged():
            return _state_changed(state, event)
        case ev.ArtifactSaved():
            return _artifact_saved(state, event)
        case ev.ArtifactLoaded():
            return _artifact_moved(state, event.name, event.frame)
        case ev.ArtifactUnloaded():
            return _artifact_moved(state, event.name, None)
        case ev.SessionStarted():
            return _session_started(state, event)
        case ev.SessionUsing():
            return _session_using(state, event)
        case ev.SessionComplete():
            return evolve(state, status="complete", moving=None)
        case ev.IntentClassified() | ev.ToolChoiceUnmet() | ev.LLMCallRetry() | ev.TextWithdrawn():
            return state
        case ev.ApprovalRequested() | ev.ApprovalAnswered():
            return state
        case _:
            assert_never(event)


def _turn(state: SessionState, **changes: object) -> SessionState:
    if state.running is None:
        return state
    return evolve(state, running=evolve(state.running, **changes))


def _top(state: SessionState, **changes: object) -> SessionState:
    if not state.frames:
        return state
    top = evolve(state.frames[-1], **changes)
    return evolve(state, frames=(*state.frames[:-1], top))


def _session_started(state: SessionState, event: ev.SessionStarted) -> SessionState:
    moving = Moving(
        transition=None, mode="goto", target=None, then="start", data=dict(event.data or {}), step="enter"
    )
    return evolve(state, status="idle", variables=dict(event.variables), agents=event.agents, moving=moving)


def _session_using(state: SessionState, event: ev.SessionUsing) -> SessionState:
    return evolve(
        state,
        using_model=state.using_model if event.model is None else event.model or None,
        using_layout=event.layout or state.using_layout,
        using_policy=event.policy or state.using_policy,
    )


def _user_message(state: SessionState, event: ev.UserMessageEvent) -> SessionState:
    if event.injected:
        return state
    if event.client_id is not None:
        known = (*state.client_ids, event.client_id)[-_REMEMBERED_CLIENT_IDS:]
        state = evolve(state, client_ids=known)
    return _turn(state, user_text=event.text)


def _turn_started(state: SessionState, event: ev.TurnStarted) -> SessionState:
    state = _stop_waiting(state, event)
    if event.cause == "retry" and state.failed is not None:
        return evolve(state, status="running", running=_taken_up(state.failed, event), failed=None)
    running = RunningTurn(
        number=event.turn,
        cause=event.cause,
        started_at=event.at,
        started_seq=event.seq,
        transitions=state.chain if event.cause in ("speak_on_enter", "raw") else 0,
    )
    return evolve(state, status="running", running=running, turn=event.turn, failed=None)


def _taken_up(failed: RunningTurn, event: ev.TurnStarted) -> RunningTurn:
    """The failed turn as it stood, with its time limits counted anew."""
    phase1_started_at = event.at if failed.phase1_started_at is not None else None
    return evolve(failed, call=None, started_at=event.at, phase1_started_at=phase1_started_at)


def _stop_waiting(state: SessionState, event: Event) -> SessionState:
    frame = state.frame
    if frame is None or frame.idle_since is None:
        return state
    return _top(state, idle=frame.idle + (event.at - frame.idle_since), idle_since=None)


def _turn_ended(state: SessionState, event: Event) -> SessionState:
    chain = state.running.transitions if state.running is not None else 0
    state = evolve(state, status="idle", running=None, moving=None, chain=chain)
    return _top(state, idle_since=event.at, last_activity=event.at)


def _count_if_shown(state: SessionState, event: ev.TurnInterrupted) -> SessionState:
    running = state.running
    if running is None or running.replied or not (event.shown_text or any(running.shown)):
        return state
    return _count(state, running)


def _can_go_on(state: SessionState, event: ev.TurnInterrupted) -> bool:
    """A turn that nobody stopped and that showed nothing can be taken up again, like a failed one."""
    running = state.running
    if running is None or running.replied or event.reason not in ("process_died", "timeout"):
        return False
    return not event.shown_text and not any(running.shown)


def _count(state: SessionState, running: RunningTurn) -> SessionState:
    """A turn is a user's message with an answer: what a stage says by itself does not count."""
    frame = state.frame
    if frame is None or running.cause not in ("message", "retry"):
        return state
    return _top(state, turn_count=frame.turn_count + 1)


def _phase1_started(state: SessionState, event: ev.Phase1Start) -> SessionState:
    running = state.running
    if running is None:
        return state
    return _turn(state, phase=1, phase1_started_at=running.phase1_started_at or event.at)


def _phase1_completed(state: SessionState, event: ev.Phase1Complete) -> SessionState:
    if state.running is None or event.reason in ("text", "transition"):
        return state
    return _turn(state, closed_at=state.running.requests)


def _phase2_started(state: SessionState, event: ev.Phase2Start) -> SessionState:
    running = state.running
    if running is None:
        return state
    return _turn(state, phase=2, phase1_started_at=running.phase1_started_at or event.at)


def _phase2_completed(state: SessionState, event: ev.Phase2Complete) -> SessionState:
    if state.running is None:
        return state
    state = _turn(state, replied=True, replied_stage=event.stage)
    return _count(state, state.running) if state.running is not None else state


def _call_started(state: SessionState, event: ev.LLMCallStarted) -> SessionState:
    state = evolve(state, calls=max(state.calls, event.call))
    return _turn(state, call=event.call) if event.phase != 0 else state


def _call_completed(state: SessionState, event: ev.LLMCallCompleted) -> SessionState:
    state = evolve(state, calls=max(state.calls, event.call))
    running, message = state.running, event.message
    if running is None:
        return state
    if _is_beside(state, event.call):
        return _turn(state, **_paid(running, event))
    shown = (*running.shown, message.text) if running.phase == 2 and message.text else running.shown
    return _turn(
        state,
        call=None,
        pending=message.tool_calls,
        started=(),
        requests=running.requests + 1,
        calls_here=running.calls_here + len(message.tool_calls),
        shown=shown,
        **_paid(running, event),
    )


def _call_failed(state: SessionState, event: ev.LLMCallFailed) -> SessionState:
    running = state.running
    if running is None or event.usage is None:
        return _turn(state, call=None)
    return _turn(state, call=None, **_paid(running, event))


def _is_beside(state: SessionState, call: int) -> bool:
    """Whether that call is no part of the turn's two phases: a classifier's. It says nothing in the turn."""
    opened = state.windows.open_call
    return opened is not None and opened.call == call and opened.phase == 0


def _paid(running: RunningTurn, event: ev.LLMCallCompleted | ev.LLMCallFailed) -> dict[str, object]:
    """The turn's sums with this call's."""
    known = running.cost is not None and event.cost is not None
    return {
        "usage": _sum(running.usage, event.usage),
        "cost": (running.cost or 0.0) + (event.cost or 0.0) if known else None,
    }


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return one + other


def _tool_started(state: SessionState, event: ev.ToolCallStart) -> SessionState:
    if event.call_id.startswith(ACTION_CALL):
        moving = state.moving
        return state if moving is None else evolve(state, moving=evolve(moving, waiting=event.call_id))
    running = state.running
    return state if running is None else _turn(state, started=(*running.started, event.call_id))


def _tool_completed(state: SessionState, event: ev.ToolCallComplete) -> SessionState:
    if event.call_id.startswith(ACTION_CALL):
        return _action_done(state)
    running = state.running
    if running is None:
        return state
    call = next((call for call in running.pending if call.call_id == event.call_id), None)
    own = event.tool_name == _TRANSITION_TOOL
    record = CallRecord(
        name=event.tool_name,
        arguments=call.arguments if call is not None else None,
        ran=event.call_id in running.started,
        success=event.success,
        result=event.result,
        error=event.error,
    )
    return _turn(
        state,
        pending=tuple(call for call in running.pending if call.call_id != event.call_id),
        started=tuple(started for started in running.started if started != event.call_id),
        records=running.records if own else (*running.records, record),
        tool_calls=running.tool_calls + (0 if own else 1),
        refused_moves=running.refused_moves + (1 if own and not event.success else 0),
    )


def _action_done(state: SessionState) -> SessionState:
    moving = state.moving
    if moving is None:
        return state
    return evolve(state, moving=evolve(moving, done=moving.done + 1, waiting=None))


def _transition_triggered(state: SessionState, event: ev.TransitionTriggered) -> SessionState:
    running = state.running
    then: Literal["reply", "after", "idle"] = "idle"
    if running is not None:
        then = "after" if running.replied else "reply"
    moving = Moving(
        transition=event.transition,
        mode=event.mode,
        target=event.to_stage,
        then=then,
        data=dict(event.data or {}),
        summary=event.summary,
        reason=event.reason,
        step="enter" if event.mode == "call" else "exit",
    )
    state = evolve(state, moving=moving)
    if running is None:
        fired = state.frames[-1].fired_rules if state.frames else ()
        return _top(state, fired_rules=(*fired, event.transition)) if event.transition else state
    return _turn(state, transitions=running.transitions + 1, spent=len(running.records))


def _transition_refused(state: SessionState, event: ev.TransitionRefused) -> SessionState:
    frame = state.frame
    if frame is None or event.transition is None or state.running is not None:
        return state
    return _top(state, refused_rules=(*frame.refused_rules, event.transition))


def _stage_exited(state: SessionState) -> SessionState:
    frame, moving = state.frame, state.moving
    if frame is None or moving is None:
        return state
    state = evolve(state, moving=evolve(moving, step="enter", done=0, waiting=None))
    return state if moving.mode == "return" else _top(state, data={**frame.data, **moving.data})


def _frame_pushed(state: SessionState, event: ev.FramePushed) -> SessionState:
    state = _stop_waiting(state, event)
    frame = Frame(
        id=event.frame,
        depth=event.depth,
        stage=event.stage,
        visit=0,
        entered_at=event.at,
        entered_seq=event.seq,
        prompt="",
        data=state.moving.data if state.moving is not None else {},
        caller=event.caller,
        agent=event.agent,
        playbook=event.playbook,
    )
    if event.variables is not None and event.agent is not None:
        frame = evolve(frame, callers_variables=state.variables)
        state = evolve(
            state,
            variables=event.variables,
            agents=(*state.agents, event.agent),
            agents_called=state.agents_called + 1,
        )
    return evolve(state, frames=(*state.frames, frame), frames_opened=state.frames_opened + 1)


def _stage_entered(state: SessionState, event: ev.StageEntered) -> SessionState:
    old = state.frame
    frame = Frame(
        id=event.frame,
        depth=old.depth if old is not None else 0,
        stage=event.stage,
        visit=event.visit,
        entered_at=event.at,
        entered_seq=event.seq,
        prompt=event.prompt,
        data=dict(event.data or {}),
        caller=old.caller if old is not None else None,
        agent=old.agent if old is not None else None,
        playbook=old.playbook if old is not None else None,
        callers_variables=old.callers_variables if old is not None else None,
        idle_since=event.at if state.running is None else None,
    )
    opened = state.frames_opened if old is not None else state.frames_opened + 1
    state = evolve(
        state, frames=(*state.frames[:-1], frame), visits=event.visit, frames_opened=opened, moving=None
    )
    return _begin_visit(state)


def _begin_visit(state: SessionState) -> SessionState:
    """The turn goes on in another visit: requests, calls and the closed tool loop belong to the visit. So it
    is with a failed turn, which a timer moved on while nobody took it up."""
    if state.running is None and state.failed is not None:
        return evolve(state, failed=evolve(state.failed, **_NEW_VISIT, spent=len(state.failed.records)))
    return _turn(state, **_NEW_VISIT)


def _frame_popped(state: SessionState, event: ev.FramePopped) -> SessionState:
    state = _agent_left(evolve(state, frames=state.frames[:-1], moving=None), state.frame)
    caller = state.frame
    if caller is None:
        return state
    if isinstance(event.value, dict):
        state = _top(state, data={**caller.data, **event.value})
    state = _top(state, idle_since=event.at if state.running is None else None)
    return _begin_visit(state)


def _agent_left(state: SessionState, popped: Frame | None) -> SessionState:
    """An agent whose first frame is popped goes, with its variables; the caller's come back."""
    if popped is None or popped.callers_variables is None:
        return state
    agents = tuple(agent for agent in state.agents if agent != popped.agent)
    return evolve(state, variables=popped.callers_variables, agents=agents)


def _state_changed(state: SessionState, event: ev.StateChanged) -> SessionState:
    variables = {**state.variables, **event.set}
    for name in event.deleted:
        variables.pop(name, None)
    state = evolve(state, variables=variables)
    return _action_done(state) if event.cause in ("on_enter", "on_exit") else state


def _artifact_saved(state: SessionState, event: ev.ArtifactSaved) -> SessionState:
    ref = ArtifactRef(
        name=event.name, summary=event.summary, kind=event.kind, length=event.length, hash=event.hash
    )
    return evolve(state, artifacts={**state.artifacts, event.name: ref})


def _artifact_moved(state: SessionState, name: str, frame: str | None) -> SessionState:
    ref = state.artifacts.get(name)
    if ref is None:
        return state
    return evolve(state, artifacts={**state.artifacts, name: replace(ref, loaded_in=frame)})
