"""How a turn ends before its time: stopped, interrupted, out of time; and how a failed one goes on."""

from __future__ import annotations

from typing import Literal

from runtime.conversation import events as ev
from runtime.engine import before, turns
from runtime.engine.calls import after_calls, complete
from runtime.engine.draft import Draft
from runtime.engine.effects import CancelModel, CancelTools
from runtime.engine.happened import Stop, Tick
from runtime.engine.transitions import carry_on, target_row
from runtime.playbook.engine_tools import TRANSITION_TOOL

Reason = Literal["stop", "interrupt", "process_died", "timeout"]
_WORDS: dict[Reason, str] = {
    "stop": "Cancelled: the turn was stopped.",
    "interrupt": "Cancelled: the user went on.",
    "process_died": "Cancelled: the server was restarted.",
    "timeout": "Cancelled: the turn took too long.",
}


def interrupt(draft: Draft, reason: Reason, cut: Stop | Tick) -> None:
    """End the running turn now. Every open call gets its result, and the session is in exactly one stage."""
    _cancel(draft)
    if draft.state.running is not None:
        for pending in draft.running.pending:
            complete(draft, pending, error=_WORDS[reason])
    shown = _fail_call(draft, "cancelled", _WORDS[reason], cut)
    _finish_move(draft, _WORDS[reason])
    if draft.state.running is not None:
        draft.log(ev.TurnInterrupted, stage=draft.frame.stage, shown_text=shown, reason=reason)


def _cancel(draft: Draft) -> None:
    """Cancel whatever runs. The runner knows best what that is."""
    draft.want(CancelModel())
    started = draft.state.running.started if draft.state.running is not None else ()
    waiting = draft.state.moving.waiting if draft.state.moving is not None else None
    ids = (*started, *([waiting] if waiting is not None else []))
    if ids:
        draft.want(CancelTools(ids))


def _fail_call(draft: Draft, code: str, reason: str, cut: Stop | Tick) -> str:
    """Log the end of the call in flight; what it showed, if the text belongs to it."""
    running = draft.state.running
    if running is None:
        return ""
    if running.call is None:
        _fail_call_beside(draft, code, reason)
        return ""
    own = cut.call == running.call
    shown = cut.shown_text if own and running.phase == 2 else ""
    draft.log(
        ev.LLMCallFailed,
        call=running.call,
        error=reason,
        code=code,
        shown_text=shown,
        usage=cut.usage if own else None,
        cost=cut.cost if own else None,
    )
    return shown


def _fail_call_beside(draft: Draft, code: str, reason: str) -> None:
    """A classifier's call that is in flight ends as well: the log has an end for each begin."""
    beside = draft.state.windows.open_call
    if beside is not None and beside.phase == 0:
        draft.log(ev.LLMCallFailed, call=beside.call, error=reason, code=code)


def _finish_move(draft: Draft, reason: str) -> None:
    if draft.state.moving is None:
        return
    _fail_action(draft, reason)
    carry_on(draft, skip_calls=True)


def give_up_action(draft: Draft) -> None:
    """The action that is waited for has taken too long: it has failed, and the transition goes on."""
    waiting = draft.moving.waiting
    if waiting is not None:
        draft.want(CancelTools((waiting,)))
        hook = "onExit" if draft.moving.step == "exit" else "onEnter"
        _fail_action(draft, f"{hook}: Cancelled: the action took too long.")
        turns.follow(draft, carry_on(draft))


def _fail_action(draft: Draft, reason: str) -> None:
    waiting = draft.moving.waiting
    if waiting is not None:
        tool = _action_tool(draft)
        draft.log(ev.ToolCallComplete, call_id=waiting, tool_name=tool, success=False, error=reason)


def _action_tool(draft: Draft) -> str:
    """Name of the tool whose action is being waited for."""
    moving = draft.moving
    stage = (draft.row if moving.step == "exit" else target_row(draft)).stage
    action = (stage.on_exit if moving.step == "exit" else stage.on_enter)[moving.done]
    return getattr(action, "call", "set")


def time_out_loop(draft: Draft, cut: Tick) -> None:
    """The tool time is over: what still runs is cancelled, and the reply is asked for."""
    _cancel(draft)
    for pending in draft.running.pending:
        if pending.name != TRANSITION_TOOL:
            complete(draft, pending, error="Cancelled: the time for tools in this turn is over.")
    _fail_call(draft, "phase1_timeout", "The time for tools in this turn is over.", cut)
    after_calls(draft)


def retry(draft: Draft) -> None:
    """Take up the failed turn where it failed: the same request again, no finished tool a second time."""
    if draft.state.failed is None or draft.state.status != "idle" or draft.state.moving is not None:
        return
    turns.begin_turn(draft, "retry")
    if draft.running.phase == 0 and draft.running.transitions == 0:
        before.look(draft)
    elif draft.running.phase == 0:
        turns.begin_reply(draft)
    else:
        turns.ask(draft)
