"""What changes text that was already sent: returns (R1–R5, S13, S14), clearHistory; each one logged."""

from __future__ import annotations

from runtime.context.models import record
from runtime.context.state_frames import still_known
from runtime.conversation import events as ev
from tests.runtime.context.talk import Talk, call, of_kind, texts


def in_called_frame() -> Talk:
    """A session whose pick stage has called the seat stage, which asked the user once."""
    talk = Talk().start("pick").exchange("a seat please", "let me see")
    talk.turn("go on").ask()
    talk.says(calls=[call("c1", "playbook_transition", targetStage="seat")])
    talk.result("c1", "playbook_transition", {"movedTo": "seat"}).call_frame("seat", "f2")
    talk.ask()
    return talk.says("Window or aisle?").end("Window or aisle?")


def returned(value: object = 7, summary: str | None = "picked a seat", reason: str = "return") -> Talk:
    talk = in_called_frame().turn("aisle")
    talk.ask()
    talk.says(calls=[call("c2", "seats", kind="aisle")]).result("c2", "seats", {"seat": "9A"})
    talk.ask()
    talk.says(calls=[call("c3", "playbook_transition", targetStage="return")])
    talk.result("c3", "playbook_transition", {"movedTo": "return"}).set(booking_ref="ZX9")
    talk.pop(value, summary, reason)
    talk.ask()
    return talk


def test_a_return_replaces_the_trace_by_one_summary_with_value_and_words() -> None:
    talk = returned()
    window = talk.windows[-1]
    summaries = texts(window, "summary")
    assert len(summaries) == 1
    assert "Value: 7" in summaries[0]
    assert "picked a seat" in summaries[0]
    words = "\n".join(segment.text for segment in window.segments)
    assert "Window or aisle?" not in words
    assert "9A" not in words
    assert [rewrite.rule for rewrite in talk.rewrites] == ["return"]


def test_the_call_stays_and_the_running_message_stands_verbatim_after_the_summary() -> None:
    window = returned().windows[-1]
    kinds = [s.kind for s in window.segments]
    at = kinds.index("summary")
    assert kinds[at - 2 : at] == ["tool_call", "tool_result"]
    assert window.segments[at - 2].meta["callId"] == "c1"
    assert (window.segments[at + 1].kind, window.segments[at + 1].text) == ("dialogue", "aisle")


def test_after_a_return_the_callers_header_comes_and_refers_to_the_text_above() -> None:
    last = of_kind(returned().windows[-1], "stage")[-1]
    assert "You are now in stage «Pick a bike»" in last.text
    assert last.text.endswith("Instructions as given above under «Pick a bike».")


def test_the_summary_names_what_it_stands_for() -> None:
    talk = returned()
    summary = of_kind(talk.windows[-1], "summary")[0]
    assert summary.replaced is not None
    assert summary.replaced.rule == "return"
    assert summary.replaced.tokens == talk.rewrites[-1].numbers["removed"] > 0
    agent = talk.state.windows.agent()
    assert all(agent.replaced[gone].id == summary.id for gone in summary.replaced.segments)


def test_what_the_callee_set_is_in_the_callers_next_state() -> None:
    assert "booking_ref" in texts(returned().windows[-1], "state")[-1]


def test_after_a_return_the_state_goes_on_from_the_newest_frame_that_still_stands() -> None:
    first, last = of_kind(returned().windows[-1], "state")
    assert (first.meta["number"], first.meta["full"]) == (1, True)
    assert (last.meta["number"], last.meta["full"]) == (2, False)
    assert still_known([first.text, last.text]).base == returned().windows[-1].state_snapshot


def test_without_a_given_summary_the_rules_write_one_and_say_so() -> None:
    window = returned(summary=None).windows[-1]
    summary = of_kind(window, "summary")[0]
    assert summary.meta["origin"] == "rules"
    assert "Summary by rules." in summary.text
    assert "Variables set: booking_ref" in summary.text
    assert 'seats({"kind":"aisle"}) gave {"seat":"9A"}' in summary.text
    assert "Last words of the assistant: Window or aisle?" in summary.text
    assert "playbook_transition" not in summary.text


def test_a_failed_callee_is_told_in_one_line_and_summarised() -> None:
    window = returned(value=None, summary=None, reason="max_turns").windows[-1]
    assert "has returned (max turns)" in texts(window, "summary")[0].splitlines()[0]


def test_a_later_return_does_not_reuse_the_words_of_an_earlier_one() -> None:
    talk = returned()
    talk.says(calls=[call("c4", "playbook_transition", targetStage="seat")])
    talk.result("c4", "playbook_transition", {"movedTo": "seat"}).call_frame("seat", "f3")
    talk.ask()
    talk.says(calls=[call("c5", "playbook_transition", targetStage="return")])
    talk.result("c5", "playbook_transition", {"movedTo": "return"}).pop(8)
    talk.ask()
    first, second = texts(talk.windows[-1], "summary")
    assert "picked a seat" in first
    assert "picked a seat" not in second


def test_a_deep_unwinding_leaves_one_summary_of_the_outer_frame_and_none_of_the_inner() -> None:
    talk = in_called_frame().turn("aisle")
    talk.ask()
    talk.says(calls=[call("c2", "playbook_transition", targetStage="pick")])
    talk.result("c2", "playbook_transition", {"movedTo": "pick"}).call_frame("pick", "f3")
    talk.ask()
    talk.says(calls=[call("c3", "playbook_transition", targetStage="return")])
    talk.result("c3", "playbook_transition", {"movedTo": "return"}).pop(3, "inner").pop(2, "outer")
    talk.ask()
    assert [s.id for s in of_kind(talk.windows[-1], "summary")] == ["summary.f2"]
    assert "outer" in texts(talk.windows[-1], "summary")[0]


def test_a_frame_that_was_never_sent_adds_its_summary_without_a_rewriting() -> None:
    talk = Talk().start("pick").exchange("hi", "hello").turn("go")
    talk.call_frame("seat", "f2").pop(1, "nothing to do")
    window = talk.ask()
    assert talk.rewrites == []
    assert [s.id for s in of_kind(window, "summary")] == ["summary.f2"]
    assert [s.kind for s in window.segments[-3:]] == ["summary", "dialogue", "stage"]


def test_a_return_after_a_reply_is_replaced_in_the_next_turn() -> None:
    talk = in_called_frame().turn("aisle")
    talk.ask()
    talk.says("You have 9A.").end("You have 9A.").pop({"seat": "9A"})
    window = talk.turn("thanks").ask()
    assert "You have 9A." in texts(window, "summary")[0]
    assert [s.text for s in of_kind(window, "dialogue")][-1] == "thanks"
    assert "You have 9A." not in [s.text for s in of_kind(window, "dialogue")]


def test_a_turn_that_is_taken_up_again_keeps_its_message_when_a_frame_returns() -> None:
    talk = in_called_frame().turn("aisle")
    talk.ask()
    talk.add(ev.LLMCallFailed, call=talk.state.calls, error="busy")
    talk.add(ev.TurnFailed, stage="seat", code="overloaded", message="busy")
    talk.turn(cause="retry").ask()
    talk.says(calls=[call("c3", "playbook_transition", targetStage="return")])
    talk.result("c3", "playbook_transition", {"movedTo": "return"}).pop(7)
    window = talk.ask()
    assert [s.text for s in of_kind(window, "dialogue")][-1] == "aisle"


def test_clear_history_after_a_reply_removes_that_turn_too() -> None:
    talk = Talk().start().exchange("my name is Ada", "hello Ada")
    talk.add(ev.TransitionTriggered, from_stage="greet", to_stage="pick", clear_history=True)
    window = talk.enter("pick").turn("a bike").ask()
    assert [s.text for s in of_kind(window, "dialogue")] == ["a bike"]
    assert [r.rule for r in talk.rewrites] == ["clear"]
    assert of_kind(window, "state")[-1].meta["full"] is True
    assert "Ada" not in "".join(s.text for s in window.segments)


def test_clear_history_keeps_the_turn_that_waits_for_its_reply() -> None:
    talk = Talk().start().exchange("my name is Ada", "hello Ada").turn("a bike")
    talk.ask()
    talk.says(calls=[call("c1", "playbook_transition", targetStage="pick")])
    talk.result("c1", "playbook_transition", {"movedTo": "pick"})
    talk.add(ev.TransitionTriggered, from_stage="greet", to_stage="pick", clear_history=True)
    window = talk.enter("pick").ask()
    kinds = [s.kind for s in window.segments]
    assert kinds[:5] == ["tools", "base", "dialogue", "tool_call", "tool_result"]
    assert [s.text for s in of_kind(window, "dialogue")] == ["a bike"]


def test_clear_history_in_a_called_frame_leaves_the_callers_alone() -> None:
    talk = in_called_frame()
    talk.add(ev.TransitionTriggered, from_stage="seat", to_stage="seat", clear_history=True)
    window = talk.enter("seat").turn("aisle").ask()
    dialogue = [s.text for s in of_kind(window, "dialogue")]
    assert "a seat please" in dialogue
    assert "Window or aisle?" not in dialogue


def test_thinking_that_a_model_binds_to_its_prefix_goes_when_the_prefix_is_cleared() -> None:
    talk = Talk(model=record("claude-opus-5-5")).start().exchange("my name is Ada", "hello").turn("a bike")
    talk.ask()
    talk.says(thinking="hm", calls=[call("c1", "playbook_transition", targetStage="pick")])
    talk.result("c1", "playbook_transition", {"movedTo": "pick"})
    talk.ask()
    talk.says(calls=[call("c2", "stock", kind="x")]).result("c2", "stock", 1)
    talk.add(ev.TransitionTriggered, from_stage="pick", to_stage="pick", clear_history=True)
    window = talk.enter("pick").ask()
    assert texts(window, "thinking") == []
    assert len(of_kind(window, "tool_call")) == len(of_kind(window, "tool_result")) == 2
