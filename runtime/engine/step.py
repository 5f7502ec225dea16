"""`step`: what happened goes in; what the session is now and what is to be done come out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, assert_never

from runtime.conversation import events as ev
from runtime.conversation.artifacts import reference
from runtime.conversation.events import Event
from runtime.conversation.messages import ToolCall
from runtime.conversation.snapshot import HUMAN
from runtime.conversation.state import SessionState
from runtime.engine import before, calls, ending, replies, timers, turns
from runtime.engine.artifacts import keep_variables, kept_result, kept_variables, parted_variables
from runtime.engine.draft import Draft
from runtime.engine.effects import Effect, WakeAt
from runtime.engine.happened import (
    Happened,
    IntentsClassified,
    ModelFailed,
    ModelReplied,
    ReplyBegan,
    Retry,
    Start,
    Stop,
    Tick,
    ToolReplied,
    Use,
    UserMessage,
    VariableSet,
)
from runtime.engine.table import NO_AGENTS, tables_of
from runtime.engine.timers import wake_at
from runtime.engine.transitions import carry_on, target_row
from runtime.playbook import Playbook


class NotNow(ValueError):
    """Something happened that cannot happen in this state: a message while a turn runs or after the end."""


class Step(NamedTuple):
    """One step: the state after it, what is to be done, and the events that made the state."""

    state: SessionState
    effects: tuple[Effect, ...]
    events: tuple[Event, ...]


def step(
    playbook: Playbook,
    state: SessionState,
    happened: Happened,
    now: datetime,
    agents: Mapping[str, Playbook] = NO_AGENTS,
) -> Step:
    """What follows from `happened` at the time `now`. The state is the fold of the events, by construction.

    `agents`: by playbook id, the documents of the agents that `playbook` and they may call. Raises
    NotNow for a message or a start that the state does not allow. What is merely late (a result nobody waits
    for, a stop without a turn) changes nothing.
    """
    draft = Draft(tables_of(playbook, agents), state, now)
    _take(draft, happened)
    wake = wake_at(draft.tables, draft.state)
    if wake is not None:
        draft.want(WakeAt(wake))
    return Step(draft.state, tuple(draft.effects), tuple(draft.events))


def _take(draft: Draft, happened: Happened) -> None:  # noqa: C901  one arm per input
    match happened:
        case ModelReplied():
            replies.model_replied(draft, happened)
        case ToolReplied():
            _tool_replied(draft, happened)
        case ReplyBegan():
            replies.reply_began(draft, happened)
        case UserMessage():
            _user_message(draft, happened)
        case IntentsClassified():
            before.classified(draft, happened)
        case ModelFailed():
            replies.model_failed(draft, happened)
        case Tick():
            timers.tick(draft, happened)
        case Stop():
            _stop(draft, happened)
        case Retry():
            ending.retry(draft)
        case Start():
            _start(draft, happened)
        case VariableSet():
            stage = draft.frame.stage if draft.state.frames else draft.table.playbook.initial_stage
            values = kept_variables(draft, draft.table.rows[stage].stage, {happened.name: happened.value})
            draft.log(ev.StateChanged, set=values, cause="user")
        case Use():
            draft.log(ev.SessionUsing, model=happened.model, layout=happened.layout, policy=happened.policy)
        case _:
            assert_never(happened)


def _start(draft: Draft, happened: Start) -> None:
    if draft.state.status != "new":
        raise NotNow("The session has already started.")
    playbook = draft.table.playbook
    variables, long = parted_variables(draft, playbook)
    draft.log(
        ev.SessionStarted,
        playbook=playbook.id,
        playbook_digest=happened.digest,
        variables=variables,
        data=dict(happened.data),
        agents=(playbook.name, HUMAN),
    )
    keep_variables(draft, long)
    turns.move(draft)


def _user_message(draft: Draft, happened: UserMessage) -> None:
    state = draft.state
    if happened.client_id is not None and happened.client_id in state.client_ids:
        return
    if state.status == "complete":
        raise NotNow("The session is complete; start a new one.")
    if state.status != "idle" or state.moving is not None:
        raise NotNow("The session cannot take a message now: it has not started, or a turn is running.")
    turns.begin_turn(draft, "message")
    draft.log(ev.UserMessageEvent, text=happened.text, client_id=happened.client_id)
    before.look(draft)


def _tool_replied(draft: Draft, happened: ToolReplied) -> None:
    moving = draft.state.moving
    if moving is not None:
        if moving.waiting is not None and moving.waiting == happened.message.call_id:
            _action_replied(draft, happened)
        return
    if draft.state.running is not None:
        calls.take_result(draft, happened.message)


def _action_replied(draft: Draft, happened: ToolReplied) -> None:
    message = happened.message
    stage = (draft.row if draft.moving.step == "exit" else target_row(draft)).stage
    tool = next(
        row.tools[message.tool_name] for row in draft.table.rows.values() if message.tool_name in row.tools
    )
    call = ToolCall(call_id=message.call_id, name=message.tool_name, arguments={})
    kept = kept_result(draft, stage, call, message.result) if message.success else None
    known = {"result": reference(kept.name), "artifact": kept.name} if kept is not None else {}
    draft.log(ev.ToolCallComplete, **(dict(message) | known))
    if message.success:
        calls.save(draft, stage, tool, message.result)
    turns.follow(draft, carry_on(draft))


def _stop(draft: Draft, happened: Stop) -> None:
    if draft.state.running is not None or draft.state.moving is not None:
        ending.interrupt(draft, happened.reason, happened)
