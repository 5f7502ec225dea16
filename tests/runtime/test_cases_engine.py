"""Faults that other engines had, told as conversations: rules, tools, limits, clocks. Each plays the whole
runtime, and every request on the way must be one that the provider takes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from tests.runtime.desk import BOOK, DECISION, STOCK, desk, playbook, rule, says, stage
from tests.support.replays import Json, asks, blocks, replayed, said, texts, to, tool

# -- rules ---------------------------------------------------------------------------------------------


def test_a_rule_for_every_stage_does_not_enter_its_own_target_again() -> None:
    document = playbook([stage("talk"), stage("help")], [rule("any-help", "*", "help", says("help"))])
    seen = replayed(document, said("please", "I can help you."), said("go on", "I help with help."))
    assert [(e["turn"], e["fromStage"], e["toStage"]) for e in seen.of_type("transition_triggered")] == [
        (1, "talk", "help")
    ]


def test_a_text_that_moved_the_conversation_is_not_matched_by_the_next_stage() -> None:
    stages = [stage("a"), stage("b"), stage("c")]
    document = playbook(stages, [rule("t1", "a", "b", says("go")), rule("t2", "b", "c", says("go"))])
    seen = replayed(document, said("x", "go"))
    assert seen.moves() == ["t1"]


def test_two_stages_that_send_each_other_on_come_to_an_end() -> None:
    speaking = [stage("a", speakOnEnter=True), stage("b", speakOnEnter=True)]
    rules = [rule("ab", "a", "b", says("tick")), rule("ba", "b", "a", says("tick"))]
    seen = replayed(playbook(speaking, rules), {"start": True, "model": [{"text": "tick"}] * 40})
    assert len(seen.moves()) == 5
    assert "5" in seen.of_type("transition_refused")[0]["reason"]


BOTH = [to("c1", "pick"), tool("c2", "stock", kind="city")]


@pytest.mark.parametrize("order", list(permutations(BOTH)), ids=["move first", "tool first"])
@pytest.mark.parametrize("stock", [{"returns": {"free": 2}, "sleep_s": 0.2}, {"raises": "Closed."}])
def test_a_tool_beside_the_transition_has_its_result_before_the_move(order: list[Json], stock: Json) -> None:
    greet, pick = stage("greet", twoPhaseExecution=False, tools=[STOCK]), stage("pick", tools=[STOCK, BOOK])
    document = playbook([greet, pick], [rule("t-pick", "greet", "pick", DECISION)])
    steps = said("a city bike", asks(*order), "Two are free."), said("good", "Yes.")
    seen = replayed(document, *steps, tools={"stock": stock})
    among = ("tool_call_complete", "transition_triggered", "stage_exited", "stage_entered")
    assert seen.types(*among)[1:] == [
        "tool_call_complete", "tool_call_complete", "transition_triggered", "stage_exited", "stage_entered",
    ]  # fmt: skip
    results = {block["tool_use_id"]: block["content"] for block in blocks(seen.requests[1], "tool_result")}
    assert list(results) == [call["id"] for call in order]
    assert ("free" in results["c2"]) == ("returns" in stock)
    assert seen.replies == ["Two are free.", "Yes."]


def test_of_two_moves_in_one_message_the_first_is_made_and_the_other_is_told_so() -> None:
    document = desk(rule("t-close2", "greet", "close", DECISION))
    seen = replayed(document, said("hm", asks(to("c1", "close"), to("c2", "pick")), "Bye."))
    assert seen.moves() == ["t-close2"]
    assert [seen.results()[call]["success"] for call in ("c1", "c2")] == [True, False]
    assert [event["stage"] for event in seen.of_type("stage_entered")] == ["greet", "close"]


@pytest.mark.parametrize(
    "args", [{"targetStage": "nowhere"}, {"targetStage": "greet"}, {}, {"targetStage": 3}]
)
def test_a_move_that_is_not_allowed_is_answered_with_those_that_are(args: Json) -> None:
    call = {"id": "c1", "name": "playbook_transition", "args": args}
    seen = replayed(desk(), said("hm", asks(call), "Let us stay."))
    result = seen.results()["c1"]
    assert result["success"] is False
    assert "pick" in result["error"]
    assert (seen.end["stage"], seen.replies) == ("greet", ["Let us stay."])


@pytest.mark.parametrize(
    ("reply", "fires"),
    [
        ("I build quietly.", False),
        ("The UI, then.", True),
        ("I like C++.", True),
        ("I like C+", False),
        ("go  on", True),
        ("going on", False),
        ("The weekend.", False),
        ("This is the end.", True),
        ("(ui)", True),
        ("ui_kit", False),
    ],
)
def test_keywords_are_whole_words_also_where_the_stream_cuts_them(reply: str, fires: bool) -> None:
    document = playbook([stage("a"), stage("b")], [rule("t", "a", "b", says("ui", "C++", "go on", "end."))])
    for chunks in ([reply], list(reply)):
        assert replayed(document, said("x", {"chunks": chunks})).moves() == (["t"] if fires else [])


def test_of_rules_that_hold_together_the_order_decides_and_all_that_was_seen_is_told() -> None:
    stages = [stage(name) for name in "abcde"]
    rules = [
        rule("t1", "*", "b", says("go")),
        rule("t2", "a", "c", says("go")),
        rule("t3", "a", "d", says("go")),
        rule("t4", "a", "e", {"type": "max_turns", "count": 1}, priority=-1),
    ]
    seen = replayed(playbook(stages, rules), said("x", "go"))
    assert seen.moves() == ["t2"]
    assert "t2" in [event["transition"] for event in seen.of_type("transition_evaluated") if event["verdict"]]


@pytest.mark.parametrize(
    ("outputs", "moved"),
    [
        (["It is booked."], "t-close"),
        ([asks(tool("c1", "book", kind="city", day="Mon")), "", "Fine."], "t-tool"),
    ],
)
def test_several_rules_between_two_stages_fire_each_with_its_own_action(
    outputs: list[Any], moved: str
) -> None:
    document = desk(
        rule("t-tool", "pick", "close", {"type": "tool_call", "toolName": "book"}, clearHistory=True),
        rule("t-max", "pick", "close", {"type": "max_turns", "count": 5}),
        start="pick",
    )
    fired = replayed(document, said("x", *outputs)).of_type("transition_triggered")
    assert [(event["transition"], event["clearHistory"]) for event in fired] == [(moved, moved == "t-tool")]
    five = [said(str(number), "Hm.") for number in range(5)]
    assert replayed(document, *five).moves() == ["t-max"]


# -- counting turns ------------------------------------------------------------------------------------

TWO_TURNS = rule("t-max", "pick", "close", {"type": "max_turns", "count": 2})


def counting() -> Any:
    stages = [stage("greet"), stage("pick", tools=[STOCK]), stage("close")]
    return playbook(stages, [TWO_TURNS, rule("back", "close", "pick", says("again"))], initialStage="pick")


def test_the_rule_fires_after_the_second_answer_and_the_third_is_the_next_stages() -> None:
    seen = replayed(counting(), said("1", "one"), said("2", "two"), said("3", "bye"))
    assert [call["stage"] for call in seen.calls] == ["pick", "pick", "close"]


def test_tool_rounds_and_failed_turns_are_no_turns() -> None:
    refused = {"error": {"type": "invalid_request_error", "status": 400}}
    seen = replayed(
        counting(),
        said("1", asks(tool("c1", "stock", kind="a")), asks(tool("c2", "stock", kind="b")), "one"),
        said("x", refused, fails=True),
        said("2", "two"),
    )
    assert [event["turn"] for event in seen.of_type("transition_triggered")] == [3]


def test_a_stopped_turn_counts_if_it_showed_text() -> None:
    long = {"chunks": ["word " * 50, "more"], "hang": True}
    shown = replayed(counting(), said("1", long, stop={"at_chunk": 2}), said("2", "two"))
    assert shown.moves() == ["t-max"]
    hidden = replayed(
        counting(), said("1", {"chunks": ["wo"], "hang": True}, stop={"at_chunk": 1}), said("2", "two")
    )
    assert hidden.moves() == []


def test_entering_the_stage_anew_counts_anew() -> None:
    seen = replayed(
        counting(),
        *(said(t, t) for t in ("one", "two", "again", "three")),
        said("5", "four"),
        said("6", "five"),
    )
    assert [(e["turn"], e["transition"]) for e in seen.of_type("transition_triggered")] == [
        (2, "t-max"), (3, "back"), (5, "t-max"),
    ]  # fmt: skip


# -- tools ---------------------------------------------------------------------------------------------


def test_the_tool_limit_counts_calls_and_the_answer_is_asked_for_without_taking_the_tools_away() -> None:
    seen = replayed(
        desk(start="pick"),
        said(
            "find one",
            asks(tool("c1", "stock", kind="a"), tool("c2", "stock", kind="b")),
            asks(tool("c3", "stock", kind="c"), tool("c4", "stock", kind="d")),
            "Nothing free today.",
        ),
        tools={"stock": {"returns": {"free": 0}}},
        options={"maxToolCallsPerTurn": 3},
    )
    assert [event["callId"] for event in seen.of_type("tool_call_start")] == ["c1", "c2", "c3"]
    assert "limit" in seen.results()["c4"]["error"]
    closed = seen.of_type("phase1_complete")[0]
    assert (closed["toolCalls"], closed["reason"]) == (3, "limit")
    assert seen.replies == ["Nothing free today."]
    first, last = seen.requests[0], seen.requests[-1]
    assert last["tools"] == first["tools"]
    assert last.get("tool_choice") == {"type": "none"} or "call no tool" in texts(last)[-1]


def test_with_a_limit_of_none_at_all_no_tool_runs_and_the_answer_still_comes() -> None:
    seen = replayed(
        desk(start="pick"),
        said("find one", asks(tool("c1", "stock", kind="a")), "I cannot look."),
        options={"maxToolCallsPerTurn": 0},
    )
    assert seen.of_type("tool_call_start") == []
    assert seen.replies == ["I cannot look."]


def test_a_model_error_after_a_tool_repeats_the_call_of_the_model_only() -> None:
    down = {"error": {"type": "api_error", "status": 500}}
    book = asks(tool("c1", "book", kind="city", day="Mon"))
    seen = replayed(desk(start="pick"), said("book it", book, down, "It is reserved."))
    assert len(seen.of_type("tool_call_start")) == 1
    assert len(seen.of_type("llm_call_retry")) == 1
    again = replayed(
        desk(start="pick"),
        said("book it", book, *[down] * 4, fails=True),
        {"retry": True, "model": [{"text": "It is reserved."}]},
    )
    assert len(again.of_type("tool_call_start")) == 1
    assert [block["tool_use_id"] for block in blocks(again.requests[-1], "tool_result")] == ["c1"]
    assert again.replies == ["It is reserved."]


@pytest.mark.parametrize("choice", ["required", {"name": "stock"}])
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-5"])
def test_a_forced_tool_is_forced_once_in_a_turn(choice: Any, model: str) -> None:
    document = playbook([stage("pick", tools=[STOCK, BOOK], toolChoice=choice)])
    seen = replayed(document, said("x", asks(tool("c1", "stock", kind="city")), "One free."), model=model)
    first, second = seen.requests
    assert "tool_choice" in first or texts(first)[-1].startswith("<instructions>")
    assert second.get("tool_choice") in (None, {"type": "auto"})
    assert seen.replies == ["One free."]


def test_a_tool_of_another_stage_or_a_name_that_is_nearly_right_is_not_run() -> None:
    document = desk(
        rule("t-tool", "close", "greet", {"type": "tool_call", "toolName": "stock"}), start="close"
    )
    calls = asks(tool("c1", "stock", kind="city"), tool("c2", "Stock ", kind="city"))
    seen = replayed(document, said("is it free?", calls, "I cannot look that up here."))
    assert seen.of_type("tool_call_start") == []
    assert [event["success"] for event in seen.results().values()] == [False, False]
    assert seen.moves() == []
    assert seen.replies == ["I cannot look that up here."]


VALUES: list[Any] = [None, "", [], {}, 0, False, 1e308, 10**400, "👩‍🔧🏽", {"1": {"a": [1, None]}}]


@pytest.mark.parametrize("value", VALUES)
def test_whatever_a_tool_returns_the_turn_is_answered(value: Any) -> None:
    seen = replayed(
        desk(start="pick"),
        said("?", asks(tool("c1", "stock", kind="a")), "ok"),
        tools={"stock": {"returns": value}},
    )
    assert seen.replies == ["ok"]
    shown = blocks(seen.requests[1], "tool_result")[0]["content"]
    assert shown.strip()
    assert (shown == "(no result)") == (value is None or value == "")


# -- time ----------------------------------------------------------------------------------------------


def test_idle_time_counts_from_the_end_of_the_last_turn() -> None:
    idle = {"type": "timeout", "durationMs": 60_000, "since": "last_activity"}
    document = playbook([stage("talk", tools=[STOCK]), stage("gone")], [rule("t-idle", "talk", "gone", idle)])
    slow = said("slow", asks(tool("c1", "stock", kind="a")), "Done.")
    steps: list[Json] = []
    for number in range(8):
        steps += [said(str(number), "Yes."), {"wait_s": 40}]
    seen = replayed(
        document, *steps, slow, {"wait_s": 59}, said("last", "Yes."), {"wait_s": 61},
        tools={"stock": {"returns": 1, "sleep_s": 50}},
    )  # fmt: skip
    moved = seen.of_type("transition_triggered")
    assert len(moved) == 1
    last = next(e for e in reversed(seen.events) if e["type"] == "turn_complete")
    assert moved[0]["seq"] > last["seq"]
