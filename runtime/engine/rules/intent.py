"""`intent`: a classifier gives the user's message that intent, with at least that confidence."""

from __future__ import annotations

from typing import Any

from runtime.engine.intents import Classification
from runtime.engine.rules.facts import Facts, Moment, Verdict, excerpt
from runtime.playbook import IntentCondition


def looks(condition: IntentCondition, moment: Moment) -> bool:
    """Before the reply."""
    return moment == "before"


def judge(condition: IntentCondition, facts: Facts) -> Verdict:
    """True if it is the likeliest intent and likely enough. No answer of the classifier is a verdict too."""
    given = facts.classification
    seen: dict[str, Any] = {"text": excerpt(facts.user_text), "intent": condition.intent}
    if not condition.intent.strip():
        return Verdict(False, seen, "The rule names no intent.")
    if given is None:
        return Verdict(False, seen, "The message has no text that could be classified.")
    seen |= {"classifier": given.classifier}
    if given.error is not None:
        return Verdict(False, seen, f"The message was not classified: {given.error}")
    score = given.confidence if given.intent == condition.intent else given.scores.get(condition.intent, 0.0)
    seen |= {"confidence": round(score, 3), "needs": condition.confidence}
    likeliest = given.intent == condition.intent
    return Verdict(likeliest and score >= condition.confidence, seen, _reason(condition, given, score))


def _reason(condition: IntentCondition, given: Classification, score: float) -> str:
    """In words, with the numbers: `intent refund 0.31, needs 0.6`."""
    needs = f"intent {condition.intent} {rounded_down(score)}, needs {condition.confidence:g}"
    if given.intent is None or given.intent == condition.intent:
        return f"{needs}."
    return f"{needs}; likelier is {given.intent} with {rounded_down(given.confidence)}."


def rounded_down(confidence: float) -> str:
    """With two digits, never more than it is: 0.599 that was not enough for 0.6 reads 0.59."""
    return f"{int(confidence * 100 + 1e-9) / 100:.2f}"
