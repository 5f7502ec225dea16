"""`timeout`: so much time has passed while the stage waited for the user."""

from __future__ import annotations

from runtime.engine.rules.facts import Facts, Moment, Verdict
from runtime.playbook import TimeoutCondition


def looks(condition: TimeoutCondition, moment: Moment) -> bool:
    """When a timer fires, and before a message that came later than the timer should have fired."""
    return moment in ("timer", "before")


def judge(condition: TimeoutCondition, facts: Facts) -> Verdict:
    """True once the time is up."""
    passed = facts.since_entered_ms if condition.since == "stage_entered" else facts.since_activity_ms
    if passed is None:
        return Verdict(False, None, "No turn has ended in this stage yet.")
    reason = f"{passed} of {condition.duration_ms} ms have passed."
    return Verdict(passed >= condition.duration_ms, passed, reason)
