"""Each kind of condition by itself: when it is looked at, what holds, and the reason in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from runtime.conversation.state import CallRecord
from runtime.engine.intents import Classification
from runtime.engine.rules import MOMENTS, Facts, Moment, judge, looks
from runtime.playbook import Condition

CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)
NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def condition(kind: str, **fields: Any) -> Condition:
    return CONDITION.validate_python({"type": kind, **fields})


def facts(**known: Any) -> Facts:
    """What there is to look at after a reply; `known` is different."""
    roots = {"vars": {"n": 3}, "turn": {"count": 2}, "stage": {}, "session": {}, "data": {}, "now": NOW}
    usual: dict[str, Any] = {
        "moment": "after",
        "user_text": "",
        "reply": "",
        "calls": (),
        "turn_count": 0,
        "since_entered_ms": 0,
        "since_activity_ms": None,
        "roots": lambda: roots,
    }
    return Facts(**{**usual, **known})


LOOKED_AT: list[tuple[Condition, set[Moment]]] = [
    (condition("keyword", keywords=["x"]), {"after"}),
    (condition("keyword", keywords=["x"], source="user"), {"before"}),
    (condition("keyword", keywords=["x"], source="any"), {"before", "after"}),
    (condition("tool_call", toolName="look"), {"phase1", "after"}),
    (condition("intent", intent="pay"), {"before"}),
    (condition("llm_decision"), {"after"}),
    (condition("max_turns", count=1), {"after"}),
    (condition("timeout", durationMs=1), {"before", "timer"}),
    (condition("timeout", durationMs=1, since="last_activity"), {"before", "timer"}),
    (condition("custom", expression="true"), {"after"}),
    (condition("custom", expression="true", when="before"), {"before"}),
]


@pytest.mark.parametrize(("given", "moments"), LOOKED_AT, ids=lambda value: getattr(value, "type", ""))
def test_a_condition_is_looked_at_when_what_it_needs_is_known(given: Condition, moments: set[Moment]) -> None:
    assert set(MOMENTS) == set(get_args(Moment))
    assert {moment for moment in MOMENTS if looks(given, moment)} == moments


@pytest.mark.parametrize(
    ("source", "moment", "found"),
    [
        ("user", "before", True),
        ("any", "before", True),
        ("assistant", "after", False),
        ("any", "after", False),
    ],
)
def test_a_keyword_is_looked_for_in_the_text_of_the_moment(source: str, moment: str, found: bool) -> None:
    given = condition("keyword", keywords=["no", "pay"], source=source)
    verdict = judge(given, facts(moment=moment, user_text="I want to pay", reply="Gladly."))
    assert verdict.holds is found
    assert ("message" in verdict.reason) is (moment == "before")


LOOKED = CallRecord("look", {"kind": "red"}, ran=True, success=True, result={"free": 2})
FAILED = CallRecord("look", {"kind": "blue"}, ran=True, success=False, error="closed")
REFUSED = CallRecord("look", {"kind": "red"}, ran=False, success=False, error="bad arguments")


@pytest.mark.parametrize(
    ("fields", "calls", "holds", "reason"),
    [
        ({}, [LOOKED], True, "was called (success)"),
        ({}, [FAILED], True, "was called (error)"),
        ({}, [], False, "was not called"),
        ({}, [REFUSED], False, "was not called"),
        ({"toolName": "book"}, [LOOKED], False, "book was not called"),
        ({"outcome": "success"}, [LOOKED], True, ""),
        ({"outcome": "success"}, [FAILED], False, "ended with error"),
        ({"outcome": "error"}, [FAILED], True, ""),
        ({"outcome": "error"}, [LOOKED], False, "ended with success"),
        ({"outcome": "success"}, [FAILED, LOOKED], True, ""),
        ({"where": "result.free > 1"}, [LOOKED], True, "`where` holds"),
        ({"where": "result.free > 2"}, [LOOKED], False, "does not hold"),
        ({"where": "arguments.kind == 'red'"}, [FAILED, LOOKED], True, ""),
        ({"where": "vars.n == 3 && result == null"}, [FAILED], True, ""),
        ({"where": "result.free"}, [LOOKED], False, "does not hold"),
        ({"where": "result.price > 1"}, [LOOKED], False, "could not be evaluated"),
        ({"where": "1 +"}, [LOOKED], False, "not a valid expression"),
        ({"where": " "}, [LOOKED], True, ""),
    ],
)
def test_a_tool_call_fits_by_name_outcome_and_where(
    fields: dict[str, Any], calls: list[CallRecord], holds: bool, reason: str
) -> None:
    verdict = judge(condition("tool_call", **{"toolName": "look", **fields}), facts(calls=tuple(calls)))
    assert verdict.holds is holds
    assert reason in verdict.reason


def said(intent: str | None = "pay", confidence: float = 0.7, **more: Any) -> Classification:
    return Classification("keyword", intent, confidence, {"pay": confidence, "leave": 0.2}, **more)


@pytest.mark.parametrize(
    ("fields", "classification", "holds", "reason"),
    [
        ({}, said(), True, "intent pay 0.70, needs 0.6."),
        ({}, said(confidence=0.599), False, "intent pay 0.59, needs 0.6."),
        ({"confidence": 0.7}, said(), True, ""),
        ({"confidence": 0}, said(confidence=0.0), True, ""),
        ({"intent": "leave", "confidence": 0.1}, said(), False, "likelier is pay"),
        ({"intent": "unheard"}, said(), False, "intent unheard 0.00"),
        ({}, said(None, 0.0), False, ""),
        ({}, said(error="took too long"), False, "was not classified: took too long"),
        ({}, None, False, "no text"),
        ({"intent": " "}, said(), False, "names no intent"),
    ],
)
def test_an_intent_is_the_likeliest_and_likely_enough(
    fields: dict[str, Any], classification: Classification | None, holds: bool, reason: str
) -> None:
    given = condition("intent", **{"intent": "pay", **fields})
    verdict = judge(given, facts(moment="before", user_text="hm", classification=classification))
    assert verdict.holds is holds
    assert reason in verdict.reason


def test_a_decision_that_the_model_did_not_make_says_so() -> None:
    verdict = judge(condition("llm_decision", description="when done"), facts())
    assert (verdict.holds, verdict.reason) == (False, "The model did not ask for this transition.")


@pytest.mark.parametrize(("done", "holds"), [(0, False), (1, False), (2, True), (3, True)])
def test_max_turns_holds_from_the_turn_that_makes_the_count_full(done: int, holds: bool) -> None:
    verdict = judge(condition("max_turns", count=2), facts(turn_count=done))
    assert verdict == (holds, done, f"{done} of 2 turns are done.")


@pytest.mark.parametrize(
    ("since", "entered", "activity", "holds"),
    [
        ("stage_entered", 999, None, False),
        ("stage_entered", 1000, None, True),
        ("stage_entered", 2000, 1, True),
        ("last_activity", 2000, None, False),
        ("last_activity", 2000, 999, False),
        ("last_activity", 0, 1000, True),
    ],
)
def test_a_timeout_holds_when_its_time_has_passed(
    since: str, entered: int, activity: int | None, holds: bool
) -> None:
    given = condition("timeout", durationMs=1000, since=since)
    known = facts(moment="timer", since_entered_ms=entered, since_activity_ms=activity)
    assert judge(given, known).holds is holds


@pytest.mark.parametrize(
    ("expression", "holds", "reason"),
    [
        ("vars.n == 3", True, "The expression is true."),
        ("vars.n > 3", False, "The expression is false."),
        ("now > timestamp('2026-01-05T08:00:00Z')", True, ""),
        ("vars.n", False, "not true or false"),
        ("'true'", False, "not true or false"),
        ("vars.missing > 1", False, "could not be evaluated"),
        ("vars.n / 0 == 1", False, "could not be evaluated"),
        ("vars.n ==", False, "Not a valid expression"),
        ("", False, "Not a valid expression"),
    ],
)
def test_an_expression_holds_if_it_is_true_and_an_error_is_a_verdict(
    expression: str, holds: bool, reason: str
) -> None:
    verdict = judge(condition("custom", expression=expression), facts())
    assert verdict.holds is holds
    assert reason in verdict.reason
