"""`tool_call`: that tool was run in this turn, with that outcome, and `where` holds for its call."""

from __future__ import annotations

from typing import Any

from runtime.conversation.state import CallRecord
from runtime.engine.rules.facts import Facts, Moment, Verdict, seen_value
from runtime.playbook import ToolCallCondition
from runtime.playbook.expressions import ROOTS, ExpressionError, compile_expression


def looks(condition: ToolCallCondition, moment: Moment) -> bool:
    """After the tool loop, and again after the reply, which may have called tools as well."""
    return moment in ("phase1", "after")


def judge(condition: ToolCallCondition, facts: Facts) -> Verdict:
    """True if one of the turn's calls fits. A call that was refused before it ran is no call."""
    calls = [call for call in facts.calls if call.name == condition.tool_name and call.ran]
    if not calls:
        seen = {"called": [call.name for call in facts.calls]}
        return Verdict(False, seen, f"The tool {condition.tool_name} was not called.")
    verdict = Verdict(False)
    for call in calls:
        verdict = _judge_call(condition, call, facts)
        if verdict.holds:
            break
    return verdict


def _judge_call(condition: ToolCallCondition, call: CallRecord, facts: Facts) -> Verdict:
    outcome = "success" if call.success else "error"
    seen: dict[str, Any] = {"tool": call.name, "outcome": outcome}
    if condition.outcome not in ("any", outcome):
        return Verdict(False, seen, f"{call.name} ended with {outcome}, not with {condition.outcome}.")
    if condition.where is None or not condition.where.strip():
        return Verdict(True, seen, f"{call.name} was called ({outcome}).")
    return _judge_where(condition.where, call, facts, seen)


def _judge_where(where: str, call: CallRecord, facts: Facts, seen: dict[str, Any]) -> Verdict:
    roots = facts.roots() | {"arguments": dict(call.arguments or {}), "result": call.result}
    try:
        outcome = compile_expression(where, (*ROOTS, "arguments", "result")).evaluate(roots)
    except ExpressionError as error:
        return Verdict(False, seen, f"`where` is not a valid expression: {error.message}")
    if outcome.error is not None:
        return Verdict(False, seen, f"`where` could not be evaluated: {outcome.error}")
    seen["where"] = seen_value(outcome.value)
    words = "holds" if outcome.holds else "does not hold"
    return Verdict(outcome.holds, seen, f"{call.name} was called and `where` {words}.")
