"""The two pure mappings of the Responses adapter: window -> body, stream events -> message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.context.models import record
from runtime.conversation import events as ev
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.llm.base import ContextTooLong, LLMError, Overloaded, QuotaSpent, RateLimited, Refused
from runtime.llm.openai_responses_wire import ResponseReader, render_responses
from runtime.llm.wire import left_out
from runtime.playbook import NamedToolChoice
from tests.runtime.context.talk import Talk, call, playbook
from tests.runtime.llm.requests import request_of, simple_request

SOL = record("gpt-6.2-sol")
LONG = "Every bike has a number, a colour and a frame size. " * 120
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA",
}


def talk_on_sol(**more: Any) -> Talk:
    return Talk(playbook(**more), model=SOL)


def body_of(talk: Talk, **more: Any) -> dict[str, Any]:
    return render_responses(request_of(talk, **more), talk.model)


def kinds(body: dict[str, Any]) -> list[str]:
    return [item.get("role") or item["type"] for item in body["input"]]


def thinks(talk: Talk, text: str = "", calls: tuple[ToolCall, ...] = ()) -> Talk:
    """A reply that reasoning led to."""
    replay = (ReplayBlock(provider="openai", text="hm", block=REASONING),)
    message = AssistantMessage(text=text, tool_calls=calls, replay=replay, stop="end_turn")
    talk.add(ev.LLMCallCompleted, call=talk.state.calls, message=message)
    return talk


def texts(body: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [item["content"] for item in body["input"] if isinstance(item.get("content"), list)]
    return [part for content in parts for part in content]


# -- the request -------------------------------------------------------------------------------------


def test_a_window_becomes_a_developers_text_tools_and_a_users_texts() -> None:
    talk = talk_on_sol().start("pick").turn("hi")
    talk.ask()
    body = body_of(talk)
    assert kinds(body) == ["developer", "user", "developer"]
    assert [tool["name"] for tool in body["tools"]][:3] == ["stock", "seats", "playbook_transition"]
    assert {tool["strict"] for tool in body["tools"]} == {False}
    assert [part["text"].split("\n")[0] for part in texts(body)[1:]] == ["hi", "<state>", "<instructions>"]


def test_nothing_is_stored_there_and_reasoning_comes_back_encrypted() -> None:
    body = render_responses(simple_request(), SOL)
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert not {"previous_response_id", "conversation"} & set(body)


def test_calls_and_results_are_items_of_their_own_and_share_their_ids() -> None:
    talk = talk_on_sol().start("pick").turn("red and blue?")
    talk.ask()
    talk.says("Let me look.", calls=[call("a:1", kind="red"), call("b:1", kind="blue")])
    talk.result("a:1", "stock", {"free": 1}).result("b:1", "stock", error="closed")
    talk.ask()
    items = body_of(talk)["input"][3:]
    assert items[0] == {"type": "message", "role": "assistant", "content": "Let me look."}
    calls, results = items[1:3], items[3:5]
    assert [json.loads(item["arguments"]) for item in calls] == [{"kind": "red"}, {"kind": "blue"}]
    assert [item["call_id"] for item in calls] == [item["call_id"] for item in results]
    assert [item["output"] for item in results] == ['{"free":1}', "Error: closed"]


def test_reasoning_goes_back_as_it_came_in_front_of_what_it_led_to() -> None:
    talk = talk_on_sol().start("pick").turn("red?")
    talk.ask()
    thinks(talk, calls=(call("a", kind="red"),)).result("a", "stock", 1)
    talk.ask()
    items = body_of(talk)["input"]
    place = items.index(REASONING)
    assert items[place + 1]["type"] == "function_call"


def test_reasoning_that_led_to_nothing_is_not_sent() -> None:
    talk = talk_on_sol().start("pick").turn("red?")
    talk.ask()
    thinks(talk).end()
    talk.turn("and now?").ask()
    assert REASONING not in body_of(talk)["input"]


def test_reasoning_of_another_provider_is_not_sent() -> None:
    talk = Talk(model=record("claude-opus-5")).start("pick").turn("red?")
    talk.ask()
    talk.says("yes", thinking="hm").end("yes")
    talk.turn("ok").ask()
    assert "thinking" not in str(render_responses(request_of(talk), SOL)["input"])


def test_the_last_point_is_the_automatic_one_and_the_others_are_marked() -> None:
    talk = talk_on_sol(globalSystemPrompt=LONG).start("pick").exchange("hi", "hello")
    talk.turn("more").ask()
    assert [point.reason for point in talk.plans[-1].points] == ["base", "tail"]
    body = body_of(talk)
    assert body["prompt_cache_options"] == {"mode": "implicit"}
    marked = [part for part in texts(body) if "prompt_cache_breakpoint" in part]
    assert [part["text"][:9] for part in marked] == [LONG[:9]]
    assert body["prompt_cache_key"] == "s"


def test_without_a_point_at_the_end_the_end_of_the_request_before_is_marked_to_be_read() -> None:
    talk = talk_on_sol(globalSystemPrompt=LONG).start("pick").exchange("hi", "hello")
    talk.turn("more").ask()
    request = request_of(talk)
    base = tuple(point for point in request.cache_points if point.reason == "base")
    body = render_responses(_with(request, cache_points=base), SOL)
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    marked = [index for index, part in enumerate(texts(body)) if "prompt_cache_breakpoint" in part]
    assert marked == [0, len(texts(body)) - 2]


def test_without_any_point_nothing_is_written_to_the_cache() -> None:
    request = _with(simple_request(), cache_points=())
    body = render_responses(request, SOL)
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_breakpoint" not in str(body)


def test_a_model_without_breakpoints_gets_a_key_only() -> None:
    body = render_responses(simple_request(), record("gpt-4.1"))
    assert "prompt_cache_options" not in body
    assert "prompt_cache_breakpoint" not in str(body)
    assert body["prompt_cache_key"] == "s"


def _with(request: Any, **changed: Any) -> Any:
    fields = {name: getattr(request, name) for name in type(request).__dataclass_fields__}
    return type(request)(**{**fields, **changed})


def test_settings_that_the_model_refuses_are_left_out_and_named() -> None:
    request = simple_request(
        config={"temperature": 0.2, "effort": "high", "maxTokens": 5, "stopSequences": ["END"]},
        tool_choice="required",
    )
    body = render_responses(request, SOL)
    assert (body["max_output_tokens"], body["reasoning"], body["tool_choice"]) == (
        16,
        {"effort": "high"},
        "required",
    )
    assert not {"temperature", "top_p", "stop"} & set(body)
    assert left_out(request, SOL) == ("temperature", "stopSequences")


def test_a_temperature_is_sent_where_no_reasoning_forbids_it() -> None:
    request = simple_request(config={"temperature": 0.2, "effort": "none"})
    luna = record("gpt-6-luna")
    assert render_responses(request, luna)["temperature"] == 0.2
    assert left_out(request, luna) == ()
    assert left_out(request, SOL) == ("temperature", "effort")


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        (NamedToolChoice(name="stock"), {"type": "function", "name": "stock"}),
    ],
)
def test_a_tool_choice_has_the_providers_form(choice: Any, sent: Any) -> None:
    assert render_responses(simple_request(tool_choice=choice), SOL).get("tool_choice") == sent


# -- the stream --------------------------------------------------------------------------------------


def added(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, **item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text_delta(index: int, text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": index, "delta": text}


def end(status: str = "completed", **response: Any) -> dict[str, Any]:
    return {"type": f"response.{status}", "response": {"status": status, **response}}


def read(*events: dict[str, Any]) -> ResponseReader:
    reader = ResponseReader()
    for event in events:
        reader.feed(event)
    return reader


def message_item(text: str) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


def test_text_is_put_together_from_its_pieces_and_said_once() -> None:
    reader = ResponseReader()
    events = [text_delta(0, "Hel"), text_delta(0, "lo"), done(0, **message_item("Hello")), end()]
    assert [reader.feed(event) for event in events] == ["Hel", "lo", "", ""]
    assert (reader.message().text, reader.message().stop, reader.finished) == ("Hello", "end_turn", True)


def test_text_that_no_piece_brought_is_said_with_its_item() -> None:
    reader = ResponseReader()
    assert reader.feed(done(0, **message_item("Hello"))) == "Hello"


def test_reasoning_is_kept_from_the_finished_item_with_its_place() -> None:
    reader = read(
        added(0, type="reasoning", encrypted_content="half"),
        done(0, **REASONING),
        done(1, type="function_call", call_id="c", name="stock", arguments='{"kind":"red"}'),
        end(),
    )
    message = reader.message()
    assert [(b.position, b.text, b.block) for b in message.replay] == [(0, "hm", REASONING)]
    assert [(c.call_id, c.name, c.arguments) for c in message.tool_calls] == [("c", "stock", {"kind": "red"})]
    assert message.stop == "tool_use"


def test_reasoning_without_its_encrypted_content_is_only_to_be_read() -> None:
    bare = {name: value for name, value in REASONING.items() if name != "encrypted_content"}
    block = read(done(0, **bare), done(1, **message_item("ok")), end()).message().replay[0]
    assert (block.text, block.block) == ("hm", {})


@pytest.mark.parametrize("raw", ['{"kind": ', "null", "[1]"])
def test_arguments_that_are_no_object_are_kept_raw_and_never_run(raw: str) -> None:
    found = read(done(0, type="function_call", call_id="c", name="stock", arguments=raw), end())
    call_made = found.message().tool_calls[0]
    assert (call_made.arguments, call_made.raw) == (None, raw)


def test_a_call_that_was_cut_off_is_never_run_even_if_it_looks_whole() -> None:
    incomplete = end("incomplete", incomplete_details={"reason": "max_output_tokens"})
    started = added(0, type="function_call", call_id="c", name="stock", arguments="")
    pieces = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"kind":"red"}'}
    for events in (
        (started, pieces, incomplete),
        (done(0, type="function_call", call_id="c", name="stock", arguments='{"kind":"red"}'), incomplete),
    ):
        message = read(*events).message()
        assert (message.tool_calls[0].arguments, message.tool_calls[0].raw) == (None, '{"kind":"red"}')
        assert message.stop == "max_tokens"


def test_a_filtered_answer_is_a_refusal_and_an_unknown_reason_is_passed_on() -> None:
    filtered = read(text_delta(0, "We"), end("incomplete", incomplete_details={"reason": "content_filter"}))
    with pytest.raises(Refused):
        filtered.message()
    steered = read(text_delta(0, "We"), end("incomplete", incomplete_details={"reason": "steered"}))
    assert steered.message().stop == "steered"


def test_a_refusal_in_the_models_own_words_is_its_answer() -> None:
    refusal = {"type": "response.refusal.delta", "output_index": 0, "delta": "I must not."}
    message = read(refusal, end()).message()
    assert (message.text, message.stop) == ("I must not.", "refusal")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "server_error", "message": "sk-secretsecret"}, Overloaded),
        ({"code": "rate_limit_exceeded", "message": "slow"}, RateLimited),
        ({"code": "insufficient_quota", "message": "pay"}, QuotaSpent),
        ({"code": "monthly_spend_limit_exceeded", "message": "pay"}, QuotaSpent),
        ({"code": "context_length_exceeded", "message": "long"}, ContextTooLong),
        ({}, Overloaded),
    ],
)
def test_a_failure_is_an_event_and_becomes_ours(error: dict[str, Any], expected: type[LLMError]) -> None:
    for event in ({"type": "error", **error}, end("failed", error=error)):
        with pytest.raises(LLMError) as caught:
            read(event)
        assert type(caught.value) is expected
        assert "secret" not in caught.value.message


def test_unknown_events_and_items_are_passed_over() -> None:
    reader = read({"type": "response.novel", "delta": "?"}, done(0, type="hologram"), end())
    assert (reader.message().text, reader.message().tool_calls) == ("", ())
    assert not read({"type": "response.created"}).finished


def test_usage_is_split_into_disjoint_parts() -> None:
    usage = {
        "input_tokens": 177,
        "input_tokens_details": {
            "cached_tokens": 100,
            "cache_write_tokens": 70,
            "cache_write_tokens_details": {"ttl_30m_tokens": 50, "ttl_12h_tokens": 20},
        },
        "output_tokens": 9,
    }
    assert read(end(usage=usage)).usage() == Usage(fresh=7, write5m=50, write1h=20, read=100, output=9)
    assert read(end()).usage() is None
