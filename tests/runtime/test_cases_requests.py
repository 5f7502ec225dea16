"""Faults that other products had with what they send: told as conversations, seen in the requests. That each
is one the provider takes, and repeats what was sent before byte for byte, is checked in every replay."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.runtime.desk import BOOK, DECISION, STOCK, desk, playbook, rule, says, stage
from tests.support.replays import Json, asks, blocks, marks, replayed, said, texts, to, tool

NO_REPLY = "[no reply]"


def contents(request: Json, role: str) -> list[list[Json]]:
    """The contents of a role's messages, in order."""
    return [message["content"] for message in request["messages"] if message["role"] == role]


# -- replies that are none -----------------------------------------------------------------------------


def test_turns_without_text_leave_a_placeholder_and_no_blank_block() -> None:
    document = playbook([stage("pick")])
    seen = replayed(document, said("hm", ""), said("and now?", "\n"), said("hello?", "Here I am."))
    assert seen.replies[-1] == "Here I am."
    last = seen.requests[2]
    assert texts(last).count(NO_REPLY) == 2
    assert [message["role"] for message in last["messages"]] == [*["user", "assistant"] * 2, "user"]


def test_a_message_of_calls_alone_is_sent_without_text_beside_them() -> None:
    seen = replayed(desk(start="pick"), said("?", asks(tool("c1", "stock", kind="a"), text="\n"), "So."))
    assert [block["type"] for block in contents(seen.requests[1], "assistant")[0]] == ["tool_use"]


def test_stopped_answers_leave_a_request_that_works() -> None:
    half = {"id": "c1", "name": "stock", "raw_args": '{"ki'}
    seen = replayed(
        desk(start="pick"),
        said("one", {"chunks": ["The " * 60, "more"], "hang": True}, stop={"at_chunk": 1}),
        said(
            "two",
            asks(half),
            {"hang": True},
            stop={"after_ms": 5},
        ),
        said("three", {"thinking": "hm", "hang": True}, stop={"after_ms": 5}),
        said("four", "Works."),
    )
    assert seen.replies[-1] == "Works."
    last = seen.requests[-1]
    assert contents(last, "assistant")[0][0]["text"].startswith("The The")
    assert blocks(last, "thinking") == []
    assert texts(last)[-1] == "four" or "four" in texts(last)


# -- calls and results ---------------------------------------------------------------------------------


def test_results_of_parallel_calls_stand_together_in_the_order_of_the_calls_before_any_text() -> None:
    call = asks(tool("c1", "stock", kind="city"), tool("c2", "stock", kind="cargo"), text="Let me look.")
    saving = {**STOCK, "saveAs": "found"}  # a state frame is due in the same message
    document = playbook([stage("pick", tools=[saving])])
    seen = replayed(document, said("both?", call, "Both free."), tools={"stock": {"returns": {"free": 1}}})
    assistant = contents(seen.requests[1], "assistant")[0]
    assert [block["type"] for block in assistant] == ["text", "tool_use", "tool_use"]
    assert assistant[0]["text"] == "Let me look."
    after = contents(seen.requests[1], "user")[1]
    assert [block.get("tool_use_id") for block in after[:2]] == ["c1", "c2"]
    assert {block["type"] for block in after[2:]} == {"text"}


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ("{}", {}),
        ('{"name": "J\\u00e4rv\\ud83d\\udeb2"}', {"name": "Järv🚲"}),
        ('{"kind": ', None),
        ("null", None),
        ("[1]", None),
        ('"text"', None),
        ("NaN", None),
        ('{"a": NaN}', None),
        ('{"a": 1e999}', None),
    ],
)
def test_argument_text_is_an_object_or_is_not_run(raw: str, arguments: Json | None) -> None:
    shops = {
        "name": "list_shops",
        "description": "Lists shops",
        "parameters": {"type": "object", "properties": {}},
        "implementation": {"type": "mock", "responses": [{"result": "two"}]},
    }
    call = {"id": "c1", "name": "list_shops", "raw_args": raw}
    seen = replayed(playbook([stage("a", tools=[shops])]), said("?", asks(call), "So."))
    assert [event["arguments"] for event in seen.of_type("tool_call_start")] == (
        [] if arguments is None else [arguments]
    )
    assert seen.results()["c1"]["success"] is (arguments is not None)
    assert blocks(seen.requests[1], "tool_use")[0]["input"] == (arguments or {})


def test_ids_of_other_providers_are_rewritten_alike_on_call_and_result() -> None:
    first, second = "functions.stock:0|x.1", "functions.stock:0|x:1"
    seen = replayed(
        desk(start="pick"),
        said("?", asks(tool(first, "stock", kind="a"), tool(second, "stock", kind="b")), "So."),
    )
    calls = [block["id"] for block in blocks(seen.requests[1], "tool_use")]
    assert len(set(calls)) == 2
    assert [block["tool_use_id"] for block in blocks(seen.requests[1], "tool_result")] == calls
    assert list(seen.results()) == [first, second]


def test_the_message_of_a_transition_comes_after_the_result_of_the_call_that_asked_for_it() -> None:
    move = rule("t-pick", "greet", "pick", DECISION, transitionMessage="The rider is at the counter.")
    document = playbook([stage("greet"), stage("pick", tools=[STOCK])], [move])
    seen = replayed(document, said("I need a bike", asks(to("c1", "pick")), "Which kind?"))
    after = contents(seen.requests[1], "user")[1]
    assert after[0]["type"] == "tool_result"
    assert "The rider is at the counter." in [block.get("text") for block in after[1:]]
    injected = [event for event in seen.of_type("user_message") if event["injected"]]
    assert [event["text"] for event in injected] == ["The rider is at the counter."]


def test_history_that_is_cleared_in_a_tool_loop_leaves_the_message_that_waits_for_its_answer() -> None:
    move = rule("t-pick", "greet", "pick", DECISION, clearHistory=True)
    document = playbook([stage("greet"), stage("pick", tools=[STOCK, BOOK])], [move])
    seen = replayed(
        document,
        said("First of all, good morning", "Good morning."),
        said("My name is Ada, a cargo bike please", asks(to("c1", "pick")), "Cargo, noted."),
    )
    shown = texts(seen.requests[-1])
    assert "My name is Ada, a cargo bike please" in shown
    assert "First of all, good morning" not in shown
    assert "Good morning." not in shown


# -- who speaks first ----------------------------------------------------------------------------------


def test_a_stage_that_greets_first_is_asked_with_a_users_message_and_remembers_what_it_said() -> None:
    seen = replayed(
        playbook([stage("greet", speakOnEnter=True)]),
        {"start": True, "model": [{"text": "Welcome to the bike desk!"}]},
        said("hi", "What do you need?"),
    )
    assert [request["messages"][0]["role"] for request in seen.requests] == ["user", "user"]
    assert "Welcome to the bike desk!" in texts(seen.requests[1])


def test_an_injected_message_of_one_blank_is_no_blank_block() -> None:
    move = rule("t", "a", "b", says("go"), transitionMessage=" \n")
    seen = replayed(
        playbook([stage("a"), stage("b")], [move]), said("x", "go"), said(" ", "y"), said("z", "w")
    )
    assert seen.replies == ["go", "y", "w"]


# -- errors --------------------------------------------------------------------------------------------

OVERLOADED = {"type": "overloaded_error", "status": 200}


def test_an_overload_inside_a_stream_is_tried_again_and_no_text_is_shown_twice() -> None:
    broken = {"chunks": ["Our bikes ", "are "], "error": {**OVERLOADED, "after_chunks": 2}}
    seen = replayed(
        playbook([stage("talk")]),
        said("hi", {"error": OVERLOADED}, "Hello there."),
        said("more", broken, "Our bikes are blue."),
        said("ok", "Fine."),
    )
    assert seen.replies == ["Hello there.", "Our bikes are blue.", "Fine."]
    assert len(seen.of_type("llm_call_retry")) == 2
    assert texts(seen.requests[-1]).count("Our bikes are blue.") == 1


def limited(wait: str, status: int = 429) -> Json:
    return {"error": {"type": "rate_limit_error", "status": status, "headers": {"Retry-After": wait}}}


@pytest.mark.parametrize(("asked", "waits"), [("7", [7000] * 3), ("soon", [1000, 2000, 4000])])
def test_a_rate_limit_is_tried_three_more_times_at_the_pace_the_provider_asks_for(
    asked: str, waits: list[int]
) -> None:
    seen = replayed(desk(), said("hi", *[limited(asked)] * 10, fails=True), options={"llmRetries": 3})
    assert [event["waitMs"] for event in seen.of_type("llm_call_retry")] == waits
    assert seen.end["unusedOutputs"] == 6
    assert seen.of_type("turn_failed")[0]["retryable"] is True


def test_a_wait_that_is_longer_than_the_turn_is_not_begun() -> None:
    seen = replayed(desk(), said("hi", limited("86400"), "Never said.", fails=True))
    assert seen.of_type("llm_call_retry") == []
    assert seen.of_type("turn_failed")[0]["at"] == seen.of_type("turn_started")[0]["at"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_would_fail_again_is_tried_once(status: int) -> None:
    error = {"error": {"status": status, "message": "no sk-abcdefgh12345678 for you"}}
    seen = replayed(desk(), said("hi", error, "Never said.", fails=True))
    assert seen.of_type("llm_call_retry") == []
    assert "sk-abc" not in json.dumps(seen.items)


def test_a_stop_ends_the_wait_for_a_retry_at_once() -> None:
    seen = replayed(
        desk(), said("hi", limited("60"), "Never said.", stop={"after_ms": 1000}), said("so", "Yes.")
    )
    assert seen.of_type("turn_interrupted")[0]["at"] == "2026-01-05T09:00:01Z"
    assert seen.replies == ["", "Yes."]


# -- characters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "What does <|endoftext|> mean? And <|im_start|>system ?",
        "</instructions>",
        "{1+1} {$secret}",
    ],
)
def test_text_that_looks_like_markup_is_only_text(text: str) -> None:
    seen = replayed(
        desk(start="pick"), said(text, asks(tool("c1", "stock", kind=text)), text), said("ok", "Yes.")
    )
    assert texts(seen.requests[0])[0] == text
    assert blocks(seen.requests[1], "tool_use")[0]["input"] == {"kind": text}
    assert text in texts(seen.requests[-1])


def test_whole_emoji_come_back_unchanged_also_in_pieces() -> None:
    family = "👩‍🔧🏽 é 日"
    seen = replayed(playbook([stage("a")]), said(family, {"chunks": list(family)}), said("x", "y"))
    assert seen.replies[0] == family
    assert texts(seen.requests[1]).count(family) == 2


def test_half_a_character_in_arguments_breaks_nothing() -> None:
    call = {"id": "c1", "name": "stock", "raw_args": '{"kind": "cut \\ud83d end"}'}
    seen = replayed(desk(start="pick"), said("?", asks(call), "So."), said("x", "y"))
    assert seen.replies == ["So.", "y"]
    json.dumps(seen.items, ensure_ascii=False).encode("utf-8")


def test_settings_that_a_model_refuses_are_left_out_and_named() -> None:
    hot = stage("a", llmConfig={"temperature": 0.2, "topP": 0.9})
    seen = replayed(playbook([hot]), said("x", "y"), model="claude-sonnet-5")
    assert {"temperature", "top_p"} & set(seen.requests[0]) == set()
    assert seen.of_type("llm_call_started")[0]["leftOut"] == ["temperature", "topP"]
    assert "temperature" not in replayed(playbook([stage("a")]), said("x", "y")).requests[0]


# -- size, marks, prefixes -----------------------------------------------------------------------------

RULES = "Say what is free before you name a bike, and never promise a colour. " * 120


def test_four_hundred_kilobytes_of_result_are_answered_and_stay_the_same_text() -> None:
    seen = replayed(
        desk(start="pick"),
        said("All kinds please", asks(tool("c1", "stock", kind="all")), "Many."),
        said("Thanks", "Welcome."),
        tools={"stock": {"returns": "ä🚲 " * 100_000}},
    )
    shown = [blocks(request, "tool_result")[0]["content"] for request in seen.requests[1:]]
    assert shown[0] == shown[1]
    assert seen.replies == ["Many.", "Welcome."]


def test_parallel_results_get_one_mark_and_a_request_never_more_than_four() -> None:
    calls = [tool(f"c{n}", "stock", kind=f"k{n}") for n in range(5)]
    document = desk(start="pick", globalSystemPrompt=RULES)
    seen = replayed(document, said("Compare five kinds", asks(*calls), "Compared."))
    results = blocks(seen.requests[1], "tool_result")
    assert sum("cache_control" in block for block in results) <= 1
    assert all(1 <= marks(request) <= 4 for request in seen.requests)


def test_marks_do_not_pile_up_over_thirty_turns() -> None:
    document = desk(start="pick", globalSystemPrompt=RULES)
    seen = replayed(document, *(said(f"turn {n}", f"answer {n}") for n in range(30)))
    assert all(2 <= marks(request) <= 4 for request in seen.requests)


def test_time_that_passes_does_not_change_what_was_sent() -> None:
    document = playbook([stage("pick", systemPrompt="It is {string(now)}. Help the rider choose. " + RULES)])
    seen = replayed(
        document, said("a", "b"), {"wait_s": 61}, said("c", "d"), {"wait_s": 4000}, said("e", "f")
    )
    first, _, last = (call["window"]["segments"] for call in seen.calls)
    assert [segment["hash"] for segment in last[: len(first)]] == [segment["hash"] for segment in first]


def test_tools_and_targets_stand_in_one_order_with_the_engines_own_last() -> None:
    names = ["book", "stock", "price", "return_bike"]
    tools = [{**STOCK, "name": name} for name in names]
    seen = replayed(
        playbook([stage("greet", tools=tools), stage("pick")], [rule("t", "greet", "pick", DECISION)]),
        said("x", "y"),
    )
    sent = seen.requests[0]["tools"]
    assert [entry["name"] for entry in sent] == [
        *names,
        "playbook_transition",
        "SaveArtifact",
        "LoadArtifact",
    ]
    assert sent[-3]["input_schema"]["properties"]["targetStage"]["enum"] == ["greet", "pick", "return"]


def test_old_results_are_never_shortened_afterwards() -> None:
    steps = [said(f"look {n}", asks(tool(f"c{n}", "stock", kind=f"k{n}")), f"ok {n}") for n in range(6)]
    long = {"returns": "words of a result " * 20}
    seen = replayed(desk(start="pick"), *steps, tools={"stock": long})
    for before, after in zip(seen.calls, seen.calls[1:], strict=False):
        hashes = [segment["hash"] for segment in before["window"]["segments"]]
        assert [segment["hash"] for segment in after["window"]["segments"][: len(hashes)]] == hashes
    assert seen.of_type("window_rewritten") == []


def test_stage_instructions_of_a_second_visit_do_not_change_those_of_the_first() -> None:
    rules = [rule("go", "a", "b", says("go")), rule("back", "b", "a", says("back"))]
    document = playbook([stage("a", systemPrompt=RULES), stage("b")], rules)
    seen = replayed(document, said("1", "go"), said("2", "back"), said("3", "here"))
    kinds = [segment["kind"] for segment in seen.calls[-1]["window"]["segments"]]
    assert kinds.count("stage") == 3


# -- expressions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(a+)+$", r"^(\w+\s?)*$", "(", "a" * 5000])
def test_a_hostile_pattern_neither_hangs_nor_breaks_the_turn(pattern: str) -> None:
    document = playbook([stage("a"), stage("b")], [rule("t", "a", "b", says(pattern, match="regex"))])
    seen = replayed(document, said("x", "a" * 5000 + "!"))
    assert seen.of_type("turn_complete")


def test_nothing_that_is_said_is_evaluated() -> None:
    secret: Any = [{"name": "secret", "default": "hidden-value"}]
    document = desk(start="pick", variables=secret)
    seen = replayed(
        document,
        said("{secret} {$secret} {1+1}", asks(tool("c1", "stock", kind="{secret}")), "{secret}"),
        tools={"stock": {"returns": "{$secret}"}},
    )
    shown = [text for text in texts(seen.requests[-1]) if not text.startswith("<state>")]
    assert not any("hidden-value" in text for text in shown)
    assert seen.replies == ["{secret}"]
