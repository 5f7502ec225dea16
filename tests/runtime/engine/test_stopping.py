"""Stop, interruption, a process that died: every open call gets its result, the session is in one stage."""

from __future__ import annotations

from runtime.conversation import events as ev
from runtime.engine.effects import CancelModel, CancelTools
from runtime.engine.happened import Stop
from tests.runtime.desk import DECISION, STOCK, desk, playbook, rule, stage
from tests.runtime.engine.table import Table, call, move_to


def test_stop_while_a_tool_runs_cancels_it_and_keeps_the_finished_ones_result() -> None:
    """B034: the late result is ignored, nothing runs a second time, the next turn is answered."""
    table = Table(desk(start="pick"))
    table.says("city?")
    table.model("", call("book", "c1", kind="city", day="Mon"), call("stock", "c2", kind="city"))
    table.tool("c1", "done")
    table.stops()
    assert CancelTools(("c2",)) in table.wants
    assert table.results["c1"].success
    assert "Cancelled" in (table.results["c2"].error or "")
    events = len(table.log)
    table.tool("c2", {"free": 1})
    assert len(table.log) == events
    table.says("never mind")
    table.model("All right.")
    assert table.calls_without_one_result() == []


def test_stop_keeps_the_text_that_was_shown() -> None:
    table = Table(desk(start="close"))
    table.says("hello")
    table.stops(shown="Good")
    assert CancelModel() in table.wants
    assert table.of(ev.LLMCallFailed)[0].code == "cancelled"
    assert table.of(ev.TurnInterrupted)[0].shown_text == "Good"


def test_a_stopped_turn_counts_only_if_it_showed_text() -> None:
    """B041: a turn is a user's message with an answer."""
    table = Table(desk(start="close"))
    table.says("one")
    table.stops()
    assert table.state.frame is not None
    assert table.state.frame.turn_count == 0
    table.says("two")
    table.stops(shown="Hel")
    assert table.state.frame.turn_count == 1


def test_text_that_was_held_back_is_not_what_a_stop_keeps() -> None:
    table = Table(desk(start="pick"))
    table.says("hello")
    table.stops(shown="never shown")
    assert table.of(ev.TurnInterrupted)[0].shown_text == ""


def test_stop_before_and_after_a_transition_leaves_the_session_in_exactly_one_stage() -> None:
    """B035."""
    before = Table(desk())
    before.says("a bike")
    before.stops()
    assert before.stage == "greet"

    after = Table(desk())
    after.says("a bike")
    after.model("", move_to("pick"))
    after.stops()
    assert after.stage == "pick"
    for table in (before, after):
        assert len(table.of(ev.StageExited)) == len(table.of(ev.StageEntered)) - 1
    after.says("still there?")
    after.model("Yes, which kind?")
    assert after.of(ev.TurnComplete)[0].stage == "pick"


def test_stop_cancels_a_requested_move_that_waits_for_a_tool() -> None:
    table = Table(playbook([stage("a", tools=[STOCK]), stage("b")], [rule("t", "a", "b", DECISION)]))
    table.says("go")
    table.model("", move_to("b"), call("stock", kind="x"))
    table.stops()
    assert table.stage == "a"
    assert table.calls_without_one_result() == []


def test_stop_while_an_entry_waits_for_its_tool_finishes_the_entry() -> None:
    entering = stage("b", onEnter=[{"call": "stock", "arguments": {"kind": "x"}}], tools=[STOCK])
    table = Table(playbook([stage("a"), entering], [rule("t", "a", "b", DECISION)]))
    table.says("go")
    table.model("", move_to("b"))
    assert table.runs
    table.stops()
    assert table.stage == "b"
    assert table.state.moving is None
    assert table.types[-1] == "turn_interrupted"


def test_a_dead_process_leaves_a_turn_that_is_ended_cleanly() -> None:
    table = Table(desk(start="pick"))
    table.says("city?")
    table.model("", call("stock", kind="city"))
    table.happens(Stop("process_died"))
    assert table.of(ev.TurnInterrupted)[0].reason == "process_died"
    assert table.calls_without_one_result() == []


def test_a_stop_without_a_turn_changes_nothing() -> None:
    table = Table(desk())
    before = table.state
    table.stops()
    assert table.state == before
