"""Carries out a transition: exit, data, entry, and the actions on the way, which may have to be waited for.

The order: onExit, stage_exited, clearHistory, data, onEnter, placeholders,
stage_entered, transitionMessage. A `call` does not leave its stage, a `return` does not enter one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from runtime.conversation import events as ev
from runtime.conversation.windows import LANE_SEPARATOR
from runtime.engine import artifacts
from runtime.engine.actions import run_actions
from runtime.engine.draft import Draft
from runtime.engine.roots import roots_of
from runtime.engine.table import StageRow, Table
from runtime.playbook import Playbook, Transition
from runtime.playbook.engine_tools import AGENT_PREFIX
from runtime.playbook.expressions import ARTIFACTS
from runtime.playbook.placeholders import Resolved, resolve

Then = Literal["reply", "after", "idle", "start"]
FIRST_AGENT: Final = 1000


def refusal(draft: Draft, rule: Transition) -> str | None:
    """Why this transition cannot be made now, or None."""
    running, action, options = draft.state.running, rule.action, draft.options
    if running is not None and running.transitions >= options.max_transitions_per_turn:
        return f"A turn makes at most {options.max_transitions_per_turn} transitions."
    if action.mode == "return":
        return None
    target = action.target_stage or ""
    if target not in draft.table.rows:
        if not target.startswith(AGENT_PREFIX):
            return f"The stage {target!r} does not exist."
        called = called_agent(draft, target) if action.mode == "call" else "An agent can only be called."
        if isinstance(called, str):
            return called
    if action.mode == "call" and draft.frame.depth + 1 > options.max_call_depth:
        return f"Calls may be at most {options.max_call_depth} deep."
    return None


def called_agent(draft: Draft, target: str) -> tuple[str, Playbook] | str:
    """The document of `agent:NAME`, with its id; or why it cannot be called."""
    name = target.removeprefix(AGENT_PREFIX)
    agent = next((agent for agent in draft.table.playbook.agents if agent.name == name), None)
    if agent is None:
        return f"The playbook declares no agent {name!r}."
    playbook = draft.tables.agents.get(agent.playbook)
    if playbook is None:
        return f"The session was not given the playbook {agent.playbook!r} of the agent {name!r}."
    if playbook.stage(playbook.initial_stage) is None:
        return f"The playbook of the agent {name!r} starts in {playbook.initial_stage!r}, no stage of it."
    return agent.playbook, playbook


def refuse(draft: Draft, rule: Transition, reason: str) -> None:
    """Log that a rule fired and was not carried out."""
    target = rule.action.target_stage
    draft.log(ev.TransitionRefused, transition=rule.id, target_stage=target, reason=reason)


def trigger(
    draft: Draft,
    rule: Transition,
    reason: str,
    data: Mapping[str, Any] | None = None,
    summary: str | None = None,
) -> None:
    """Begin the transition of `rule`; `data` is what the model adds to the rule's own."""
    action, frame = rule.action, draft.frame
    draft.log(
        ev.TransitionTriggered,
        transition=rule.id,
        from_stage=frame.stage,
        to_stage=None if action.mode == "return" else action.target_stage,
        mode=action.mode,
        reason=reason,
        data={**(action.data or {}), **(data or {})},
        clear_history=action.clear_history,
        summary=summary,
    )
    if action.clear_history:
        artifacts.unload_lost(draft)
    if action.mode == "call":
        _push(draft, action.target_stage or "")


def _push(draft: Draft, target: str) -> None:
    """A frame for the called stage, of the same agent; or the first frame of the agent that is called."""
    frame, state = draft.frame, draft.state
    called = called_agent(draft, target) if target not in draft.table.rows else None
    whose: dict[str, Any] = {"stage": target, "agent": frame.agent, "playbook": frame.playbook}
    long: dict[str, Any] = {}
    if isinstance(called, tuple):
        playbook_id, playbook = called
        whose = {
            "stage": playbook.initial_stage,
            "agent": _instance(target.removeprefix(AGENT_PREFIX), state.agents_called),
            "playbook": playbook_id,
        }
        whose["variables"], long = artifacts.parted_variables(draft, playbook)
    draft.log(
        ev.FramePushed,
        frame=f"f{state.frames_opened + 1}",
        depth=frame.depth + 1,
        caller=frame.id,
        **whose,
    )
    artifacts.keep_variables(draft, long)


def _instance(name: str, called_before: int) -> str:
    """What the called agent is known by. Lanes are named after it, so it must not have their separator."""
    return f"{name.replace(LANE_SEPARATOR, '/')}(agent {FIRST_AGENT + called_before})"


def trigger_return(draft: Draft, reason: str, value: Mapping[str, Any] | None = None) -> None:
    """Begin a return that no rule made: the end of a called frame."""
    draft.log(
        ev.TransitionTriggered,
        from_stage=draft.frame.stage,
        mode="return",
        reason=reason,
        data=dict(value or {}),
    )


def abandon_agent(draft: Draft, sentence: str) -> None:
    """The current agent cannot go on: all its frames end, and its caller gets one line that says why."""
    failed = draft.frame.agent
    while draft.frame.agent == failed:
        trigger_return(draft, "failed", {"error": sentence})
        carry_on(draft, skip_calls=True)


def carry_on(draft: Draft, *, skip_calls: bool = False) -> tuple[Then, bool] | None:
    """Do what the transition still has to do.

    None: an action's tool has to be waited for. Else what follows, and whether a stage was entered. With
    `skip_calls` (the turn was stopped) nothing is waited for: the session must be in exactly one stage.
    """
    moving = draft.moving
    if moving.step == "exit":
        row = draft.row
        if not run_actions(draft, row.stage, row.stage.on_exit, "on_exit", skip_calls):
            return None
        draft.log(ev.StageExited, stage=row.stage.id, frame=draft.frame.id)
        if moving.mode == "return":
            _pop(draft)
            return moving.then, False
    target = target_row(draft)
    if not run_actions(draft, target.stage, target.stage.on_enter, "on_enter", skip_calls):
        return None
    _enter(draft, target)
    return moving.then, True


def target_row(draft: Draft) -> StageRow:
    """The row of the stage that is being entered. A call's frame stands in it already."""
    moving, table = draft.moving, draft.table
    if moving.mode == "call":
        return draft.row
    return table.rows[moving.target or table.playbook.initial_stage]


def _pop(draft: Draft) -> None:
    frame, moving = draft.frame, draft.moving
    value = artifacts.kept_value(draft, draft.row.stage, dict(moving.data))
    artifacts.unload_frame(draft)
    reason = "return" if moving.transition is not None else moving.reason
    draft.log(
        ev.FramePopped,
        frame=frame.id,
        stage=frame.stage,
        value=value or None,
        summary=moving.summary,
        reason=reason,
    )


def _enter(draft: Draft, row: StageRow) -> None:
    moving, state = draft.moving, draft.state
    prompt = _resolved(draft, row, row.stage.system_prompt)
    message = _transition_message(draft, row)
    described = _descriptions(draft, row)
    draft.log(
        ev.StageEntered,
        stage=row.stage.id,
        frame=state.frame.id if state.frame is not None else f"f{state.frames_opened + 1}",
        visit=state.visits + 1,
        prompt=prompt.text,
        data=dict(state.frame.data if state.frame is not None else moving.data),
        descriptions={target: filled.text for target, filled in described.items()},
        unresolved=tuple(text for part in (prompt, message, *described.values()) for text in part.unresolved),
    )
    for text in (*prompt.messages, *message.messages, message.text):
        if text.strip():
            draft.log(ev.UserMessageEvent, text=text, injected=True)
    for name in dict.fromkeys((*prompt.artifacts, *message.artifacts)):
        artifacts.load(draft, draft.state.artifacts[name])


def _resolved(draft: Draft, row: StageRow, text: str) -> Resolved:
    """Artifacts that the text names are loaded beside it; a raw stage's prompt is the whole request."""
    refer = row.stage.kind != "raw"
    return resolve(text, roots_of(draft.state, row.stage, draft.now), draft.table.declared, refer=refer)


def _descriptions(draft: Draft, row: StageRow) -> dict[str, Resolved]:
    """The descriptions of targets in which there is something to fill."""
    return {target: _resolved(draft, row, text) for target, text in row.described}


def _transition_message(draft: Draft, row: StageRow) -> Resolved:
    """The rule's message. It is the caller's text, so that its names mean the caller's variables."""
    moving, frame = draft.moving, draft.state.frame
    called = moving.mode == "call" and frame is not None and frame.callers_variables is not None
    table: Table = draft.tables.of(draft.state.frames[-2]) if called else draft.table
    rule = table.transitions.get(moving.transition or "")
    text = (rule.action.transition_message or "") if rule is not None else ""
    if not called or frame is None:
        return _resolved(draft, row, text)
    known = {name: artifact.content for name, artifact in (frame.callers_artifacts or {}).items()}
    roots = roots_of(draft.state, row.stage, draft.now)
    roots |= {"vars": frame.callers_variables, ARTIFACTS: known}
    return resolve(text, roots, table.declared)
