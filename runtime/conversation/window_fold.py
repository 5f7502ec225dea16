"""How the log's events change what windows are built from. One small function per kind of event.

Rule: applies, never decides. fold.py says which event calls which, and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.conversation import rewriting
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
    SummaryWritten,
    ToolCallComplete,
    TransitionTriggered,
    TurnComplete,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UserMessageEvent,
    WindowRewritten,
)
from runtime.conversation.folding import Folding, copied
from runtime.conversation.requests import request_sent
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import is_private, snapshot
from runtime.conversation.state import ACTION_CALL, SessionState
from runtime.conversation.windows import (
    ROOT_AGENT,
    AgentWindow,
    Cleared,
    Counted,
    OpenCall,
    Pending,
    Popped,
    TurnTrace,
    agent_of,
    shared_start,
)

WINDOW_FULL = "window_full"
"""Code of a turn that failed because its window could not be made to fit: its message is not sent later."""


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
    return (state.frames[-1].agent if state.frames else None) or ROOT_AGENT


def _current(folding: Folding) -> AgentWindow:
    return folding.agent(_current_agent(folding.state))


def _open_agents(state: SessionState) -> tuple[str, ...]:
    """The agents on the call stack, outermost first."""
    return tuple(dict.fromkeys([frame.agent or ROOT_AGENT for frame in state.frames])) or (ROOT_AGENT,)


def _add_pending(
    folding: Folding, kind: Any, event: Event, artifact: ArtifactRef | None = None
) -> AgentWindow:
    """Something was said in the current frame; the window of its agent."""
    agent, frame = _current(folding), folding.state.frame
    item = Pending(
        kind=kind,
        event=event,
        frame=frame.id if frame else None,
        stage=frame.stage if frame else None,
        artifact=artifact,
    )
    agent.pending = (*agent.pending, item)
    return agent


def user_message(folding: Folding, event: UserMessageEvent) -> None:
    """What was said waits for a request."""
    agent = _add_pending(folding, "injected" if event.injected else "user", event)
    agent.open_messages = (*agent.open_messages, event.seq)
    if not event.injected:
        folding.windows().said = event


def turn_started(folding: Folding, event: TurnStarted) -> None:
    """A turn begins, with what was said before it; or the failed one goes on."""
    agent = _current(folding)
    if event.cause == "retry":
        for caller in _open_agents(folding.state)[:-1]:
            _reopen(folding.agent(caller))
        return _take_up(agent)
    spoken = [item.event.seq for item in agent.pending if item.kind == "user"]
    agent.turn = TurnTrace(first_seq=min([event.seq, *spoken]), waiting=True, spoken=bool(spoken))
    return None


def _take_up(agent: AgentWindow) -> None:
    """The last turn goes on: what stood for its end is dropped, its messages belong to no frame again."""
    agent.pending = tuple(item for item in agent.pending if item.kind not in ("no_reply", "interrupted"))
    agent.turn = _turn_with(agent.turn, waiting=True, answered=False, spoken=True)
    _reopen(agent)


def _reopen(agent: AgentWindow) -> None:
    agent.open_messages = tuple(dict.fromkeys((*agent.turn.messages, *agent.open_messages)))


def reply_given(folding: Folding, event: Phase2Complete) -> None:
    """The turn waits no more."""
    agent = _current(folding)
    agent.turn = _turn_with(agent.turn, waiting=False)


def turn_ended(folding: Folding, event: TurnComplete | TurnFailed | TurnInterrupted) -> None:
    """The messages of the turn belong to their frames now; one without an answer gets its fixed block."""
    agent = _current(folding)
    if isinstance(event, TurnFailed) and event.code == WINDOW_FULL:
        agent.pending = tuple([item for item in agent.pending if item.kind not in ("user", "input")])
    if agent.turn.spoken and not agent.turn.answered:
        _add_pending(folding, "no_reply", event)
    for name in _open_agents(folding.state):
        _settle(folding.agent(name))
    folding.windows().open_call = None


def _settle(agent: AgentWindow) -> None:
    """The turn has ended, for callers of the current agent as well."""
    agent.turn = _turn_with(agent.turn, waiting=False, spoken=False, messages=agent.open_messages)
    if agent.open_messages:
        unsent = {item.event.seq for item in agent.pending if item.kind == "injected"}
        agent.open_messages = tuple([seq for seq in agent.open_messages if seq in unsent])


def turn_interrupted(folding: Folding, event: TurnInterrupted) -> None:
    """The reply that was cut off is sent as its shown text alone."""
    if event.shown_text.strip():
        agent = _add_pending(folding, "interrupted", event)
        agent.turn = _turn_with(agent.turn, answered=True)
    turn_ended(folding, event)


def _turn_with(turn: TurnTrace, **changes: Any) -> TurnTrace:
    changed = copied(turn)
    changed.__dict__.update(changes)
    return changed


def stage_entered(folding: Folding, event: StageEntered) -> None:
    """The next request brings the stage's header."""
    _current(folding).header_due = True


def state_changed(folding: Folding, event: StateChanged) -> None:
    """The frame's summary will name the variables that were set in it."""
    frame = folding.state.frame
    if frame is None:
        return
    agent = _current(folding)
    names = [variable for variable in event.set if not is_private(variable)]
    together = tuple(dict.fromkeys((*agent.variables_set.get(frame.id, ()), *names)))
    agent.variables_set = {**agent.variables_set, frame.id: together}


def call_started(folding: Folding, event: LLMCallStarted) -> None:
    """The request as it was sent, whole; what it added stands in the agent's window from now on."""
    windows = folding.windows()
    windows.open_call = OpenCall(call=event.call, lane=event.lane, phase=event.phase)
    if not event.lane or event.phase == 0:
        return
    agent = folding.agent(agent_of(event.lane))
    _send(agent, folding.state, event)
    requests = windows.lane(event.lane)
    windows.lanes[event.lane] = requests.append(request_sent(requests, agent, event))


def _send(agent: AgentWindow, state: SessionState, event: LLMCallStarted) -> None:
    agent.segments = agent.segments.extend(event.added)
    agent.pending, agent.popped, agent.cleared = (), (), ()
    agent.header_due, agent.upto = False, event.seq
    agent.turn = _turn_with(agent.turn, spoken=True)
    agent.nested_calls += len(state.frames) > 1
    frame = next((segment for segment in event.added if segment.kind == "state"), None)
    if frame is None:
        agent.since_full += event.empty_state
        return
    agent.state_base, agent.state_number = snapshot(state), frame.meta["number"]
    agent.since_full = frame.meta["since"]


def call_completed(folding: Folding, event: LLMCallCompleted) -> None:
    """What the model said; a text that nobody was shown is no part of the conversation."""
    windows = folding.windows()
    call, windows.open_call = windows.open_call, None
    if call is not None and event.usage is not None and call.lane and call.phase != 0:
        inputs = windows.counted.get(call.lane, AppendList())
        counted = inputs.append(Counted(call.call, event.usage.input))
        windows.counted = {**windows.counted, call.lane: counted}
    if (call is not None and call.phase == 0) or _was_never_shown(folding.state, event):
        return
    agent = _add_pending(folding, "assistant", event)
    agent.turn = _turn_with(agent.turn, answered=bool(event.message.text.strip()))


def _was_never_shown(state: SessionState, event: LLMCallCompleted) -> bool:
    """A text at the end of Phase 1 that a rule, or a reminder, overtook: the user never read it, so it is no
    part of the conversation."""
    in_phase1 = state.running is not None and state.running.phase == 1
    return in_phase1 and not event.message.tool_calls


def call_failed(folding: Folding, event: LLMCallFailed) -> None:
    """The call in flight has ended."""
    folding.windows().open_call = None


def tool_result(folding: Folding, event: ToolCallComplete) -> None:
    """The result waits for a request; those of `onEnter` and `onExit` are not the model's."""
    if not event.call_id.startswith(ACTION_CALL):
        _add_pending(folding, "tool_result", event, folding.state.artifacts.get(event.artifact or ""))


def artifact_loaded(folding: Folding, event: ArtifactLoaded) -> None:
    """The text waits for a request, as it is now."""
    artifact = folding.state.artifacts.get(event.name)
    if artifact is not None:
        _add_pending(folding, "artifact", event, artifact)


def _artifacts_of(state: SessionState, event: FramePopped) -> tuple[ArtifactRef, ...]:
    """What the value of a frame that is popped refers to."""
    known = state.artifacts
    return tuple(known[name] for name in dict.fromkeys(names_in(event.value)) if name in known)


def transition(folding: Folding, event: TransitionTriggered) -> None:
    """`clearHistory`: what was said in the frame goes, but for a turn that still waits for its reply."""
    frame = folding.state.frame
    if not event.clear_history or frame is None:
        return
    agent = _current(folding)
    keep_from = agent.turn.first_seq if agent.turn.waiting else None
    pending = agent.pending
    if keep_from is None:
        pending = tuple(item for item in pending if item.frame != frame.id)
        kinds = ("user", "input", "injected")
        agent.open_messages = tuple(item.event.seq for item in pending if item.kind in kinds)
    else:
        pending = tuple(item for item in pending if item.frame != frame.id or item.event.seq >= keep_from)
    is_root = len(folding.state.frames) == 1
    cleared = Cleared(frame=frame.id, is_root=is_root, keep_from=keep_from, sent=len(agent.segments))
    agent.pending, agent.cleared, agent.state_base = pending, (*agent.cleared, cleared), None


def frame_pushed(folding: Folding, event: FramePushed) -> None:
    """An agent's window begins with what the user said last."""
    if event.variables is None or event.agent is None:
        return
    windows, caller = folding.windows(), _current(folding)
    pending: tuple[Pending, ...] = ()
    if windows.said is not None:
        pending = (Pending(kind="input", event=windows.said, frame=event.frame, stage=event.stage),)
    agent = folding.agent(event.agent)
    agent.pending = pending
    agent.open_messages = tuple(item.event.seq for item in pending if item.event.seq in caller.open_messages)
    agent.turn, agent.since = caller.turn, event.seq


def _agent_popped(folding: Folding, event: FramePopped) -> None:
    """An agent returned: its window goes, and its caller gets a summary of it at this place.

    What the user said to it in a turn that still waits for its reply is now for the caller to answer.
    """
    state, windows = folding.state, folding.windows()
    caller_frame, name = state.frames[-2], _current_agent(state)
    agent, caller = windows.agent(name), folding.agent(caller_frame.agent or ROOT_AGENT)
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
        sent=agent.segments,
        artifacts=_artifacts_of(state, event),
    )
    caller.pending = (*caller.pending, Pending(kind="returned", event=event, **whose), *messages)
    caller.popped = (*caller.popped, popped)
    if agent.turn.waiting:
        caller.open_messages = (*caller.open_messages, *(item.event.seq for item in messages))
    caller.turn, caller.header_due = agent.turn, True
    del windows.agents[name]
    windows.counted = {lane: seen for lane, seen in windows.counted.items() if agent_of(lane) != name}
    windows.lanes = {lane: sent for lane, sent in windows.lanes.items() if agent_of(lane) != name}


def frame_popped(folding: Folding, event: FramePopped) -> None:
    """A frame returned: its trace waits to be replaced by its summary."""
    state = folding.state
    if state.frames[-1].callers_variables is not None:
        return _agent_popped(folding, event)
    agent = _current(folding)
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
    agent.pending = tuple(item for item in agent.pending if item.event.seq not in gone)
    agent.popped = (*(other for other in agent.popped if other.caller != event.frame), popped)
    agent.header_due = True
    agent.returns += 1
    agent.variables_set = _inherited(agent, frames, caller)
    return None


def _inherited(agent: AgentWindow, frames: frozenset[str], caller: str | None) -> dict[str, tuple[str, ...]]:
    """The popped frames' variables count as set in the caller, whose own summary will name them."""
    kept = {frame: names for frame, names in agent.variables_set.items() if frame not in frames}
    if caller is not None:
        names = [name for frame in sorted(frames) for name in agent.variables_set.get(frame, ())]
        kept[caller] = tuple(dict.fromkeys((*kept.get(caller, ()), *names)))
    return kept


def window_rewritten(folding: Folding, event: WindowRewritten) -> None:
    """The segments of a range are replaced; what stood there is known by what stands for it."""
    agent = folding.agent(agent_of(event.lane))
    segments, gone = replace_range(agent.segments, event.from_segment, event.to_segment, event.replacement)
    if not _base_stands(agent, gone) or any(segment.kind == "state" for segment in event.replacement):
        agent.state_base = None
    rewriting.remember(agent, event, gone)
    rewritten = AppendList(segments)
    rewritten.take_notes(agent.segments, shared_start(agent.segments, rewritten))
    agent.segments = rewritten
    rewriting.forget(agent)
    agent.popped = _still_popped(agent, event)
    if event.rule == "clear":
        agent.cleared = ()


def summary_written(folding: Folding, event: SummaryWritten) -> None:
    """Better words for a summary wait until its place is rewritten."""
    agent = folding.agent(event.agent)
    agent.written = {**agent.written, event.segment: event.text}


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
