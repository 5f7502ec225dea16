"""Timers: they fire while the user is silent, never during a turn, and count only the time waited."""

from __future__ import annotations

from datetime import timedelta

from runtime.conversation import events as ev
from runtime.engine.happened import Retry
from tests.runtime.desk import DECISION, STOCK, desk, playbook, rule, says, stage
from tests.runtime.engine.table import START, Table, call, move_to


def timeout(milliseconds: int, since: str = "stage_entered") -> dict[str, object]:
    return {"type": "timeout", "durationMs": milliseconds, "since": since}


def test_a_timeout_fires_while_the_user_is_silent() -> None:
    """B042: without any message; once."""
    table = Table(desk(rule("t", "pick", "close", timeout(2000)), start="pick"))
    assert table.wakes_at == START + timedelta(seconds=2)
    table.waits(seconds=3)
    assert table.stage == "close"
    assert len(table.of(ev.TransitionTriggered)) == 1
    table.waits(seconds=3)
    assert len(table.of(ev.TransitionTriggered)) == 1


def test_a_stage_entered_by_a_timer_speaks_if_it_is_told_to() -> None:
    table = Table(playbook([stage("a"), stage("b", speakOnEnter=True)], [rule("t", "a", "b", timeout(1000))]))
    table.waits(seconds=1)
    assert table.of(ev.TurnStarted)[0].cause == "timer"
    table.model("Are you there?")
    assert table.state.status == "idle"


def test_a_timer_does_not_fire_in_the_middle_of_a_turn_and_pauses_during_it() -> None:
    table = Table(desk(rule("t", "pick", "close", timeout(60_000)), start="pick"))
    table.waits(seconds=30)
    table.says("hm")
    table.waits(seconds=50)
    assert table.stage == "pick"
    table.model("City or cargo?")
    assert table.wakes_at == table.now + timedelta(seconds=30)
    table.waits(seconds=29)
    assert table.stage == "pick"
    table.waits(seconds=1)
    assert table.stage == "close"


def test_last_activity_counts_from_the_end_of_the_last_turn() -> None:
    """B044: a message every 40 s for five minutes, and a turn of 70 s: the session never expires."""
    table = Table(desk(rule("t", "pick", "close", timeout(60_000, "last_activity")), start="pick"))
    for _ in range(8):
        table.waits(seconds=40)
        table.says("still here")
        table.waits(seconds=50)
        table.model("Good.")
    assert table.stage == "pick"
    table.waits(seconds=60)
    assert table.stage == "close"


def test_a_called_frame_pauses_its_callers_timer() -> None:
    rules = [
        rule("call", "main", "sub", DECISION, mode="call"),
        rule("ret", "sub", None, DECISION, mode="return"),
        rule("late", "main", "gone", timeout(10_000)),
    ]
    table = Table(playbook([stage("main"), stage("sub"), stage("gone")], rules))
    table.waits(seconds=4)
    table.says("x")
    table.model("", move_to("sub"))
    table.model("In the other stage.")
    table.waits(seconds=100)
    assert table.stage == "sub"
    table.says("back")
    table.model("", move_to("return"))
    table.model("Here again.")
    assert table.wakes_at == table.now + timedelta(seconds=6)


def test_a_stages_own_time_limit_leaves_it_or_ends_the_session() -> None:
    leaving = Table(playbook([stage("a", timeoutMs=1000), stage("b")], [rule("t", "a", "b", says("never"))]))
    leaving.waits(seconds=1)
    assert leaving.stage == "b"
    stuck = Table(playbook([stage("a", timeoutMs=1000)]))
    stuck.waits(seconds=1)
    assert stuck.of(ev.SessionComplete)[0].reason == "timeout"


def test_a_timer_that_is_refused_does_not_fire_again_and_again() -> None:
    agent = rule("t", "a", "agent:Bob", timeout(1000), mode="call")
    table = Table(playbook([stage("a")], [agent]))
    table.waits(seconds=1)
    assert len(table.of(ev.TransitionRefused)) == 1
    assert table.wakes_at is None


def test_a_failed_turn_that_a_timer_moved_on_is_taken_up_by_the_new_stage_from_its_beginning() -> None:
    """Phase, limits and called tools belong to the visit in which it failed."""
    slow = stage("slow", tools=[STOCK])
    done = {"type": "tool_call", "toolName": "stock"}
    rules = [rule("t", "pick", "slow", timeout(60_000)), rule("d", "slow", "close", done)]
    stages = [stage("pick", tools=[STOCK]), slow, stage("close")]
    table = Table(playbook(stages, rules, options={"maxToolCallsPerTurn": 1}))
    table.says("city?")
    table.model("", call("stock", kind="city"))
    table.tool("c1")
    table.model_fails()
    table.waits(seconds=60)
    assert table.stage == "slow"
    table.happens(Retry())
    assert table.asked.stage == "slow"
    assert table.of(ev.Phase1Start)[-1].stage == "slow"
    table.model("Two.")
    assert (table.stage, table.state.status) == ("slow", "idle")


def test_a_timer_whose_called_stage_returns_by_itself_fires_once_in_a_visit() -> None:
    """Else it would fall due again at every return, without end and without anybody there."""
    nudge = stage("nudge", speakOnEnter=True)
    rules = [
        rule("t", "a", "nudge", timeout(1000), mode="call"),
        rule("back", "nudge", "a", {"type": "custom", "expression": "true"}, mode="return"),
    ]
    table = Table(playbook([stage("a"), nudge], rules))
    table.waits(seconds=2)
    table.model("Are you there?")
    assert table.stage == "a"
    assert table.wakes_at is None
    table.waits(seconds=60)
    assert [event.transition for event in table.of(ev.TransitionTriggered)] == ["t", "back"]


def test_a_limit_whose_rule_calls_and_returns_ends_the_visit_the_next_time() -> None:
    nudge = stage("nudge", speakOnEnter=True)
    rules = [
        rule("t", "a", "nudge", DECISION, mode="call"),
        rule("back", "nudge", "a", {"type": "custom", "expression": "true"}, mode="return"),
    ]
    table = Table(playbook([stage("a", timeoutMs=1000), nudge], rules))
    table.waits(seconds=2)
    table.model("Are you there?")
    assert table.stage == "a"
    table.waits(seconds=60)
    assert table.state.status == "complete"
