"""How the log's events change what windows are built from. One small function per kind of event.

Rule: applies, never decides. `state` is always the state before the event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runtime.conversation.appendlist import AppendList
from runtime.conversation.artifacts import ArtifactRef, names_in
from runtime.conversation.events import (
    ArtifactLoaded,
    Event,
    FramePopped,
    FramePushed,
    LLMCallCompleted,
    LLMCallFailed,
    LLMCallStarted,
    Phase2Complete,
    StageEntered,
    StateChanged,
    ToolCallComplete,
    TransitionTriggered,
    TurnComplete,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UserMessageEvent,
    WindowRewritten,
)
from runtime.conversation.evolving import evolve
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import is_private, snapshot
from runtime.conversation.windows import (
    ROOT_AGENT,
    AgentWindow,
    Cleared,
    OpenCall,
    Pending,
    Popped,
    SentRequest,
    TurnTrace,
    Windows,
    agent_of,
    window_sent,
)

if TYPE_CHECKING:
    from runtime.conversation.state import SessionState

Fold = Callable[[Windows, "SessionState", Any], Windows]


def fold_windows(windows: Windows, state: SessionState, event: Event) -> Windows:
    """The windows after `event`; `state` is the session's state before it. Other events change nothing."""
    fold = _FOLDS.get(type(event))
    return fold(windows, state, event) if fold is not None else windows


def replace_range(
    segments: Sequence[Segment], from_segment: str, to_segment: str, replacement: Sequence[Segment]
) -> tuple[list[Segment], list[Segment]]:
    """The segments with the range (both ends included) replaced, and those that went.

    Raises ValueError for an id that is not there.
    """
    ids = [segment.id for segment in segments]
    first, last = ids.index(from_segment), ids.index(to_segment)
    kept = {segment.id for segment in replacement}
    gone = [segment for segment in segments[first : last + 1] if segment.id not in kept]
    return [*segments[:first], *replacement, *segments[last + 1 :]], gone


def _current_agent(state: SessionState) -> str:
    return (state.frame.agent if state.frame else None) or ROOT_AGENT


def _open_agents(state: SessionState) -> tuple[str, ...]:
    """The agents on the call stack, outermost first."""
    return tuple(dict.fromkeys(frame.agent or ROOT_AGENT for frame in state.frames)) or (ROOT_AGENT,)


def _with_agent(windows: Windows, name: str, agent: AgentWindow) -> Windows:
    return evolve(windows, agents={**windows.agents, name: agent})


def _add_pending(
    windows: Windows, state: SessionState, kind: Any, event: Event, artifact: ArtifactRef | None = None
) -> Windows:
    name, frame = _current_agent(state), state.frame
    agent = windows.agent(name)
    item = Pending(
        kind=kind,
        event=event,
        frame=frame.id if frame else None,
        stage=frame.stage if frame else None,
        artifact=artifact,
    )
    return _with_agent(windows, name, evolve(agent, pending=(*agent.pending, item)))


def _user_message(windows: Windows, state: SessionState, event: UserMessageEvent) -> Windows:
    name = _current_agent(state)
    windows = _add_pending(windows, state, "injected" if event.injected else "user", event)
    if not event.injected:
        windows = evolve(windows, said=event)
    agent = windows.agent(name)
    return _with_agent(windows, name, evolve(agent, open_messages=(*agent.open_messages, event.seq)))


def _turn_started(windows: Windows, state: SessionState, event: TurnStarted) -> Windows:
    name = _current_agent(state)
    agent = windows.agent(name)
    if event.cause == "retry":
        for caller in _open_agents(state)[:-1]:
            windows = _with_agent(windows, caller, _reopened(windows.agent(caller)))
        return _with_agent(windows, name, _taken_up(agent))
    pending = agent.pending
    spoken = [item.event.seq for item in pending if item.kind == "user"]
    turn = TurnTrace(first_seq=min([event.seq, *spoken]), waiting=True, spoken=bool(spoken))
    return _with_agent(windows, name, evolve(agent, pending=pending, turn=turn))


def _taken_up(agent: AgentWindow) -> AgentWindow:
    """The last turn goes on: what stood for its end is dropped, its messages belong to no frame again."""
    pending = tuple(item for item in agent.pending if item.kind not in ("no_reply", "interrupted"))
    turn = evolve(agent.turn, waiting=True, answered=False, spoken=True)
    return evolve(_reopened(agent), pending=pending, turn=turn)


def _reopened(agent: AgentWindow) -> AgentWindow:
    open_messages = tuple(dict.fromkeys((*agent.turn.messages, *agent.open_messages)))
    return evolve(agent, open_messages=open_messages)


def _reply_given(windows: Windows, state: SessionState, event: Phase2Complete) -> Windows:
    name = _current_agent(state)
    agent = windows.agent(name)
    return _with_agent(windows, name, evolve(agent, turn=evolve(agent.turn, waiting=False)))


def _turn_ended(windows: Windows, state: SessionState, event: Event) -> Windows:
    name = _current_agent(state)
    agent = windows.agent(name)
    if agent.turn.spoken and not agent.turn.answered:
        windows = _add_pending(windows, state, "no_reply", event)
    for name in _open_agents(state):
        windows = _with_agent(windows, name, _settled(windows.agent(name)))
    return evolve(windows, open_call=None)


def _settled(agent: AgentWindow) -> AgentWindow:
    """The turn has ended, for callers of the current agent as well."""
    unsent = {item.event.seq for item in agent.pending if item.kind == "injected"}
    still_open = tuple(seq for seq in agent.open_messages if seq in unsent)
    turn = evolve(agent.turn, waiting=False, spoken=False, messages=agent.open_messages)
    return evolve(agent, open_messages=still_open, turn=turn)


def _turn_interrupted(windows: Windows, state: SessionState, event: TurnInterrupted) -> Windows:
    """The reply that was cut off is sent as its shown text alone."""
    if event.shown_text.strip():
        windows = _add_pending(windows, state, "interrupted", event)
        windows = _answered(windows, state, True)
    return _turn_ended(windows, state, event)


def _answered(windows: Windows, state: SessionState, answered: bool) -> Windows:
    name = _current_agent(state)
    agent = windows.agent(name)
    return _with_agent(windows, name, evolve(agent, turn=evolve(agent.turn, answered=answered)))


def _stage_entered(windows: Windows, state: SessionState, event: StageEntered) -> Windows:
    name = _current_agent(state)
    return _with_agent(windows, name, evolve(windows.agent(name), header_due=True))


def _state_changed(windows: Windows, state: SessionState, event: StateChanged) -> Windows:
    if state.frame is None:
        return windows
    name = _current_agent(state)
    agent = windows.agent(name)
    names = [variable for variable in event.set if not is_private(variable)]
    known = agent.variables_set.get(state.frame.id, ())
    together = tuple(dict.fromkeys((*known, *names)))
    return _with_agent(
        windows, name, evolve(agent, variables_set={**agent.variables_set, state.frame.id: together})
    )


def _call_started(windows: Windows, state: SessionState, event: LLMCallStarted) -> Windows:
    windows = evolve(windows, open_call=OpenCall(call=event.call, lane=event.lane, phase=event.phase))
    if not event.lane or event.phase == 0:
        return windows
    name = agent_of(event.lane)
    agent = _sent(windows.agent(name), state, event)
    requests = windows.lane(event.lane)
    window = window_sent(event, _begins_like(requests, event), _rest_of(agent, event))
    request = SentRequest(call=event.call, at=event.at, window=window, cache_points=event.cache_points)
    lanes = {**windows.lanes, event.lane: requests.append(request)}
    return evolve(_with_agent(windows, name, agent), lanes=lanes)


def _begins_like(requests: AppendList[SentRequest], event: LLMCallStarted) -> tuple[Segment, ...]:
    if event.window_of is None:
        return ()
    return next(request.window for request in reversed(requests) if request.call == event.window_of)


def _rest_of(agent: AgentWindow, event: LLMCallStarted) -> dict[str, Segment]:
    """The segments behind the shared start, by id: nearly always just what the call added."""
    added = {segment.id: segment for segment in event.added}
    if added.keys() >= set(event.window_rest):
        return added
    return {segment.id: segment for segment in agent.segments}


def _sent(agent: AgentWindow, state: SessionState, event: LLMCallStarted) -> AgentWindow:
    nested = len(state.frames) > 1
    agent = evolve(
        agent,
        segments=agent.segments.extend(event.added),
        pending=(),
        popped=(),
        cleared=(),
        header_due=False,
        upto=event.seq,
        turn=evolve(agent.turn, spoken=True),
        nested_calls=agent.nested_calls + (1 if nested else 0),
    )
    frame = next((segment for segment in event.added if segment.kind == "state"), None)
    if frame is None:
        return evolve(agent, since_full=agent.since_full + (1 if event.empty_state else 0))
    return evolve(
        agent,
        state_base=snapshot(state),
        state_number=frame.meta["number"],
        since_full=0 if frame.meta.get("full") else agent.since_full + 1,
    )


def _call_completed(windows: Windows, state: SessionState, event: LLMCallCompleted) -> Windows:
    call = windows.open_call
    windows = evolve(windows, open_call=None)
    if call is not None and call.phase == 0:
        return windows
    if _was_never_shown(state, event):
        return windows
    windows = _add_pending(windows, state, "assistant", event)
    return _answered(windows, state, bool(event.message.text.strip()))


def _was_never_shown(state: SessionState, event: LLMCallCompleted) -> bool:
    """A text at the end of Phase 1 that a rule, or a reminder, overtook: the user never read it, so it is no
    part of the conversation."""
    in_phase1 = state.running is not None and state.running.phase == 1
    return in_phase1 and not event.message.tool_calls


def _call_failed(windows: Windows, state: SessionState, event: LLMCallFailed) -> Windows:
    return evolve(windows, open_call=None)


def _tool_result(windows: Windows, state: SessionState, event: ToolCallComplete) -> Windows:
    if event.call_id.startswith("action:"):  # state.ACTION_CALL: made by onEnter or onExit, not by a model
        return windows
    return _add_pending(windows, state, "tool_result", event, state.artifacts.get(event.artifact or ""))


def _artifact_loaded(windows: Windows, state: SessionState, event: ArtifactLoaded) -> Windows:
    artifact = state.artifacts.get(event.name)
    return windows if artifact is None else _add_pending(windows, state, "artifact", event, artifact)


def _artifacts_of(state: SessionState, event: FramePopped) -> tuple[ArtifactRef, ...]:
    """What the value of a frame that is popped refers to."""
    known = state.artifacts
    return tuple(known[name] for name in dict.fromkeys(names_in(event.value)) if name in known)


def _transition(windows: Windows, state: SessionState, event: TransitionTriggered) -> Windows:
    if not event.clear_history or state.frame is None:
        return windows
    name, frame = _current_agent(state), state.frame
    agent = windows.agent(name)
    keep_from = agent.turn.first_seq if agent.turn.waiting else None
    pending = agent.pending
    if keep_from is None:
        pending = tuple(item for item in pending if item.frame != frame.id)
    else:
        pending = tuple(item for item in pending if item.frame != frame.id or item.event.seq >= keep_from)
    cleared = Cleared(
        frame=frame.id, is_root=len(state.frames) == 1, keep_from=keep_from, sent=len(agent.segments)
    )
    open_messages = tuple(item.event.seq for item in pending if item.kind in ("user", "input", "injected"))
    if keep_from is not None:
        open_messages = agent.open_messages
    agent = evolve(
        agent,
        pending=pending,
        cleared=(*agent.cleared, cleared),
        open_messages=open_messages,
        state_base=None,
    )
    return _with_agent(windows, name, agent)


def _frame_pushed(windows: Windows, state: SessionState, event: FramePushed) -> Windows:
    """An agent's window begins with what the user said last."""
    if event.variables is None or event.agent is None:
        return windows
    caller = windows.agent(_current_agent(state))
    pending: tuple[Pending, ...] = ()
    if windows.said is not None:
        pending = (Pending(kind="input", event=windows.said, frame=event.frame, stage=event.stage),)
    agent = AgentWindow(
        pending=pending,
        open_messages=tuple(item.event.seq for item in pending if item.event.seq in caller.open_messages),
        turn=caller.turn,
        since=event.seq,
    )
    return _with_agent(windows, event.agent, agent)


def _agent_popped(windows: Windows, state: SessionState, event: FramePopped) -> Windows:
    """An agent returned: its window goes, and its caller gets a summary of it at this place.

    What the user said to it in a turn that still waits for its reply is now for the caller to answer.
    """
    caller_frame = state.frames[-2]
    name, caller_name = _current_agent(state), caller_frame.agent or ROOT_AGENT
    agent, caller = windows.agent(name), windows.agent(caller_name)
    whose: dict[str, Any] = {"frame": caller_frame.id, "stage": caller_frame.stage}
    said, messages = windows.said, tuple[Pending, ...]()
    unanswered = agent.open_messages if agent.turn.waiting else agent.turn.messages if state.failed else ()
    if said is not None and said.seq > agent.since and said.seq in unanswered:
        messages = (Pending(kind="user", event=said, **whose),)
    popped = Popped(
        event=event,
        caller=caller_frame.id,
        frames=frozenset(),
        unsent=agent.pending,
        agent=name,
        sent=tuple(agent.segments),
        artifacts=_artifacts_of(state, event),
    )
    caller = evolve(
        caller,
        pending=(*caller.pending, Pending(kind="returned", event=event, **whose), *messages),
        popped=(*caller.popped, popped),
        open_messages=(*caller.open_messages, *(item.event.seq for item in messages if agent.turn.waiting)),
        turn=agent.turn,
        header_due=True,
    )
    agents = {key: window for key, window in windows.agents.items() if key != name}
    lanes = {lane: requests for lane, requests in windows.lanes.items() if agent_of(lane) != name}
    return evolve(windows, agents={**agents, caller_name: caller}, lanes=lanes)


def _frame_popped(windows: Windows, state: SessionState, event: FramePopped) -> Windows:
    if state.frames[-1].callers_variables is not None:
        return _agent_popped(windows, state, event)
    name = _current_agent(state)
    agent = windows.agent(name)
    caller = state.frames[-2].id if len(state.frames) > 1 else None
    inner = [popped for popped in agent.popped if popped.caller == event.frame]
    frames = frozenset({event.frame}.union(*(popped.frames for popped in inner)))
    unsent = [item for popped in inner for item in popped.unsent]
    unsent += [
        item for item in agent.pending if item.frame in frames and item.event.seq not in agent.open_messages
    ]
    popped = Popped(
        event=event,
        caller=caller,
        frames=frames,
        unsent=tuple(sorted(unsent, key=lambda item: item.event.seq)),
        variables=tuple(
            dict.fromkeys(
                variable for frame in sorted(frames) for variable in agent.variables_set.get(frame, ())
            )
        ),
        artifacts=_artifacts_of(state, event),
    )
    gone = {item.event.seq for item in unsent}
    agent = evolve(
        agent,
        pending=tuple(item for item in agent.pending if item.event.seq not in gone),
        popped=(*(other for other in agent.popped if other.caller != event.frame), popped),
        header_due=True,
        returns=agent.returns + 1,
        variables_set=_inherited(agent, frames, caller),
    )
    return _with_agent(windows, name, agent)


def _inherited(agent: AgentWindow, frames: frozenset[str], caller: str | None) -> dict[str, tuple[str, ...]]:
    """The popped frames' variables count as set in the caller, whose own summary will name them."""
    kept = {frame: names for frame, names in agent.variables_set.items() if frame not in frames}
    if caller is not None:
        names = [name for frame in sorted(frames) for name in agent.variables_set.get(frame, ())]
        kept[caller] = tuple(dict.fromkeys((*kept.get(caller, ()), *names)))
    return kept


def _window_rewritten(windows: Windows, state: SessionState, event: WindowRewritten) -> Windows:
    name = agent_of(event.lane)
    agent = windows.agent(name)
    segments, gone = replace_range(agent.segments, event.from_segment, event.to_segment, event.replacement)
    stand_in = event.replacement[0] if event.replacement else None
    replaced = dict(agent.replaced)
    if stand_in is not None:
        replaced.update({segment.id: stand_in for segment in gone})
    agent = evolve(
        agent,
        segments=AppendList(segments),
        replaced=replaced,
        state_base=agent.state_base if _base_stands(agent, gone) else None,
        popped=_still_popped(agent, event),
        cleared=() if event.rule == "clear" else agent.cleared,
    )
    return _with_agent(windows, name, agent)


def _base_stands(agent: AgentWindow, gone: Sequence[Segment]) -> bool:
    """Whether every state frame since the last full one is still in the window."""
    lost = {segment.id for segment in gone if segment.kind == "state"}
    for segment in reversed(list(agent.segments)):
        if segment.id in lost:
            return False
        if segment.kind == "state" and segment.meta.get("full"):
            break
    return True


def _still_popped(agent: AgentWindow, event: WindowRewritten) -> tuple[Popped, ...]:
    if event.rule != "return":
        return agent.popped
    done = {segment.meta.get("frame") for segment in event.replacement if segment.kind == "summary"}
    return tuple(popped for popped in agent.popped if popped.event.frame not in done)


_FOLDS: dict[type, Fold] = {
    UserMessageEvent: _user_message,
    TurnStarted: _turn_started,
    Phase2Complete: _reply_given,
    TurnComplete: _turn_ended,
    TurnFailed: _turn_ended,
    TurnInterrupted: _turn_interrupted,
    StageEntered: _stage_entered,
    StateChanged: _state_changed,
    LLMCallStarted: _call_started,
    LLMCallCompleted: _call_completed,
    LLMCallFailed: _call_failed,
    ToolCallComplete: _tool_result,
    ArtifactLoaded: _artifact_loaded,
    TransitionTriggered: _transition,
    FramePushed: _frame_pushed,
    FramePopped: _frame_popped,
    WindowRewritten: _window_rewritten,
}
