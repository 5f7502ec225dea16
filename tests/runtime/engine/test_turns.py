"""What a turn does: phases, the reply, limits, failures, retries."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.engine import NotNow
from runtime.engine.effects import CancelModel, CancelTools
from runtime.engine.happened import ReplyBegan, Retry, UserMessage
from tests.runtime.desk import BOOK, DECISION, STOCK, desk, playbook, rule, says, stage
from tests.runtime.engine.table import Table, call, move_to


def test_a_session_enters_its_first_stage_and_waits() -> None:
    table = Table(desk())
    assert table.types == ["session_started", "stage_entered"]
    assert table.state.status == "idle"
    assert not table.asks


def test_a_stage_without_tools_replies_at_once() -> None:
    table = Table(desk(start="close"))
    table.says("hello")
    assert table.asked.phase == 2
    assert table.asked.hold == 0
    assert table.asked.tool_choice == "auto"
    table.model("Bye.")
    assert table.types[2:] == [
        "turn_started",
        "user_message",
        "phase2_start",
        "phase2_complete",
        "turn_complete",
    ]
    assert table.of(ev.TurnComplete)[0].text == "Bye."


def test_a_stage_with_tools_runs_its_tools_before_the_reply() -> None:
    table = Table(desk(start="pick"))
    table.says("a city bike")
    assert (table.asked.phase, table.asked.hold) == (1, 160)
    table.model("", call("stock", kind="city"))
    assert table.runs == ["c1"]
    table.tool("c1", {"free": 2})
    assert table.asked.phase == 1
    table.model("Two are free.")
    assert table.types[4:] == [
        "phase1_start",
        "tool_call_start",
        "tool_call_complete",
        "phase1_complete",
        "phase2_start",
        "phase2_complete",
        "transition_evaluated",
        "turn_complete",
    ]


def test_text_beside_a_tool_call_is_not_shown() -> None:
    table = Table(desk(start="pick"))
    table.says("a city bike")
    table.model("Let me look.", call("stock", kind="city"))
    table.tool("c1")
    table.model("Two are free.")
    assert table.of(ev.Phase2Complete)[0].text == "Two are free."


def test_a_long_reply_begins_before_the_message_is_complete() -> None:
    table = Table(desk(start="pick"))
    table.says("hi")
    table.happens(ReplyBegan(1))
    assert table.types[-2:] == ["phase1_complete", "phase2_start"]
    table.model("A long reply, and then a call.", call("stock", kind="city"))
    table.tool("c1")
    assert (table.asked.phase, table.asked.hold) == (2, 0)
    table.model("It goes on.")
    assert table.of(ev.Phase2Complete)[0].text == "A long reply, and then a call.\n\nIt goes on."


def test_parallel_calls_start_together_and_sequential_ones_wait_for_each_other() -> None:
    first, second = (dict(BOOK, name=name, executionPolicy="sequential") for name in ("first", "second"))
    table = Table(playbook([stage("a", tools=[STOCK, first, second])]))
    table.says("go")
    day = {"kind": "city", "day": "Mon"}
    table.model("", call("first", "s1", **day), call("stock", "p1", kind="a"), call("second", "s2", **day))
    assert table.runs == ["s1", "p1"]
    table.tool("p1")
    assert table.runs == []
    table.tool("s1")
    assert table.runs == ["s2"]
    assert not table.asks
    table.tool("s2")
    assert table.asks


def test_the_tool_limit_ends_with_an_answer() -> None:
    """B040: exactly three tools run, the fourth call gets a result, and the reply is asked for."""
    table = Table(desk(start="pick", options={"maxToolCallsPerTurn": 3}))
    table.says("find one")
    table.model("", call("stock", "c1", kind="a"), call("stock", "c2", kind="b"))
    table.tool("c1")
    table.tool("c2")
    table.model("", call("stock", "c3", kind="c"), call("stock", "c4", kind="d"))
    assert table.runs == ["c3"]
    assert "limit" in (table.results["c4"].error or "")
    table.tool("c3")
    complete = table.of(ev.Phase1Complete)[-1]
    assert (complete.tool_calls, complete.reason) == (3, "limit")
    assert (table.asked.phase, table.asked.tool_choice) == (2, "none")
    assert table.asked.tail == "Answer the user now; call no tool."
    table.model("Nothing free today.")
    assert table.state.status == "idle"


def test_with_a_limit_of_zero_no_tool_runs_and_the_answer_still_comes() -> None:
    table = Table(desk(start="pick", options={"maxToolCallsPerTurn": 0}))
    table.says("find one")
    assert (table.asked.phase, table.asked.tool_choice) == (2, "none")
    table.model("", call("stock", kind="a"))
    assert table.runs == []
    table.model("Sorry.")
    assert table.of(ev.TurnComplete)[0].text == "Sorry."


def test_a_model_that_goes_on_calling_tools_is_asked_once_more_and_then_the_turn_ends() -> None:
    table = Table(desk(start="close"))
    table.says("hello")
    table.model("", call("stock", "c1", kind="a"))
    assert (table.asked.tool_choice, table.asked.tail) == ("none", None)
    table.model("", call("stock", "c2", kind="a"))
    assert not table.asks
    assert table.of(ev.TurnComplete)[0].text == ""
    assert table.calls_without_one_result() == []


def test_a_call_beside_shown_text_is_answered_and_the_text_is_the_reply() -> None:
    table = Table(desk(start="close"))
    table.says("hello")
    table.model("Goodbye.", call("stock", "c1", kind="a"))
    assert not table.asks
    assert table.of(ev.TurnComplete)[0].text == "Goodbye."


def test_an_empty_message_is_followed_by_asking_for_a_reply() -> None:
    table = Table(desk(start="pick"))
    table.says("hi")
    table.model("")
    assert table.of(ev.Phase1Complete)[0].reason == "stopped"
    assert (table.asked.phase, table.asked.tool_choice) == (2, "none")


def test_tools_that_do_not_answer_in_time_are_cancelled_and_the_reply_is_asked_for() -> None:
    """B045: the finished call keeps its result, the hung one gets a timeout result."""
    table = Table(desk(start="pick", options={"phase1TimeoutMs": 3000}))
    table.says("go")
    table.model("", call("stock", "c1", kind="a"), call("book", "c2", kind="a", day="Mon"))
    table.tool("c2", "done")
    table.waits(seconds=3)
    assert CancelTools(("c1",)) in table.wants
    assert table.results["c2"].result == "done"
    assert "time" in (table.results["c1"].error or "")
    assert table.of(ev.Phase1Complete)[-1].reason == "timeout"
    table.model("Stock is not reachable.")
    assert table.calls_without_one_result() == []


def test_a_model_that_hangs_in_phase_1_is_cancelled_in_time() -> None:
    table = Table(desk(start="pick", options={"phase1TimeoutMs": 3000}))
    table.says("go")
    table.waits(seconds=3)
    assert CancelModel() in table.wants
    assert table.asked.phase == 2


def test_a_turn_has_a_time_limit_in_all() -> None:
    table = Table(desk(start="close", options={"turnTimeoutMs": 5000}))
    table.says("go")
    assert table.wakes_at is not None
    table.waits(seconds=5)
    assert table.of(ev.TurnInterrupted)[0].reason == "timeout"
    assert table.state.status == "idle"


def test_a_failed_turn_says_why_and_a_retry_does_not_run_a_tool_again() -> None:
    """B046: the retry repeats only the failed model call."""
    table = Table(desk(start="pick"))
    table.says("book city for Monday")
    table.model("", call("book", kind="city", day="Mon"))
    table.tool("c1", "booking 1")
    table.model_fails()
    failed = table.of(ev.TurnFailed)[0]
    assert failed.message == "The model is overloaded."
    table.happens(Retry())
    assert table.runs == []
    assert table.asked.phase == 1
    table.model("It is reserved.")
    assert len(table.of(ev.ToolCallStart)) == 1
    assert table.of(ev.TurnComplete)[0].turn == 1
    assert table.state.frame is not None
    assert table.state.frame.turn_count == 1


def test_after_a_failed_turn_the_next_message_begins_a_new_one() -> None:
    table = Table(desk(start="close"))
    table.says("one")
    table.model_fails()
    table.says("two")
    table.happens(Retry())
    table.model("Yes.")
    assert table.state.turn == 2


def test_a_required_tool_is_forced_for_the_first_request_only() -> None:
    """B047: two model calls, not ten."""
    table = Table(playbook([stage("pick", tools=[STOCK], toolChoice={"name": "stock"})]))
    table.says("x")
    assert table.asked.tool_choice != "auto"
    assert table.asked.hold is None
    table.model("", call("stock", kind="city"))
    table.tool("c1")
    assert (table.asked.tool_choice, table.asked.tail) == ("auto", None)


def test_a_required_tool_that_is_not_called_is_asked_for_once_more_and_then_given_up() -> None:
    table = Table(playbook([stage("pick", tools=[STOCK], toolChoice="required")]))
    table.says("x")
    table.model("No.")
    assert table.asked.tool_choice == "required"
    assert table.asked.tail is not None
    table.model("Still no.")
    assert len(table.of(ev.ToolChoiceUnmet)) == 1
    assert table.of(ev.TurnComplete)[0].text == "Still no."


def test_an_unknown_tool_gets_an_error_that_names_the_stages_tools() -> None:
    """B048: nothing runs by a near match, and the turn is answered."""
    table = Table(desk(start="pick"))
    table.says("is it free?")
    table.model("", call("stock ", "c1", kind="city"), call("Stock", "c2", kind="city"))
    assert table.runs == []
    assert "stock, book" in (table.results["c1"].error or "")
    table.model("I cannot look that up here.")
    assert table.state.status == "idle"


@pytest.mark.parametrize("arguments", [{}, {"kind": 7}])
def test_arguments_that_do_not_fit_the_schema_go_back_to_the_model(arguments: dict[str, Any]) -> None:
    table = Table(desk(start="pick"))
    table.says("x")
    table.model("", call("stock", **arguments))
    assert table.runs == []
    assert "do not fit" in (table.results["c1"].error or "")
    assert table.asks


def test_arguments_that_did_not_parse_are_never_run() -> None:
    table = Table(desk(start="pick"))
    table.says("x")
    broken = call("stock").model_copy(update={"arguments": None, "raw": '{"kind": "ci'})
    table.model("", broken)
    assert table.runs == []
    assert "not valid JSON" in (table.results["c1"].error or "")


def test_a_tool_that_needs_approval_is_not_run_without_it() -> None:
    table = Table(playbook([stage("a", tools=[dict(STOCK, approval="always")])]))
    table.says("x")
    table.model("", call("stock", kind="city"))
    assert table.runs == []
    assert "approval" in (table.results["c1"].error or "")


def test_repeated_call_ids_of_a_message_are_told_apart() -> None:
    table = Table(desk(start="pick"))
    table.says("x")
    table.model("", call("stock", "c1", kind="a"), call("stock", "c1", kind="b"), call("stock", "", kind="c"))
    assert len(set(table.runs)) == 3


def test_save_as_stores_a_result_in_a_variable() -> None:
    table = Table(playbook([stage("a", tools=[dict(STOCK, saveAs="found")])]))
    table.says("x")
    table.model("", call("stock", kind="a"))
    table.tool("c1", {"free": 2})
    assert table.state.variables["found"] == {"free": 2}
    assert table.of(ev.StateChanged)[0].cause == "tool:stock"


def test_a_failed_result_is_not_saved() -> None:
    table = Table(playbook([stage("a", tools=[dict(STOCK, saveAs="found")])]))
    table.says("x")
    table.model("", call("stock", kind="a"))
    table.tool("c1", error="no")
    assert "found" not in table.state.variables


def test_a_message_during_a_turn_is_refused_by_the_engine() -> None:
    table = Table(desk(start="close"))
    table.says("one")
    with pytest.raises(NotNow):
        table.says("two")


def test_a_message_sent_twice_is_taken_once() -> None:
    table = Table(desk(start="close"))
    table.happens(UserMessage("one", "m-1"))
    table.model("Yes.")
    table.happens(UserMessage("one", "m-1"))
    assert table.state.turn == 1
    assert not table.asks


def test_a_model_that_asks_for_forbidden_moves_over_and_over_is_stopped() -> None:
    table = Table(playbook([stage("a"), stage("b")], [rule("t", "a", "b", DECISION)]))
    table.says("x")
    for number in range(5):
        table.model("", move_to("nowhere", f"m{number}"))
    assert table.asked.tool_choice == "none"
    table.model("Fine.")
    assert table.stage == "a"


def test_a_turn_reports_what_its_calls_used() -> None:
    table = Table(desk(rule("t2", "close", "greet", says("x")), start="close"))
    table.says("one")
    table.model("Yes.")
    assert table.of(ev.TurnComplete)[0].cost is None
