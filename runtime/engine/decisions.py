"""`playbook_transition`: which of the model's requests to move on is carried out, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.conversation import events as ev
from runtime.conversation.messages import ToolCall
from runtime.engine.draft import Draft
from runtime.engine.transitions import refusal, refuse
from runtime.playbook import LLMDecisionCondition, Transition
from runtime.playbook.engine_tools import TRANSITION_TOOL, target_of

SECOND = "Not carried out: another transition of the same message was."


def answer_decisions(draft: Draft) -> tuple[str, Mapping[str, Any]] | None:
    """Give every pending `playbook_transition` its result; the first valid one's rule id is returned."""
    chosen: tuple[str, Mapping[str, Any]] | None = None
    for call in draft.running.pending:
        if call.name != TRANSITION_TOOL:
            continue
        rule, problem = (None, SECOND) if chosen is not None else _rule_for(draft, call)
        draft.log(ev.ToolCallStart, call_id=call.call_id, name=call.name, arguments=call.arguments)
        draft.log(
            ev.ToolCallComplete,
            call_id=call.call_id,
            tool_name=call.name,
            success=rule is not None,
            result={"movedTo": target_of(rule)} if rule is not None else None,
            error=problem if rule is None else None,
        )
        if rule is not None:
            chosen = (rule.id, call.arguments or {})
    return chosen


def _rule_for(draft: Draft, call: ToolCall) -> tuple[Transition | None, str]:
    """The rule that the call asks for, or what is wrong with the call."""
    targets = draft.row.targets
    allowed = f"Allowed targets here: {', '.join(targets)}." if targets else "No transition is allowed here."
    if call.arguments is None:
        return None, f"The arguments are not valid JSON. {allowed}"
    target = call.arguments.get("targetStage")
    if not isinstance(target, str) or target not in targets:
        named = f"{target!r} is not a target here." if target is not None else "No targetStage was given."
        return None, f"{named} {allowed}"
    rule = next(rule for rule in draft.row.rules if _leads_to(rule, target))
    problem = refusal(draft, rule)
    if problem is not None:
        refuse(draft, rule, problem)
        return None, f"Not carried out: {problem}"
    return rule, ""


def _leads_to(rule: Transition, target: str) -> bool:
    return isinstance(rule.condition, LLMDecisionCondition) and target_of(rule) == target
