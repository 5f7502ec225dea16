"""The fold: what one event makes of a state. Nothing is decided here and nothing is computed from a playbook.

`apply_to` is the only way a SessionState comes about, so a state can always be rebuilt from its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from runtime.conversation import artifacts as art
from runtime.conversation import events as ev
from runtime.conversation import window_fold as windows
from runtime.conversation.events import Event, EventBase
from runtime.conversation.folding import Folding, copied
from runtime.conversation.messages import Usage
from runtime.conversation.state import (
    ACTION_CALL,
    CallRecord,
    Frame,
    Moving,
    RunningTurn,
    SessionState,
)

_REMEMBERED_CLIENT_IDS = 200
_OWN_TOOLS = ("playbook_transition", "SaveArtifact", "LoadArtifact")


def fold(session: str, events: Iterable[Event], state: SessionState | None = None) -> SessionState:
    """The state after all of `events`, in order, starting from `state` or from a new session."""
    folding = Folding(state if state is not None else SessionState(session=session))
    for event in events:
        apply_to(folding, event)
    return folding.state


def apply(state: SessionState, event: Event) -> SessionState:
    """The state after `event`; `state` stays as it is. Raises ValueError if its `seq` is not the next one."""
    folding = Folding(state)
    apply_to(folding, event)
    return folding.state


def apply_to(folding: Folding, event: Event) -> None:
    """Change the state in the making by `event`. Raises ValueError if its `seq` is not the next one."""
    state = folding.state
    if event.seq != state.seq + 1:
        raise ValueError(f"event {event.seq} cannot follow event {state.seq}: the log has a gap")
    for change in CHANGES[type(event)]:
        change(folding, event)
    state.seq = event.seq


def _session_started(folding: Folding, event: ev.SessionStarted) -> None:
    state = folding.state
    state.status, state.variables, state.agents = "idle", dict(event.variables), event.agents
    state.moving = Moving(
        transition=None, mode="goto", target=None, then="start", data=dict(event.data or {}), step="enter"
    )


def _session_using(folding: Folding, event: ev.SessionUsing) -> None:
    state = folding.state
    state.using_model = state.using_model if event.model is None else event.model or None
    state.using_layout = event.layout or state.using_layout
    state.using_policy = event.policy or state.using_policy


def _session_complete(folding: Folding, event: ev.SessionComplete) -> None:
    folding.state.status, folding.state.moving = "complete", None


def _user_message(folding: Folding, event: ev.UserMessageEvent) -> None:
    if event.injected:
        return
    state = folding.state
    if event.client_id is not None:
        state.client_ids = (*state.client_ids, event.client_id)[-_REMEMBERED_CLIENT_IDS:]
    if (running := folding.running()) is not None:
        running.user_text = event.text


def _turn_started(folding: Folding, event: ev.TurnStarted) -> None:
    _stop_waiting(folding, event)
    state = folding.state
    state.status = "running"
    if event.cause == "retry" and state.failed is not None:
        state.running = _taken_up(state.failed, event)
    else:
        state.turn = event.turn
        state.running = RunningTurn(
            number=event.turn,
            cause=event.cause,
            started_at=event.at,
            started_seq=event.seq,
            transitions=state.chain if event.cause in ("speak_on_enter", "raw") else 0,
        )
    state.failed = None


def _taken_up(failed: RunningTurn, event: ev.TurnStarted) -> RunningTurn:
    """The failed turn as it stood, with its time limits counted anew."""
    taken_up = copied(failed)
    taken_up.call, taken_up.started_at = None, event.at
    taken_up.phase1_started_at = event.at if failed.phase1_started_at is not None else None
    return taken_up


def _stop_waiting(folding: Folding, event: Event) -> None:
    frame = folding.state.frame
    if frame is not None and frame.idle_since is not None and (top := folding.top()) is not None:
        top.idle, top.idle_since = frame.idle + (event.at - frame.idle_since), None


def _turn_ended(folding: Folding, event: ev.TurnComplete | ev.TurnInterrupted | ev.TurnFailed) -> None:
    state = folding.state
    state.chain = state.running.transitions if state.running is not None else 0
    state.status, state.running, state.moving = "idle", None, None
    if (top := folding.top()) is not None:
        top.idle_since = top.last_activity = event.at


def _turn_interrupted(folding: Folding, event: ev.TurnInterrupted) -> None:
    running = folding.state.running
    if running is not None and not running.replied and (event.shown_text or any(running.shown)):
        _count(folding)
    goes_on = _can_go_on(running, event)
    _turn_ended(folding, event)
    folding.state.failed = running if goes_on else None


def _turn_failed(folding: Folding, event: ev.TurnFailed) -> None:
    running = folding.state.running
    _turn_ended(folding, event)
    folding.state.failed = running if event.retryable else None


def _can_go_on(running: RunningTurn | None, event: ev.TurnInterrupted) -> bool:
    """A turn that nobody stopped and that showed nothing can be taken up again, like a failed one."""
    if running is None or running.replied or event.reason not in ("process_died", "timeout"):
        return False
    return not event.shown_text and not any(running.shown)


def _count(folding: Folding) -> None:
    """A turn is a user's message with an answer: what a stage says by itself does not count."""
    running = folding.state.running
    if running is not None and running.cause in ("message", "retry") and (top := folding.top()) is not None:
        top.turn_count += 1


def _phase1_started(folding: Folding, event: ev.Phase1Start) -> None:
    if (running := folding.running()) is not None:
        running.phase, running.phase1_started_at = 1, running.phase1_started_at or event.at


def _phase1_completed(folding: Folding, event: ev.Phase1Complete) -> None:
    if event.reason not in ("text", "transition") and (running := folding.running()) is not None:
        running.closed_at = running.requests


def _phase2_started(folding: Folding, event: ev.Phase2Start) -> None:
    if (running := folding.running()) is not None:
        running.phase, running.phase1_started_at = 2, running.phase1_started_at or event.at


def _phase2_completed(folding: Folding, event: ev.Phase2Complete) -> None:
    if (running := folding.running()) is not None:
        running.replied, running.replied_stage = True, event.stage
        _count(folding)


def _call_started(folding: Folding, event: ev.LLMCallStarted) -> None:
    folding.state.calls = max(folding.state.calls, event.call)
    if event.phase != 0 and (running := folding.running()) is not None:
        running.call = event.call


def _call_completed(folding: Folding, event: ev.LLMCallCompleted) -> None:
    state, message = folding.state, event.message
    state.calls = max(state.calls, event.call)
    running = folding.running()
    if running is None:
        return
    _pay(running, event)
    if _is_beside(state, event.call):
        return
    if running.phase == 2 and message.text:
        running.shown = (*running.shown, message.text)
    running.call, running.pending, running.started = None, message.tool_calls, ()
    running.requests += 1
    running.calls_here += len(message.tool_calls)


def _call_failed(folding: Folding, event: ev.LLMCallFailed) -> None:
    # Its number is spent, also where it was refused before it began: no two calls have one.
    folding.state.calls = max(folding.state.calls, event.call)
    if (running := folding.running()) is not None:
        running.call = None
        if event.usage is not None:
            _pay(running, event)


def _is_beside(state: SessionState, call: int) -> bool:
    """Whether that call is no part of the turn's two phases: a classifier's. It says nothing in the turn."""
    opened = state.windows.open_call
    return opened is not None and opened.call == call and opened.phase == 0


def _pay(running: RunningTurn, event: ev.LLMCallCompleted | ev.LLMCallFailed) -> None:
    """The turn's sums with this call's."""
    known = running.cost is not None and event.cost is not None
    running.cost = (running.cost or 0.0) + (event.cost or 0.0) if known else None
    running.usage = _sum(running.usage, event.usage)


def _sum(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return one + other


def _tool_started(folding: Folding, event: ev.ToolCallStart) -> None:
    if event.call_id.startswith(ACTION_CALL):
        if (moving := folding.moving()) is not None:
            moving.waiting, moving.waiting_since = event.call_id, event.at
    elif (running := folding.running()) is not None:
        running.started = (*running.started, event.call_id)


def _tool_completed(folding: Folding, event: ev.ToolCallComplete) -> None:
    if event.call_id.startswith(ACTION_CALL):
        return _action_done(folding)
    if (running := folding.running()) is None:
        return None
    if event.tool_name in _OWN_TOOLS:
        running.refused_moves += not event.success
    else:
        running.records = (*running.records, _record(running, event))
        running.tool_calls += 1
    running.pending = tuple([call for call in running.pending if call.call_id != event.call_id])
    running.started = tuple([started for started in running.started if started != event.call_id])
    return None


def _record(running: RunningTurn, event: ev.ToolCallComplete) -> CallRecord:
    call = next((call for call in running.pending if call.call_id == event.call_id), None)
    return CallRecord(
        name=event.tool_name,
        arguments=call.arguments if call is not None else None,
        ran=event.call_id in running.started,
        success=event.success,
        result=event.result,
        error=event.error,
    )


def _action_done(folding: Folding) -> None:
    if (moving := folding.moving()) is not None:
        moving.done, moving.waiting = moving.done + 1, None


def _transition_triggered(folding: Folding, event: ev.TransitionTriggered) -> None:
    running = folding.running()
    then: Literal["reply", "after", "idle"] = "idle"
    if running is not None:
        then = "after" if running.replied else "reply"
        running.transitions += 1
        running.spent = len(running.records)
    elif event.transition and (top := folding.top()) is not None:
        top.fired_rules = (*top.fired_rules, event.transition)
    folding.state.moving = Moving(
        transition=event.transition,
        mode=event.mode,
        target=event.to_stage,
        then=then,
        data=dict(event.data or {}),
        summary=event.summary,
        reason=event.reason,
        step="enter" if event.mode == "call" else "exit",
    )


def _transition_refused(folding: Folding, event: ev.TransitionRefused) -> None:
    if event.transition is None or folding.state.running is not None:
        return
    if (top := folding.top()) is not None:
        top.refused_rules = (*top.refused_rules, event.transition)


def _stage_exited(folding: Folding, event: ev.StageExited) -> None:
    if folding.state.frame is None or (moving := folding.moving()) is None:
        return
    moving.step, moving.done, moving.waiting = "enter", 0, None
    if moving.mode != "return" and (top := folding.top()) is not None:
        top.data = {**top.data, **moving.data}


def _frame_pushed(folding: Folding, event: ev.FramePushed) -> None:
    _stop_waiting(folding, event)
    state = folding.state
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
        frame.callers_variables, frame.callers_artifacts = state.variables, state.artifacts
        state.artifacts = art.handed_over(state.artifacts, frame.data)
        state.variables, state.agents = event.variables, (*state.agents, event.agent)
        state.agents_called += 1
    state.frames = (*state.frames, frame)
    state.frames_opened += 1


def _stage_entered(folding: Folding, event: ev.StageEntered) -> None:
    state = folding.state
    old = state.frame
    frame = Frame(
        id=event.frame,
        depth=old.depth if old is not None else 0,
        stage=event.stage,
        visit=event.visit,
        entered_at=event.at,
        entered_seq=event.seq,
        prompt=event.prompt,
        descriptions=event.descriptions,
        data=dict(event.data or {}),
        caller=old.caller if old is not None else None,
        agent=old.agent if old is not None else None,
        playbook=old.playbook if old is not None else None,
        callers_variables=old.callers_variables if old is not None else None,
        callers_artifacts=old.callers_artifacts if old is not None else None,
        idle_since=event.at if state.running is None else None,
    )
    state.frames = (*state.frames[:-1], frame)
    state.frames_opened += old is None
    state.visits, state.moving = event.visit, None
    _begin_visit(folding)


def _begin_visit(folding: Folding) -> None:
    """The turn goes on in another visit: requests, calls and the closed tool loop belong to the visit. So it
    is with a failed turn, which a timer moved on while nobody took it up."""
    state = folding.state
    turn = folding.running()
    if turn is None and state.failed is not None:
        turn = state.failed = copied(state.failed)
        turn.spent = len(turn.records)
    if turn is not None:
        turn.phase, turn.requests, turn.calls_here, turn.closed_at = 0, 0, 0, None


def _frame_popped(folding: Folding, event: ev.FramePopped) -> None:
    state = folding.state
    popped = state.frame
    state.frames, state.moving = state.frames[:-1], None
    if popped is not None:
        _agent_left(state, popped, event)
    if (top := folding.top()) is None:
        return
    if isinstance(event.value, dict):
        top.data = {**top.data, **event.value}
    top.idle_since = event.at if state.running is None else None
    _begin_visit(folding)


def _agent_left(state: SessionState, popped: Frame, event: ev.FramePopped) -> None:
    """An agent whose first frame is popped was the last to come; it goes, with its variables and artifacts
    but those that its value refers to. The caller's are back."""
    if popped.callers_variables is not None:
        brought = art.handed_over(state.artifacts, event.value)
        state.variables, state.agents = popped.callers_variables, state.agents[:-1]
        state.artifacts = {**brought, **(popped.callers_artifacts or {})}


def _state_changed(folding: Folding, event: ev.StateChanged) -> None:
    variables = {**folding.state.variables, **event.set}
    for name in event.deleted:
        variables.pop(name, None)
    folding.state.variables = variables
    folding.state.artifacts = art.with_variables(folding.state.artifacts, event.set, event.deleted)
    if event.cause in ("on_enter", "on_exit"):
        _action_done(folding)


def _artifact_saved(folding: Folding, event: ev.ArtifactSaved) -> None:
    ref = art.ArtifactRef(
        name=event.name,
        summary=event.summary,
        kind=event.kind,
        length=event.length,
        hash=event.hash,
        content=event.content,
    )
    folding.state.artifacts = {**folding.state.artifacts, event.name: ref}


def _artifact_loaded(folding: Folding, event: ev.ArtifactLoaded) -> None:
    folding.state.artifacts = art.with_loaded(folding.state.artifacts, event.name, event.frame)


def _artifact_unloaded(folding: Folding, event: ev.ArtifactUnloaded) -> None:
    folding.state.artifacts = art.with_loaded(folding.state.artifacts, event.name, None)


Change = Callable[[Folding, Any], None]

CHANGES: Final[Mapping[type[EventBase], tuple[Change, ...]]] = {
    ev.SessionStarted: (_session_started,),
    ev.SessionUsing: (_session_using,),
    ev.SessionComplete: (_session_complete,),
    ev.UserMessageEvent: (windows.user_message, _user_message),
    ev.TurnStarted: (windows.turn_started, _turn_started),
    ev.Phase1Start: (_phase1_started,),
    ev.Phase1Complete: (_phase1_completed,),
    ev.Phase2Start: (_phase2_started,),
    ev.Phase2Complete: (windows.reply_given, _phase2_completed),
    ev.TurnComplete: (windows.turn_ended, _turn_ended),
    ev.TurnInterrupted: (windows.turn_interrupted, _turn_interrupted),
    ev.TurnFailed: (windows.turn_ended, _turn_failed),
    ev.LLMCallStarted: (windows.call_started, _call_started),
    # The turn asks the windows which call is in flight.
    ev.LLMCallCompleted: (_call_completed, windows.call_completed),
    ev.LLMCallFailed: (windows.call_failed, _call_failed),
    ev.ToolCallStart: (_tool_started,),
    ev.ToolCallComplete: (windows.tool_result, _tool_completed),
    ev.TransitionTriggered: (windows.transition, _transition_triggered),
    ev.TransitionRefused: (_transition_refused,),
    ev.StageExited: (_stage_exited,),
    ev.StageEntered: (windows.stage_entered, _stage_entered),
    # A frame's window opens and closes while the state still shows who called.
    ev.FramePushed: (windows.frame_pushed, _frame_pushed),
    ev.FramePopped: (windows.frame_popped, _frame_popped),
    ev.StateChanged: (windows.state_changed, _state_changed),
    ev.WindowRewritten: (windows.window_rewritten,),
    ev.SummaryWritten: (windows.summary_written,),
    ev.ArtifactSaved: (_artifact_saved,),
    ev.ArtifactLoaded: (windows.artifact_loaded, _artifact_loaded),
    ev.ArtifactUnloaded: (_artifact_unloaded,),
    ev.TransitionEvaluated: (),
    ev.CachePlanned: (),
    ev.CompactionPlanned: (),
    ev.IntentClassified: (),
    ev.ToolChoiceUnmet: (),
    ev.LLMCallRetry: (),
    ev.TextWithdrawn: (),
    ev.ApprovalRequested: (),
    ev.ApprovalAnswered: (),
}
"""What each event changes, in order. The windows first, as a rule: they look at the state before it."""
