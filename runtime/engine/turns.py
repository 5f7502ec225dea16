"""The turn: it begins, the model is asked, the reply is complete, and what follows from it."""

from __future__ import annotations

from typing import Final, Literal

from runtime.conversation import events as ev
from runtime.engine.draft import Draft
from runtime.engine.effects import CallModel
from runtime.engine.evaluating import evaluate
from runtime.engine.table import StageRow
from runtime.engine.transitions import carry_on, refusal, refuse, trigger, trigger_return
from runtime.playbook import NamedToolChoice, ToolChoice, Transition

ANSWER_NOW: Final = "Answer the user now; call no tool."

LoopEnd = Literal["limit", "timeout", "stopped"]


def begin_turn(
    draft: Draft, cause: Literal["message", "start", "speak_on_enter", "timer", "retry", "raw"]
) -> None:
    """Log the begin of the next turn; a retry takes up the number of the turn that failed."""
    number = draft.state.turn if cause == "retry" else draft.state.turn + 1
    draft.log(ev.TurnStarted, turn=number, cause=cause, stage=draft.frame.stage)


def begin_reply(draft: Draft) -> None:
    """The current stage is to reply: with a tool loop first if it offers tools, else at once."""
    row = draft.row
    silent = row.stage.kind == "raw" and draft.frame.depth > 0
    if silent or (row.stage.two_phase_execution and row.starts_with_tools):
        draft.log(ev.Phase1Start, stage=row.stage.id)
        if not silent and not loop_is_open(draft):
            return close_loop(draft, loop_end(draft))
    else:
        draft.log(ev.Phase2Start, stage=row.stage.id)
    return ask(draft)


def loop_is_open(draft: Draft) -> bool:
    """Whether tool calls of this turn are carried out: the stage has tools and no limit is reached."""
    running, options = draft.running, draft.options
    return (
        running.closed_at is None
        and draft.row.starts_with_tools
        and running.tool_calls < options.max_tool_calls_per_turn
        and running.refused_moves < options.max_transitions_per_turn
        and not out_of_time(draft)
    )


def out_of_time(draft: Draft) -> bool:
    """Whether the turn's tool time, which goes on through its stages, is over."""
    began = draft.running.phase1_started_at
    return began is not None and draft.now >= began + draft.tables.root.phase1_timeout


def loop_end(draft: Draft) -> LoopEnd:
    """Why the loop is not open any more."""
    return "timeout" if out_of_time(draft) else "limit"


def close_loop(draft: Draft, reason: LoopEnd) -> None:
    """End the tool loop: a `tool_call` rule may move on now, else the reply is asked for."""
    was_silent = draft.running.phase == 1
    log_phase1_complete(draft, reason)
    if was_silent:
        rule = evaluate(draft, "phase1")
        if rule is not None and fire(draft, rule):
            return
        draft.log(ev.Phase2Start, stage=draft.frame.stage)
    ask(draft)


def log_phase1_complete(
    draft: Draft, reason: Literal["text", "transition", "limit", "timeout", "stopped"]
) -> None:
    """Log the end of the tool loop with the number of tools that ran in this turn."""
    ran = sum(record.ran for record in draft.running.records)
    draft.log(ev.Phase1Complete, stage=draft.frame.stage, tool_calls=ran, reason=reason)


def ask(draft: Draft) -> None:
    """Want the model's next message in the current phase."""
    row, running = draft.row, draft.running
    choice, tail = _choice(draft, row)
    draft.want(
        CallModel(
            call=draft.state.calls + 1,
            stage=row.stage.id,
            frame=draft.frame.id,
            phase=2 if running.phase == 2 else 1,
            config=row.config,
            tool_choice=choice,
            tail=tail,
            hold=_hold(draft),
            agent=draft.frame.agent,
            raw=row.stage.kind == "raw",
        )
    )


def _choice(draft: Draft, row: StageRow) -> tuple[ToolChoice, str | None]:
    """The tool choice of the next request, and the line that stands for it where it would cost the cache."""
    running, stage = draft.running, row.stage
    if stage.tool_choice == "none":
        return "none", None
    if loop_is_open(draft):
        return (stage.tool_choice, forced_line(stage.tool_choice)) if is_forced(draft) else ("auto", None)
    if barred_requests(draft) > 0:
        return "none", None
    return ("none", ANSWER_NOW) if running.closed_at is not None else ("auto", None)


def barred_requests(draft: Draft) -> int:
    """Answers of the model since no call is carried out any more."""
    running = draft.running
    return running.requests - (running.closed_at or 0)


def is_forced(draft: Draft) -> bool:
    """Whether the next request must call a tool: the turn's first one and one reminder."""
    running = draft.running
    choice = draft.row.stage.tool_choice
    return choice not in ("auto", "none") and running.calls_here == 0 and running.requests < 2


def forced_line(choice: ToolChoice) -> str:
    """The line that says in words what a forced tool choice says."""
    if isinstance(choice, NamedToolChoice):
        return f"Call the tool {choice.name} now, before you answer."
    return "Call one of your tools now, before you answer."


def _hold(draft: Draft) -> int | None:
    if draft.running.phase == 2:
        return 0
    if draft.row.stage.kind == "raw" or (loop_is_open(draft) and is_forced(draft)):
        return None
    return draft.options.reply_hold


def finish_reply(draft: Draft) -> None:
    """The reply is complete: the turn counts, rules look at it, the stage's limit is checked."""
    row = draft.row
    draft.log(ev.Phase2Complete, stage=row.stage.id, text="\n\n".join(draft.running.shown))
    if row.stage.kind == "end":
        return end_frame(draft, "end_stage", dict(draft.frame.data))
    rule = evaluate(draft, "after")
    if rule is not None:
        return None if fire(draft, rule) else settle(draft)
    if row.stage.max_turns is not None and draft.frame.turn_count >= row.stage.max_turns:
        return leave_by_limit(draft, "max_turns")
    return settle(draft)


def leave_by_limit(draft: Draft, reason: Literal["max_turns", "timeout"]) -> None:
    """The stage's own limit is reached: its rule for it, else its first rule, else the frame ends."""
    spent = {*draft.frame.refused_rules, *draft.frame.fired_rules}
    rules = [rule for rule in draft.row.rules if rule.id not in spent]
    rule = next((rule for rule in rules if rule.condition.type == reason), rules[0] if rules else None)
    if rule is None:
        return end_frame(draft, reason, None)
    words = "maxTurns is reached." if reason == "max_turns" else "timeoutMs has passed."
    return None if fire(draft, rule, f"The stage's {words}") else settle(draft)


def fire(draft: Draft, rule: Transition, reason: str | None = None) -> bool:
    """Carry out a rule that holds; False if it was refused."""
    problem = refusal(draft, rule)
    if problem is not None:
        refuse(draft, rule, problem)
        return False
    if rule.action.mode == "return" and draft.frame.depth == 0:
        end_frame(draft, "return", dict(rule.action.data or {}))
        return True
    trigger(draft, rule, reason or f"The rule {rule.id} ({rule.condition.type}) held.")
    move(draft)
    return True


def move(draft: Draft) -> None:
    """Go on with the transition, and with what follows it."""
    follow(draft, carry_on(draft))


def follow(draft: Draft, outcome: tuple[str, bool] | None) -> None:
    """What comes after a transition, unless one of its actions has to be waited for."""
    if outcome is None:
        return
    then, entered = outcome
    if then == "reply":
        begin_reply(draft)
    elif then == "after":
        settle(draft, entered=entered)
    elif entered:
        speak_or_end(draft, "start" if then == "start" else "timer")


def settle(draft: Draft, *, entered: bool = False) -> None:
    """The turn is complete; a stage that was entered after the reply may speak by itself or end."""
    if draft.state.running is None:
        return
    complete_turn(draft)
    if entered:
        speak_or_end(draft, "speak_on_enter")


def complete_turn(draft: Draft) -> None:
    """Log the end of the turn with what it showed and cost."""
    running = draft.running
    draft.log(
        ev.TurnComplete,
        stage=running.replied_stage or draft.frame.stage,
        text="\n\n".join(running.shown),
        usage=running.usage,
        cost=running.cost if running.requests or running.usage is not None else None,
    )


def speak_or_end(draft: Draft, cause: Literal["start", "speak_on_enter", "timer"]) -> None:
    """A stage entered while no turn runs: raw and speaking ones begin a turn, an end stage ends its frame."""
    stage = draft.row.stage
    if stage.kind == "raw":
        begin_turn(draft, "raw")
        begin_reply(draft)
    elif stage.speak_on_enter:
        begin_turn(draft, cause)
        begin_reply(draft)
    elif stage.kind == "end":
        end_frame(draft, "end_stage", dict(draft.frame.data))


def end_frame(draft: Draft, reason: str, value: dict[str, object] | None) -> None:
    """End the current frame: back to the caller, or, in the root, the session is complete."""
    if draft.frame.depth > 0:
        trigger_return(draft, reason, value)
        return move(draft)
    if draft.state.running is not None:
        complete_turn(draft)
    draft.log(ev.SessionComplete, stage=draft.frame.stage, value=value or None, reason=reason)
    return None
