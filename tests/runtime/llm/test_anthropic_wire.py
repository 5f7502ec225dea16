"""The two pure mappings of the Anthropic adapter: window -> body, stream events -> message."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.conversation.messages import Usage
from runtime.conversation.segments import CachePoint
from runtime.llm.anthropic_wire import MessageReader, render_anthropic
from runtime.llm.wire import left_out, parse_arguments
from runtime.playbook import NamedToolChoice
from tests.runtime.context.talk import Talk, call, playbook
from tests.runtime.llm.requests import request_of, simple_request
from tests.runtime.llm.valid import problems

SONNET = record("claude-sonnet-5")
LONG = "Every bike has a number, a colour and a frame size. " * 120


def body_of(talk: Talk, model: ModelRecord | None = None, **more: Any) -> dict[str, Any]:
    return render_anthropic(request_of(talk, **more), model or talk.model)


def blocks_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(m["role"], b["type"]) for m in body["messages"] for b in m["content"]]


def test_a_window_becomes_tools_system_and_messages() -> None:
    talk = Talk().start("pick").turn("hi")
    talk.ask()
    body = body_of(talk)
    assert [tool["name"] for tool in body["tools"]][:3] == ["stock", "seats", "playbook_transition"]
    assert body["tools"][0]["input_schema"]["required"] == ["kind"]
    assert body["system"][0]["text"].startswith("You lead a conversation")
    assert [block["text"].split("\n")[0] for block in body["messages"][0]["content"]] == [
        "hi",
        "<state>",
        "<instructions>",
    ]
    assert problems(body) == []


def test_stage_and_tail_are_one_final_system_message_where_the_model_takes_one() -> None:
    talk = Talk(model=record("claude-opus-5")).start("pick").turn("hi")
    talk.ask(tail="Answer now.")
    body = body_of(talk)
    assert [message["role"] for message in body["messages"]] == ["user", "system"]
    assert len(body["messages"][1]["content"]) == 2
    assert problems(body) == []


def test_instructions_that_a_users_block_follows_are_a_users_block_too() -> None:
    talk = Talk(model=record("claude-opus-5")).start("pick").turn("hi")
    talk.ask()
    talk.add(ev.LLMCallFailed, call=1, error="busy")
    talk.add(ev.TurnFailed, stage="pick", code="overloaded", message="busy")
    talk.set(seen=1).turn(cause="retry").ask()
    assert problems(body_of(talk)) == []


def test_results_of_parallel_calls_stand_first_and_together() -> None:
    talk = Talk().start("pick").turn("red and blue?")
    talk.ask()
    talk.says("Let me look.", calls=[call("a", kind="red"), call("b", kind="blue")])
    talk.result("a", "stock", {"free": 1}).set(seen=1).result("b", "stock", error="closed")
    talk.ask(tail="Answer now.")
    body = body_of(talk)
    assert [b["type"] for b in body["messages"][1]["content"]] == ["text", "tool_use", "tool_use"]
    last = body["messages"][2]["content"]
    assert [b["type"] for b in last] == ["tool_result", "tool_result", "text", "text"]
    assert [b.get("is_error") for b in last[:2]] == [None, True]
    assert problems(body) == []


def test_thinking_goes_back_unchanged_and_first() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.ask()
    talk.says(thinking="hm", calls=[call("a", kind="red")]).result("a", "stock", 1)
    talk.ask()
    assistant = body_of(talk)["messages"][1]["content"]
    assert assistant[0] == {"type": "thinking", "thinking": "hm", "signature": "s1"}


def test_ids_are_valid_and_unique_whoever_made_them() -> None:
    talk = Talk().start("pick")
    for _ in range(2):
        talk.turn("red?").ask()
        talk.says(calls=[call("call:1|x", kind="red")]).result("call:1|x", "stock", 1)
        talk.ask()
        talk.says("one").end("one")
    talk.turn("ok").ask()
    assert problems(body_of(talk)) == []


def test_marks_stand_where_the_points_are_and_never_on_more_than_four_blocks() -> None:
    talk = Talk(playbook(globalSystemPrompt=LONG)).start("pick").exchange("hi", "hello")
    talk.turn("more").ask()
    body, points = body_of(talk), request_of(talk).cache_points
    assert len(points) <= 4
    first, last = points[0], points[-1]
    assert first.ttl == "1h"
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": first.ttl}
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral", "ttl": last.ttl}
    assert problems(body) == []


def test_a_mark_on_thinking_moves_to_the_block_before_it() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.ask()
    talk.says(thinking="hm", calls=[call("a", kind="red")]).result("a", "stock", 1)
    window = talk.ask()
    thinking = next(s.id for s in window.segments if s.kind == "thinking")
    request = request_of(talk)
    points = (CachePoint(segment=thinking, ttl="5m"),)
    body = render_anthropic(type(request)(**{**_fields(request), "cache_points": points}), SONNET)
    assert body["messages"][0]["content"][-1]["cache_control"]["ttl"] == "5m"
    assert problems(body) == []


def _fields(request: Any) -> dict[str, Any]:
    return {name: getattr(request, name) for name in type(request).__dataclass_fields__}


def test_a_blank_base_is_left_out() -> None:
    talk = Talk().start("pick").turn("hi")
    window = talk.ask()
    blank = [s.model_copy(update={"text": " "}) if s.kind == "base" else s for s in window.segments]
    request = request_of(talk)
    changed = type(window)(**{**_fields(window), "segments": tuple(blank)})
    body = render_anthropic(type(request)(**{**_fields(request), "window": changed}), SONNET)
    assert "system" not in body


def test_settings_that_the_model_refuses_are_left_out_and_named() -> None:
    request = simple_request(
        config={
            "temperature": 0.2,
            "topP": 0.9,
            "effort": "high",
            "maxTokens": 500,
            "stopSequences": ["END"],
        },
        tool_choice="required",
    )
    body = render_anthropic(request, SONNET)
    assert (body["max_tokens"], body["stop_sequences"]) == (500, ["END"])
    assert body["output_config"] == {"effort": "high"}
    assert body["tool_choice"] == {"type": "any"}
    assert not {"temperature", "top_p"} & set(body)
    assert left_out(request, SONNET) == ("temperature", "topP")
    refusing = record("claude-opus-5-5")
    assert "tool_choice" not in render_anthropic(request, refusing)
    assert "toolChoice" in left_out(request, refusing)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", {"type": "none"}),
        (NamedToolChoice(name="stock"), {"type": "tool", "name": "stock"}),
    ],
)
def test_a_tool_choice_has_the_providers_form(choice: Any, sent: Any) -> None:
    assert render_anthropic(simple_request(tool_choice=choice), SONNET).get("tool_choice") == sent


def test_output_is_never_asked_beyond_the_models_limit() -> None:
    assert render_anthropic(simple_request(config={"maxTokens": 10**6}), SONNET)["max_tokens"] == 128_000


def test_a_session_of_many_ends_stays_valid() -> None:
    talk = Talk().start("pick").turn("one")
    talk.ask()
    talk.add(ev.TurnInterrupted, stage="pick", shown_text="", reason="stop")
    talk.turn("two").ask()
    talk.says(calls=[call("a", kind="red")])
    talk.add(ev.TurnInterrupted, stage="pick", shown_text="", reason="process_died")
    talk.turn("three").ask()
    talk.says("  ").end()
    talk.turn("four").ask()
    assert problems(body_of(talk)) == []


def test_rendering_needs_no_vendors_package() -> None:
    code = "import sys, runtime.llm.anthropic_wire, runtime.llm.source; assert 'anthropic' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- the stream --------------------------------------------------------------------------------------


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **what: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": what}


def read(*events: dict[str, Any], stop: str = "end_turn") -> MessageReader:
    reader = MessageReader()
    opening = {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}
    closing = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 40}}
    for event in (opening, *events, closing, {"type": "message_stop"}):
        reader.feed(event)
    return reader


def test_text_is_put_together_from_its_pieces() -> None:
    reader = MessageReader()
    pieces = [start(0, type="text", text=""), delta(0, type="text_delta", text="Hel"), {"type": "ping"}]
    assert [reader.feed(e) for e in [*pieces, delta(0, type="text_delta", text="lo")]] == [
        "",
        "Hel",
        "",
        "lo",
    ]
    assert reader.message().text == "Hello"
    assert not reader.finished


@pytest.mark.parametrize(
    ("chunks", "arguments"),
    [
        ([], {}),
        ([""], {}),
        (["{}"], {}),
        (['{"na', 'me": "J\\u00', "e4rv\\ud83d", '\\udeb2"}'], {"name": "Järv🚲"}),
        (['{"kind": "city"', "}", ""], {"kind": "city"}),
        (['{"kind": '], None),
        (["null"], None),
        (["[1]"], None),
    ],
)
def test_arguments_are_parsed_strictly_from_their_pieces(chunks: list[str], arguments: Any) -> None:
    pieces = [delta(0, type="input_json_delta", partial_json=chunk) for chunk in chunks]
    made = read(start(0, type="tool_use", id="a", name="stock", input={}), *pieces, stop="tool_use")
    found = made.message().tool_calls[0]
    assert found.arguments == arguments
    assert found.raw == ("".join(chunks) if arguments is None else None)


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
@pytest.mark.parametrize("came", ['{"kind": "red"}', '{"kind": "r', ""])
def test_a_call_that_ran_into_the_limit_is_never_executed(came: str, stop: str) -> None:
    reader = read(
        start(0, type="tool_use", id="a", name="stock", input={}),
        delta(0, type="input_json_delta", partial_json='{"kind": "blue"}'),
        start(1, type="tool_use", id="b", name="stock", input={}),
        delta(1, type="input_json_delta", partial_json=came),
        stop=stop,
    )
    assert [call.arguments for call in reader.message().tool_calls] == [{"kind": "blue"}, None]


def test_thinking_keeps_its_place_and_its_signature() -> None:
    reader = read(
        start(0, type="thinking", thinking=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="sig"),
        start(1, type="text", text=""),
        delta(1, type="text_delta", text="ok"),
    )
    block = reader.message().replay[0]
    assert (block.position, block.text) == (0, "hm")
    assert block.block == {"type": "thinking", "thinking": "hm", "signature": "sig"}


def test_unknown_events_blocks_deltas_and_stops_are_passed_over() -> None:
    reader = read(
        {"type": "novelty"},
        start(0, type="hologram", data=1),
        delta(0, type="beam", x=1),
        delta(9, type="text_delta", text="lost"),
        stop="tired",
    )
    message = reader.message()
    assert (message.text, message.tool_calls, message.stop) == ("", (), "tired")


def test_usage_is_split_into_disjoint_parts_and_output_is_not_added_up() -> None:
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 50,
        "cache_creation": {"ephemeral_1h_input_tokens": 20, "ephemeral_5m_input_tokens": 30},
        "output_tokens": 1,
    }
    reader = MessageReader()
    reader.feed({"type": "message_start", "message": {"usage": usage}})
    reader.feed({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 12}})
    reader.feed({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 40}})
    assert reader.usage() == Usage(fresh=7, write5m=30, write1h=20, read=100, output=40)
    assert MessageReader().usage() is None


def test_nothing_at_all_is_no_arguments() -> None:
    assert parse_arguments("") == {}
    assert parse_arguments(json.dumps("text")) is None
