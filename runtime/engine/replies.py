"""What the model said: a reply, tool calls, nothing, or no message at all."""

from __future__ import annotations

from runtime.conversation import events as ev
from runtime.conversation.messages import AssistantMessage
from runtime.conversation.window_fold import WINDOW_FULL
from runtime.engine import turns
from runtime.engine.calls import take_calls, with_unique_ids
from runtime.engine.draft import Draft
from runtime.engine.effects import CancelModel
from runtime.engine.evaluating import evaluate
from runtime.engine.happened import ModelFailed, ModelReplied, ReplyBegan
from runtime.engine.transitions import abandon_agent, refusal, refuse
from runtime.playbook import Transition


def is_awaited(draft: Draft, call: int) -> bool:
    """Whether that call's answer is what the turn waits for; a late one is not."""
    running, moving = draft.state.running, draft.state.moving
    if running is None or moving is not None or running.pending or running.phase == 0:
        return False
    return call == (running.call if running.call is not None else draft.state.calls + 1)


def reply_began(draft: Draft, happened: ReplyBegan) -> None:
    """The held text is the reply, unless a `tool_call` rule moves on first: then nobody sees it."""
    if not is_awaited(draft, happened.call) or draft.running.phase != 1:
        return
    rule = _overtaking_rule(draft)
    if rule is None:
        draft.log(ev.Phase2Start, stage=draft.frame.stage)
        return
    draft.want(CancelModel())
    draft.log(
        ev.LLMCallFailed,
        call=happened.call,
        error="A rule moved the conversation on before the reply was shown.",
        code="superseded",
        usage=happened.usage,
        cost=happened.cost,
    )
    turns.fire(draft, rule)


def _overtaking_rule(draft: Draft) -> Transition | None:
    """Phase 1 ends with a text: the rule that moves on before anybody sees it, if one holds and may."""
    turns.log_phase1_complete(draft, "text")
    rule = evaluate(draft, "phase1")
    problem = refusal(draft, rule) if rule is not None else None
    if rule is None or problem is None:
        return rule
    refuse(draft, rule, problem)
    return None


def model_replied(draft: Draft, happened: ModelReplied) -> None:
    """The whole message is there."""
    if not is_awaited(draft, happened.call):
        return None
    message = with_unique_ids(happened.message)
    if message.tool_calls:
        _log_completed(draft, happened, message)
        return take_calls(draft)
    if draft.row.stage.kind == "raw":
        return _raw_replied(draft, happened)
    if turns.loop_is_open(draft) and turns.is_forced(draft):
        if draft.running.requests == 0:
            _log_completed(draft, happened, message)
            return turns.ask(draft)
        choice = draft.row.stage.tool_choice
        draft.log(ev.ToolChoiceUnmet, stage=draft.frame.stage, tool_choice=choice)
    return _text_replied(draft, happened)


def _log_completed(draft: Draft, happened: ModelReplied, message: AssistantMessage) -> None:
    draft.log(
        ev.LLMCallCompleted,
        call=happened.call,
        message=message,
        usage=happened.usage,
        cost=happened.cost,
        first_token_ms=happened.first_token_ms,
        duration_ms=happened.duration_ms,
    )


def _text_replied(draft: Draft, happened: ModelReplied) -> None:
    """A message without calls: the reply, or, if it is empty, the reason to ask for one."""
    if draft.running.phase == 2:
        _log_completed(draft, happened, happened.message)
        return turns.finish_reply(draft)
    if not happened.message.text.strip():
        _log_completed(draft, happened, happened.message)
        return turns.close_loop(draft, "stopped")
    rule = _overtaking_rule(draft)
    if rule is not None:
        _log_completed(draft, happened, happened.message)
        turns.fire(draft, rule)
        return None
    draft.log(ev.Phase2Start, stage=draft.frame.stage)
    _log_completed(draft, happened, happened.message)
    return turns.finish_reply(draft)


def _raw_replied(draft: Draft, happened: ModelReplied) -> None:
    """Called, a raw stage's text is the value it returns; otherwise it is the reply."""
    _log_completed(draft, happened, happened.message)
    if draft.frame.depth == 0:
        return turns.finish_reply(draft)
    turns.log_phase1_complete(draft, "text")
    return turns.end_frame(draft, "raw", {"value": happened.message.text})


def model_failed(draft: Draft, happened: ModelFailed) -> None:
    """The call gave no message: the turn fails with a sentence, and can be taken up again.

    An agent whose model will fail each time is given up, for nobody could leave it: its caller goes on with
    the turn.
    """
    if not is_awaited(draft, happened.call):
        return None
    draft.log(
        ev.LLMCallFailed,
        call=happened.call,
        error=happened.error,
        code=happened.code,
        status=happened.status,
        retryable=happened.retryable,
        usage=happened.usage,
        cost=happened.cost,
    )
    if draft.frame.agent is not None and not happened.retryable:
        abandon_agent(draft, happened.error)
        return turns.begin_reply(draft)
    draft.log(
        ev.TurnFailed,
        stage=draft.frame.stage,
        code=happened.code,
        message=happened.error,
        retryable=happened.code != WINDOW_FULL,
    )
    return None
