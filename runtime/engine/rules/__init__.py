"""One module per condition kind, all of one shape: `looks(condition, moment)`, `judge(condition, facts)`."""

from __future__ import annotations

from typing import assert_never

from runtime.engine.rules import custom, intent, keyword, llm_decision, max_turns, timeout, tool_call
from runtime.engine.rules.facts import MOMENTS, Facts, Moment, Verdict
from runtime.playbook import (
    Condition,
    CustomCondition,
    IntentCondition,
    KeywordCondition,
    LLMDecisionCondition,
    MaxTurnsCondition,
    TimeoutCondition,
    ToolCallCondition,
)

__all__ = ["MOMENTS", "Facts", "Moment", "Verdict", "judge", "looks"]


def looks(condition: Condition, moment: Moment) -> bool:
    """Whether a condition of that kind is looked at in that moment."""
    match condition:
        case KeywordCondition():
            return keyword.looks(condition, moment)
        case ToolCallCondition():
            return tool_call.looks(condition, moment)
        case IntentCondition():
            return intent.looks(condition, moment)
        case LLMDecisionCondition():
            return llm_decision.looks(condition, moment)
        case MaxTurnsCondition():
            return max_turns.looks(condition, moment)
        case TimeoutCondition():
            return timeout.looks(condition, moment)
        case CustomCondition():
            return custom.looks(condition, moment)
        case _:
            assert_never(condition)


def judge(condition: Condition, facts: Facts) -> Verdict:
    """The verdict of the condition's kind."""
    match condition:
        case KeywordCondition():
            return keyword.judge(condition, facts)
        case ToolCallCondition():
            return tool_call.judge(condition, facts)
        case IntentCondition():
            return intent.judge(condition, facts)
        case LLMDecisionCondition():
            return llm_decision.judge(condition, facts)
        case MaxTurnsCondition():
            return max_turns.judge(condition, facts)
        case TimeoutCondition():
            return timeout.judge(condition, facts)
        case CustomCondition():
            return custom.judge(condition, facts)
        case _:
            assert_never(condition)
