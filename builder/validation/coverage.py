"""When one rule leaves nothing to another: it comes first, and holds whenever the other would."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from builder.validation.outline import ANY_STAGE
from runtime.engine.rules import MOMENTS, Moment, looks
from runtime.engine.rules.keyword import occurs
from runtime.playbook import (
    Condition,
    CustomCondition,
    IntentCondition,
    KeywordCondition,
    LLMDecisionCondition,
    MaxTurnsCondition,
    TimeoutCondition,
    ToolCallCondition,
    Transition,
)
from runtime.playbook.engine_tools import target_of


class Placed:
    """A transition and its place in the list. Compared by identity: the same one is the same object."""

    __slots__ = ("index", "kind", "order", "rule")

    def __init__(self, index: int, rule: Transition) -> None:
        self.index = index
        self.rule = rule
        self.kind = _kind_of(rule.condition, rule)
        """Rules of different kinds never cover one another, but for `custom` rules that are always true."""
        self.order = (-rule.priority, rule.from_stage == ANY_STAGE, index)
        """As the engine looks at rules: higher priority, a named stage before `*`, document order."""


def _kind_of(condition: Condition, rule: Transition) -> object:
    match condition:
        case ToolCallCondition():
            return ("tool_call", condition.tool_name)
        case IntentCondition():
            return ("intent", condition.intent)
        case LLMDecisionCondition():
            return ("llm_decision", target_of(rule))
        case TimeoutCondition():
            return ("timeout", condition.since)
        case CustomCondition():
            return ("custom", condition.when, condition.expression.strip())
        case _:
            return condition.type


def is_always(condition: Condition) -> bool:
    """A `custom` rule that holds each time it is looked at."""
    return isinstance(condition, CustomCondition) and condition.expression.strip() == "true"


def covers(first: Placed, other: Placed) -> bool:
    """Whether `first` fires whenever `other` would, in a stage where both may fire."""
    one, two = first.rule.condition, other.rule.condition
    ahead = first.order < other.order
    if is_always(one):
        return ahead and moments(two) <= moments(one)
    match one, two:
        case MaxTurnsCondition(), MaxTurnsCondition():
            leaves = first.rule.action.mode != "call"
            return (ahead and one.count <= two.count) or (leaves and one.count < two.count)
        case TimeoutCondition(), TimeoutCondition():
            leaves = first.rule.action.mode != "call" and one.since == two.since
            return leaves and one.duration_ms < two.duration_ms + ahead
        case KeywordCondition(), KeywordCondition():
            return bool(two.keywords) and all(covering_keyword(first, other, word) for word in two.keywords)
    return ahead and _holds_too(one, two, first.rule, other.rule)


def _holds_too(one: Condition, two: Condition, first: Transition, other: Transition) -> bool:
    match one, two:
        case ToolCallCondition(), ToolCallCondition():
            where, same_tool = (one.where or "").strip(), one.tool_name == two.tool_name
            wider = one.outcome in ("any", two.outcome)
            return same_tool and wider and where in ("", (two.where or "").strip())
        case IntentCondition(), IntentCondition():
            return one.intent == two.intent and one.confidence <= two.confidence
        case LLMDecisionCondition(), LLMDecisionCondition():
            return target_of(first) == target_of(other)
        case CustomCondition(), CustomCondition():
            return one.when == two.when and one.expression.strip() == two.expression.strip()
    return False


def covering_keyword(first: Placed, other: Placed, word: str) -> str | None:
    """The keyword of `first` that occurs wherever `word` of `other` does; None if `first` comes later."""
    one, two = first.rule.condition, other.rule.condition
    if not (isinstance(one, KeywordCondition) and isinstance(two, KeywordCondition)):
        return None
    if first.order > other.order or not moments(two) <= moments(one):
        return None
    return next((wider for wider in one.keywords if _within(wider, one.match, word, two.match)), None)


def moments(condition: Condition) -> frozenset[Moment]:
    """When such a rule is looked at."""
    return frozenset(moment for moment in MOMENTS if looks(condition, moment))


def _within(wider: str, match: str, word: str, matched: str) -> bool:
    """Whether every text in which `word` is found has `wider` as well."""
    if "regex" in (match, matched):
        return match == matched and wider == word and bool(wider.strip())
    if normal(wider) not in normal(word) or not wider.strip():
        return False
    if match == "word" and matched == "substring":
        return False
    return occurs(wider, word, match)


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """A keyword as it is compared."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", text).casefold().split()))
