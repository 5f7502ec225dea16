"""`max_turns`: at least `count` turns were completed in this visit of the stage."""

from __future__ import annotations

from runtime.engine.rules.facts import Facts, Moment, Verdict
from runtime.playbook import MaxTurnsCondition


def looks(condition: MaxTurnsCondition, moment: Moment) -> bool:
    """After the reply, when the turn has been counted."""
    return moment == "after"


def judge(condition: MaxTurnsCondition, facts: Facts) -> Verdict:
    """True from the turn on that makes the count full."""
    done = facts.turn_count
    return Verdict(done >= condition.count, done, f"{done} of {condition.count} turns are done.")
