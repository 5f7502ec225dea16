"""Looks at the rules of a moment, logs what each saw, and says which one fires: the first that holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

from runtime.conversation import events as ev
from runtime.conversation.state import Frame
from runtime.engine.draft import Draft
from runtime.engine.intents import Classification
from runtime.engine.roots import roots_of
from runtime.engine.rules import Facts, Moment, judge
from runtime.playbook import TimeoutCondition, Transition

_MILLISECOND: Final = timedelta(milliseconds=1)


def evaluate(draft: Draft, moment: Moment, classification: Classification | None = None) -> Transition | None:
    """Every rule of the stage that is looked at in `moment` gets its event; the first that holds is returned.

    The order is the order of precedence: priority, then a named `from` before `*`, then document order. Rules
    after the first that holds are looked at as well: the log says which would have fired too.
    """
    rules = draft.row.looked_at[moment]
    if not rules:
        return None
    facts = facts_of(draft, moment, classification)
    if moment == "phase1" and not facts.calls:
        return None
    chosen: Transition | None = None
    for rule in rules:
        if moment == "timer" and not _is_due(draft, rule):
            continue
        verdict = judge(rule.condition, facts)
        draft.log(
            ev.TransitionEvaluated,
            transition=rule.id,
            verdict=verdict.holds,
            seen=verdict.seen,
            reason=verdict.reason,
        )
        if verdict.holds and chosen is None:
            chosen = rule
    return chosen


def facts_of(draft: Draft, moment: Moment, classification: Classification | None = None) -> Facts:
    """What the rules may look at now."""
    running, frame = draft.state.running, draft.frame
    reply = "\n\n".join(running.shown) if running is not None and moment == "after" else ""
    return Facts(
        moment=moment,
        user_text=running.user_text if running is not None else "",
        reply=reply,
        calls=running.records[running.spent :] if running is not None else (),
        turn_count=frame.turn_count,
        since_entered_ms=milliseconds(waited(frame, draft.now)),
        since_activity_ms=_since_activity(draft),
        roots=partial(roots_of, draft.state, draft.row.stage, draft.now, reply=reply),
        classification=classification,
    )


def waited(frame: Frame, now: datetime) -> timedelta:
    """How long this visit has waited for the user; turns and called frames do not count."""
    return frame.idle + (now - frame.idle_since if frame.idle_since is not None else timedelta())


def milliseconds(duration: timedelta) -> int:
    """Whole milliseconds, rounded down."""
    return duration // _MILLISECOND


def _since_activity(draft: Draft) -> int | None:
    frame, running = draft.frame, draft.state.running
    if frame.last_activity is None:
        return None
    until = running.started_at if running is not None else draft.now
    return milliseconds(until - frame.last_activity)


def _is_due(draft: Draft, rule: Transition) -> bool:
    due = due_at(draft.frame, rule)
    return due is not None and due <= draft.now


def due_at(frame: Frame, rule: Transition) -> datetime | None:
    """When the rule's timer fires if the user stays silent; None if it does not."""
    condition = rule.condition
    if (
        not isinstance(condition, TimeoutCondition)
        or rule.id in frame.refused_rules
        or frame.idle_since is None
    ):
        return None
    duration = timedelta(milliseconds=condition.duration_ms)
    if condition.since == "last_activity":
        return frame.last_activity + duration if frame.last_activity is not None else None
    if rule.id in frame.fired_rules:  # it called a stage that has returned
        return None
    return frame.idle_since + (duration - frame.idle)
