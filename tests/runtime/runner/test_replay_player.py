"""A script is played step by step through the real engine: time, stops, failures and what is left over."""

from __future__ import annotations

import time

import pytest

from runtime.playbook import Playbook
from tests.runtime.desk import DECISION, desk, playbook, rule, says, stage
from tests.support.replays import Json, Replayed, asks, replayed, said, to, tool


def test_each_turn_has_its_reply_and_the_end_says_where_the_session_stands() -> None:
    seen = replayed(
        desk(),
        said("a red one", asks(to("c1", "pick")), asks(tool("c2", "stock", kind="red")), "We have two."),
        said("book it", {"chunks": ["Boo", "ked."]}),
    )
    assert seen.replies == ["We have two.", "Booked."]
    assert (seen.end["stage"], seen.end["complete"], seen.end["callStack"]) == ("close", False, ["close"])
    assert seen.end["unusedOutputs"] == 0
    assert seen.problems == []


def test_events_are_reported_without_a_gap_and_each_call_behind_the_event_that_ends_it() -> None:
    seen = replayed(desk(), said("hi", "Hello."), said("again", "Hello again."))
    assert [event["seq"] for event in seen.events] == list(range(1, len(seen.events) + 1))
    for position, item in enumerate(seen.items):
        if item["kind"] == "call":
            assert seen.items[position - 1]["type"] == "llm_call_completed"
    assert [item["kind"] for item in seen.items].count("call") == 2


def test_a_call_shows_its_window_its_request_and_what_it_cost() -> None:
    usage = {"fresh": 1000, "read": 2000, "write5m": 0, "output": 100}
    seen = replayed(desk(), said("hi", {"text": "Hello.", "usage": usage}))
    call = seen.calls[0]
    assert (call["turn"], call["phase"], call["stage"], call["model"]) == (1, 2, "greet", "claude-sonnet-5")
    assert [segment["kind"] for segment in call["window"]["segments"]][:2] == ["tools", "base"]
    assert call["window"]["segments"][-1]["kind"] == "stage"
    assert call["request"]["messages"][0]["content"][0] == {"type": "text", "text": "hi"}
    assert sum(call["predicted"].values()) == sum(s["tokens"] for s in call["window"]["segments"])
    assert call["usage"] == {**usage, "write1h": 0}
    assert call["cost"] > 0


def test_a_call_without_usage_has_an_unknown_cost_not_none_at_all() -> None:
    call = replayed(desk(), said("hi", "Hello.")).calls[0]
    assert (call["usage"], call["cost"]) == (None, None)


def test_usage_may_have_the_names_of_the_provider() -> None:
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 9000, "output_tokens": 400}
    call = replayed(desk(), said("hi", {"text": "Hello.", "usage": usage})).calls[0]
    assert call["usage"] == {"fresh": 7, "write5m": 9000, "write1h": 0, "read": 0, "output": 400}


def test_the_model_of_the_command_is_for_stages_that_name_none() -> None:
    named = stage("named", llmConfig={"model": "claude-opus-5"})
    plain = stage("plain")
    steps = said("hi", "Hello.")
    assert replayed(playbook([named]), steps, model="claude-haiku-4-5").calls[0]["model"] == "claude-opus-5"
    assert (
        replayed(playbook([plain]), steps, model="claude-haiku-4-5").calls[0]["model"] == "claude-haiku-4-5"
    )


def test_waiting_takes_no_time_and_lets_timers_fire_at_their_time() -> None:
    farewell = stage("farewell", speakOnEnter=True)
    idle = {"type": "timeout", "durationMs": 3_600_000, "since": "last_activity"}
    began = time.monotonic()
    seen = replayed(
        playbook([stage("talk"), farewell], [rule("t-idle", "talk", "farewell", idle)]),
        said("hi", "Hello."),
        {"wait_s": 3599},
        {"wait_s": 7200, "model": [{"text": "Are you still there?"}]},
    )
    assert time.monotonic() - began < 10
    fired = seen.of_type("transition_triggered")
    assert [event["at"] for event in fired] == ["2026-01-05T10:00:00Z"]
    assert seen.replies == ["Hello.", "Are you still there?"]


def test_the_clock_begins_where_the_script_says() -> None:
    seen = replayed(desk(), {"wait_s": 90.5}, said("hi", "Hello."), clock="2030-02-03T04:05:06+01:00")
    assert seen.events[0]["at"] == "2030-02-03T03:05:06Z"
    assert seen.of_type("user_message")[0]["at"] == "2030-02-03T03:06:36.500000Z"


def test_a_stage_that_speaks_first_takes_the_outputs_of_the_start() -> None:
    seen = replayed(
        playbook([stage("greet", speakOnEnter=True)]),
        {"start": True, "model": [{"text": "Welcome to the bike desk."}]},
        said("hi", "What do you need?"),
    )
    assert seen.replies == ["Welcome to the bike desk.", "What do you need?"]


def test_a_first_stage_that_speaks_without_outputs_says_where_they_belong() -> None:
    seen = replayed(playbook([stage("greet", speakOnEnter=True)]), said("hi", "Hello."))
    assert seen.problems == [
        "The start (give its outputs in a start step): The script has no model output left for call 1."
    ]


def test_text_can_come_at_a_pace() -> None:
    slow = {"chunks": ["Hel", "lo"], "pace_ms": 400}
    seen = replayed(desk(), said("hi", slow, stop={"after_ms": 600}), said("so", slow))
    assert seen.replies == ["Hel", "Hello"]
    assert seen.of_type("llm_call_completed")[0]["durationMs"] == 800


def test_an_error_may_come_after_text_that_the_script_does_not_spell_out() -> None:
    broken = {"error": {"type": "overloaded_error", "after_chunks": 3}}
    seen = replayed(desk(), said("hi", broken, "Hello."))
    assert seen.of_type("text_withdrawn")[0]["text"].count("piece") == 3


def test_the_start_can_give_the_first_stage_its_data() -> None:
    seen = replayed(
        playbook([stage("greet", systemPrompt="Greet {data.name}.")]),
        {"start": True, "data": {"name": "Ada"}},
    )
    assert seen.of_type("stage_entered")[0]["prompt"] == "Greet Ada."


def test_a_variable_set_by_hand_is_seen_by_the_next_request() -> None:
    seen = replayed(desk(), {"set": {"city": "Pune"}}, said("hi", "Hello."))
    assert seen.end["variables"] == {"city": "Pune"}
    states = [s["text"] for s in seen.calls[0]["window"]["segments"] if s["kind"] == "state"]
    assert '"city":"Pune"' in states[0].replace(" ", "")


def test_a_turn_whose_outputs_run_out_fails_and_says_so() -> None:
    seen = replayed(desk(start="pick"), said("a red one", asks(tool("c1", "stock", kind="red"))))
    assert seen.problems == ["Step 1: The script has no model output left for call 2."]
    assert seen.of_type("turn_failed")[0]["code"] == "script_exhausted"
    assert seen.replies == [""]


def test_outputs_that_nobody_asked_for_are_counted() -> None:
    seen = replayed(desk(), said("hi", "Hello.", "One too many."), said("so", "Yes.", "Two.", "Three."))
    assert seen.replies == ["Hello.", "Yes."]
    assert seen.end["unusedOutputs"] == 3
    assert seen.problems == []


REFUSED = {"error": {"type": "invalid_request_error", "status": 400, "message": "bad"}}


def test_a_failure_that_the_script_expects_is_no_problem() -> None:
    seen = replayed(desk(), said("hi", REFUSED, fails=True), said("again", "Hello."))
    assert seen.problems == []
    assert seen.replies == ["", "Hello."]


def test_a_failure_that_the_script_does_not_expect_is_one() -> None:
    seen = replayed(desk(), said("hi", REFUSED))
    assert [problem.split(":")[0] for problem in seen.problems] == ["Step 1"]


def test_an_expected_failure_that_does_not_come_is_a_problem() -> None:
    seen = replayed(desk(), said("hi", "Hello.", fails=True))
    assert seen.problems == ["Step 1 was expected to fail and did not."]


def test_a_message_after_the_end_is_a_failure_of_its_step() -> None:
    end = stage("bye", kind="end")
    rules = [rule("t-bye", "talk", "bye", says("bye"))]
    steps = said("hi", "Good bye."), said("more", "Never said.")
    seen = replayed(playbook([stage("talk"), end], rules), *steps)
    assert seen.end["complete"] is True
    assert seen.problems == ["Step 2: The session is complete; start a new one."]
    assert (
        replayed(playbook([stage("talk"), end], rules), steps[0], {**steps[1], "fails": True}).problems == []
    )


def test_a_failed_turn_can_be_taken_up_again_without_running_its_tools_twice() -> None:
    down = {"error": {"type": "api_error", "status": 500}}
    seen = replayed(
        desk(start="pick"),
        said("book it", asks(tool("c1", "book", kind="city", day="Mon")), down, fails=True),
        {"retry": True, "model": [{"text": "It is reserved."}]},
        options={"llmRetries": 0},
    )
    assert seen.problems == []
    assert seen.replies == ["It is reserved."]
    assert len(seen.of_type("tool_call_start")) == 1


def test_a_stop_at_a_chunk_keeps_what_was_shown_and_the_next_turn_works() -> None:
    seen = replayed(
        desk(),
        said("hi", {"chunks": ["Hello ", "there, ", "rider."]}, stop={"at_chunk": 2}),
        said("go on", "Gladly."),
    )
    assert seen.replies == ["Hello there, ", "Gladly."]
    assert seen.of_type("turn_interrupted")[0]["reason"] == "stop"
    assert seen.problems == []


def test_a_stop_after_some_time_ends_a_tool_that_never_returns() -> None:
    seen = replayed(
        desk(start="pick"),
        said("is it free?", asks(tool("c1", "stock", kind="red")), stop={"after_ms": 1500}),
        tools={"stock": {"returns": 1, "sleep_s": 60}},
    )
    assert seen.of_type("turn_interrupted")[0]["at"] == "2026-01-05T09:00:01.500000Z"
    assert seen.results()["c1"]["success"] is False


def test_a_model_that_says_nothing_more_runs_into_the_time_of_the_turn() -> None:
    seen = replayed(
        desk(), said("hi", {"chunks": ["Hel"], "hang": True}, fails=True), options={"turnTimeoutMs": 20_000}
    )
    ended = seen.of_type("turn_interrupted", "turn_failed")
    assert [event["at"] for event in ended] == ["2026-01-05T09:00:20Z"]


def test_a_stop_that_comes_too_late_is_a_problem_of_the_script() -> None:
    seen = replayed(desk(), said("hi", "Hello.", stop={"at_chunk": 9}))
    assert seen.problems == ["Step 1: the turn ended before the moment it was to be cut."]


def test_a_message_can_interrupt_the_turn_before_it() -> None:
    seen = replayed(
        desk(),
        said("tell me all", {"chunks": ["Once ", "upon "], "hang": True}),
        said("stop, a short one", "In short: no.", interrupt={"at_chunk": 2}),
    )
    assert seen.of_type("turn_interrupted")[0]["reason"] == "interrupt"
    assert seen.replies == ["Once upon ", "In short: no."]
    assert seen.problems == []
    assert seen.end["unusedOutputs"] == 0


def test_a_fork_goes_on_from_the_end_of_an_earlier_turn() -> None:
    seen = replayed(
        desk(),
        said("one", "First."),
        {"set": {"kept": 1}},
        said("two", asks(to("c1", "pick")), "Second."),
        {"set": {"lost": 1}},
        {"fork": {"turn": 1}},
        said("another two", "Other."),
    )
    assert seen.replies == ["First.", "Other."]
    assert seen.end["stage"] == "greet"
    assert seen.end["variables"] == {"kept": 1}
    texts = [s["text"] for s in seen.calls[-1]["window"]["segments"] if s["kind"] == "dialogue"]
    assert texts == ["one", "First.", "another two"]


def test_what_a_fork_adds_is_numbered_behind_what_it_keeps() -> None:
    seen = replayed(desk(), said("one", "A."), said("two", "B."), {"fork": {"turn": 1}}, said("two", "C."))
    kept = [e["seq"] for e in seen.events if e["turn"] <= 1]
    forked = [e["seq"] for e in seen.events if e["session"] == "replay-2"]
    assert forked == list(range(kept[-1] + 1, kept[-1] + 1 + len(forked)))


def test_a_fork_at_a_turn_that_never_was_is_a_problem() -> None:
    seen = replayed(desk(), said("one", "A."), {"fork": {"turn": 4}})
    assert seen.problems == ["Step 2: There is no turn 4 to fork at yet."]


def test_options_of_the_script_win_over_the_playbook() -> None:
    error = {"error": {"type": "overloaded_error", "status": 529}}
    seen = replayed(desk(options={"llmRetries": 3}), said("hi", error, fails=True), options={"llmRetries": 0})
    assert seen.of_type("llm_call_retry") == []


@pytest.mark.parametrize(
    ("scripted", "kind", "result", "error"),
    [
        ({"returns": {"free": 7}}, "red", {"free": 7}, None),
        ({"raises": "The shop is closed."}, "red", None, "The shop is closed."),
        ({"raises": True}, "red", None, "The tool failed."),
        ({"returns_by": {"kind": {"red": 3}}}, "red", 3, None),
        ({"returns_by": {"kind": {"red": 3}}, "returns": 0}, "blue", 0, None),
        ({"returns_by": {"kind": {"red": 3}}}, "blue", None, "The script has no result for kind=blue."),
    ],
)
def test_a_scripted_tool_gives_what_the_script_says(
    scripted: Json, kind: str, result: object, error: str
) -> None:
    seen = replayed(
        desk(start="pick"), said("?", asks(tool("c1", "stock", kind=kind)), "So."), tools={"stock": scripted}
    )
    given = seen.results()["c1"]
    assert (given["result"], given["error"], given["success"]) == (result, error, error is None)


def test_a_tool_that_sleeps_takes_that_time_on_the_clock() -> None:
    seen = replayed(
        desk(start="pick"),
        said("?", asks(tool("c1", "stock", kind="a"), tool("c2", "stock", kind="b")), "So."),
        tools={"stock": {"returns": 1, "sleep_s": 0.25}},
    )
    assert {event["durationMs"] for event in seen.results().values()} == {250}
    assert seen.of_type("turn_complete")[0]["at"] == "2026-01-05T09:00:00.250000Z"


def test_a_tool_that_neither_script_nor_mock_answers_gives_an_error_result() -> None:
    bare = {"name": "look", "description": "Looks", "parameters": {"type": "object", "properties": {}}}
    seen = replayed(playbook([stage("a", tools=[bare])]), said("?", asks(tool("c1", "look")), "I cannot."))
    assert seen.results()["c1"]["success"] is False
    assert seen.replies == ["I cannot."]


def test_the_waits_of_retries_are_exact_and_take_no_time() -> None:
    down = {"error": {"type": "overloaded_error", "status": 529}}
    seen = replayed(desk(), said("hi", down, down, "Hello."))
    assert [event["waitMs"] for event in seen.of_type("llm_call_retry")] == [1000, 2000]
    assert seen.of_type("turn_complete")[0]["at"] == "2026-01-05T09:00:03Z"


def test_an_error_after_some_text_withdraws_it_before_the_next_try() -> None:
    broken = {
        "chunks": ["Our bikes ", "are "],
        "error": {"type": "overloaded_error", "status": 200, "after_chunks": 2},
    }
    seen = replayed(desk(), said("more", broken, "Our bikes are blue."))
    assert [event["text"] for event in seen.of_type("text_withdrawn")] == ["Our bikes are "]
    assert seen.replies == ["Our bikes are blue."]


def test_llm_decision_rules_are_reported_with_their_verdicts() -> None:
    seen = replayed(desk(rule("t-2", "greet", "close", DECISION)), said("x", asks(to("c1", "close")), "Bye."))
    verdicts = {e["transition"]: e["verdict"] for e in seen.of_type("transition_evaluated")}
    assert verdicts["t-2"] is True


def intent_desk(**options: str) -> Playbook:
    examples = ["I want my money back", "refund me please", "pay me back"]
    condition = {"type": "intent", "intent": "refund", "examples": examples}
    return playbook(
        [stage("greet"), stage("refund")], [rule("t", "greet", "refund", condition)], options=options
    )


def classified(seen: Replayed) -> list[tuple[str, str | None]]:
    return [(e["classifier"], e["intent"]) for e in seen.events if e["type"] == "intent_classified"]


@pytest.mark.parametrize("options", [{}, {"intentClassifier": "embedding"}])
def test_keywords_tell_intents_apart_whatever_is_installed(options: dict[str, str]) -> None:
    seen = replayed(intent_desk(**options), said("I want my money back", "Which order?"))
    assert classified(seen) == [("keyword", "refund")]
    assert seen.end["stage"] == "refund"


def test_a_script_can_say_how_likely_each_intent_is() -> None:
    seen = replayed(
        intent_desk(),
        said("hm", "Hello.", intents={"refund": 0.59}),
        said("hm", "Hello.", intents={}),
        said("hm", "Which order?", intents={"refund": 0.6, "other": 1}),
    )
    assert classified(seen) == [("script", "refund"), ("script", None), ("script", "refund")]
    assert seen.calls[-1]["stage"] == "refund"


@pytest.mark.parametrize(("of_playbook", "of_script"), [("llm", None), ("auto", "llm")])
def test_a_models_classification_is_the_first_output_of_the_turn(
    of_playbook: str, of_script: str | None
) -> None:
    document = intent_desk(intentClassifier=of_playbook)
    options = {"intentClassifier": of_script} if of_script else {}
    answer = {"text": '{"intent": "refund", "confidence": 0.8}'}
    seen = replayed(document, said("hm", answer, "Which order?"), options=options)
    assert classified(seen) == [("llm", "refund")]
    assert [(call["phase"], call["stage"]) for call in seen.calls] == [(0, "greet"), (2, "refund")]
    assert seen.replies == ["Which order?"]


def test_the_last_call_of_a_session_marks_no_tail_that_nobody_will_read() -> None:
    """M6: the reply of an end stage is the last thing; the call before it was still worth its tail."""
    long = "A rule of the house. " * 400
    book = playbook(
        [stage("talk"), stage("farewell", kind="end", speakOnEnter=True)],
        [rule("t-bye", "talk", "farewell", {"type": "keyword", "keywords": ["bye"], "source": "user"})],
        globalSystemPrompt=long,
    )
    windows = [call["window"] for call in replayed(book, said("hi", "Hello."), said("bye", "Goodbye.")).calls]
    marked = [{point["segment"] for point in window["cachePoints"]} for window in windows]
    ends = [window["segments"][-1]["id"] for window in windows]
    assert [end in points for end, points in zip(ends, marked, strict=True)] == [True, False]
    assert marked[1]
