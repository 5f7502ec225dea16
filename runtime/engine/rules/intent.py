"""`intent`: a classifier gives the user's message that intent. Not evaluated in this version, and says so."""

from __future__ import annotations

from runtime.engine.rules.facts import Facts, Moment, Verdict, excerpt
from runtime.playbook import IntentCondition


def looks(condition: IntentCondition, moment: Moment) -> bool:
    """Before the reply."""
    return moment == "before"


def judge(condition: IntentCondition, facts: Facts) -> Verdict:
    """Never true: a rule that cannot fire yet must not be silent about it."""
    seen = {"text": excerpt(facts.user_text), "intent": condition.intent}
    return Verdict(False, seen, "Intent rules are not evaluated in this version.")
