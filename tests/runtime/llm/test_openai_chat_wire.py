"""The two pure mappings of the Chat Completions adapter, and how lenient the second one is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.llm.base import Refused
from runtime.llm.openai_chat_wire import ChatReader, reader_for, render_chat
from runtime.llm.wire import left_out
from runtime.playbook import NamedToolChoice
from tests.runtime.context.talk import Talk, call
from tests.runtime.llm.requests import request_of, simple_request

LOCAL = record("qwen", "openai-chat")


def local_talk() -> Talk:
    return Talk(model=LOCAL)


def body_of(talk: Talk, model: ModelRecord = LOCAL, **more: Any) -> dict[str, Any]:
    return render_chat(request_of(talk, **more), model)


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


# -- the request -------------------------------------------------------------------------------------


def test_a_window_becomes_one_system_text_and_roles_that_take_turns() -> None:
    talk = local_talk().start("pick").turn("hi")
    talk.ask()
    body = body_of(talk)
    assert roles(body) == ["system", "user"]
    assert body["messages"][1]["content"].startswith("hi\n\n<state>\n")
    assert body["messages"][1]["content"].endswith("</instructions>")
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert names[:3] == ["stock", "seats", "playbook_transition"]
    assert body["stream_options"] == {"include_usage": True}


def test_results_stand_directly_behind_the_message_with_the_calls() -> None:
    talk = local_talk().start("pick").turn("red and blue?")
    talk.ask()
    talk.says("Let me look.", calls=[call("a|1", kind="red"), call("b", kind="blue")])
    talk.result("a|1", "stock", {"free": 1}).set(seen=1).result("b", "stock", error="closed")
    talk.ask(tail="Answer now.")
    body = body_of(talk)
    assert roles(body) == ["system", "user", "assistant", "tool", "tool", "user"]
    asked = body["messages"][2]
    assert asked["content"] == "Let me look."
    assert [json.loads(c["function"]["arguments"])["kind"] for c in asked["tool_calls"]] == ["red", "blue"]
    assert [c["id"] for c in asked["tool_calls"]] == [m["tool_call_id"] for m in body["messages"][3:5]]
    assert [m["content"] for m in body["messages"][3:5]] == ['{"free":1}', "Error: closed"]


def test_a_message_with_calls_only_has_no_content_beside_them() -> None:
    talk = local_talk().start("pick").turn("red?")
    talk.ask()
    talk.says(calls=[call("a", kind="red")]).result("a", "stock", 1)
    talk.ask()
    assert set(body_of(talk)["messages"][2]) == {"role", "tool_calls"}


def test_thinking_goes_back_beside_the_calls_it_led_to_and_nowhere_else() -> None:
    talk = local_talk().start("pick").turn("red?")
    talk.ask()
    thought = (ReplayBlock(provider="openai-chat", text="hm", block={"reasoning_content": "hm"}),)
    asked = AssistantMessage(tool_calls=(call("a", kind="red"),), replay=thought, stop="tool_use")
    talk.add(ev.LLMCallCompleted, call=talk.state.calls, message=asked)
    talk.result("a", "stock", 1).ask()
    talk.add(ev.LLMCallCompleted, call=talk.state.calls, message=AssistantMessage(text="yes", replay=thought))
    talk.end("yes").turn("ok").ask()
    said = [m for m in body_of(talk)["messages"] if m["role"] == "assistant"]
    assert [m.get("reasoning_content") for m in said] == ["hm", None]


def test_only_a_model_that_takes_them_gets_system_texts_further_down() -> None:
    talk = local_talk().start("pick").turn("hi")
    talk.ask()
    takes = LOCAL.model_copy(update={"system_in_messages": True})
    assert roles(body_of(talk, takes)) == ["system", "user", "system"]


def test_the_limit_has_the_name_that_the_model_knows() -> None:
    assert render_chat(simple_request(config={"maxTokens": 50}), LOCAL)["max_tokens"] == 50
    reasoning = LOCAL.model_copy(update={"max_completion_tokens": True})
    body = render_chat(simple_request(config={"maxTokens": 50}), reasoning)
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 50)


def test_settings_are_sent_where_they_are_taken() -> None:
    config = {"temperature": 0.2, "topP": 0.9, "effort": "high", "stopSequences": ["END"]}
    request = simple_request(config=config, tool_choice="none")
    body = render_chat(request, LOCAL)
    assert (body["temperature"], body["top_p"], body["stop"]) == (0.2, 0.9, ["END"])
    assert body["tool_choice"] == "none"
    assert left_out(request, LOCAL) == ("effort",)
    forcing = LOCAL.model_copy(update={"forced_tool_choice": True})
    named = simple_request(tool_choice=NamedToolChoice(name="stock"))
    assert left_out(named, LOCAL) == ("toolChoice",)
    assert render_chat(named, forcing)["tool_choice"] == {"type": "function", "function": {"name": "stock"}}


def test_a_playbook_without_tools_sends_no_empty_list_of_them() -> None:
    request = simple_request()
    bare = tuple(s for s in request.window.segments if s.kind != "tools")
    window = request.window
    fields = {name: getattr(window, name) for name in type(window).__dataclass_fields__}
    window = type(window)(**{**fields, "segments": bare, "tools": ()})
    fields = {name: getattr(request, name) for name in type(request).__dataclass_fields__}
    assert "tools" not in render_chat(type(request)(**{**fields, "window": window}), LOCAL)


# -- the stream --------------------------------------------------------------------------------------


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(index: int | None = None, **fields: Any) -> dict[str, Any]:
    call_piece: dict[str, Any] = {"function": {k: v for k, v in fields.items() if k in ("name", "arguments")}}
    if index is not None:
        call_piece["index"] = index
    if "id" in fields:
        call_piece["id"] = fields["id"]
    return chunk(tool_calls=[call_piece])


def read(*chunks: dict[str, Any], finish: str | None = "stop", **options: Any) -> ChatReader:
    reader = ChatReader(number=3, **options)
    for one in chunks:
        reader.feed(one)
    if finish is not None:
        reader.feed(chunk(finish))
    return reader


def calls_of(reader: ChatReader) -> list[tuple[str, str, Any]]:
    return [(c.call_id, c.name, c.arguments) for c in reader.message().tool_calls]


def test_chunks_without_choices_and_content_without_text_are_taken_as_they_are() -> None:
    reader = ChatReader()
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    chunks = [{"choices": [], "note": "filter"}, chunk(role="assistant", content=None), chunk(content="Hi")]
    chunks += [chunk("stop"), {"choices": [], "usage": usage}, {"usage": None}]
    assert "".join(reader.feed(one) for one in chunks) == "Hi"
    assert reader.message().text == "Hi"
    assert reader.usage() == Usage(fresh=9, output=1)


def test_usage_that_never_comes_is_unknown_and_not_zero() -> None:
    assert read(chunk(content="Hi")).usage() is None
    assert ChatReader().usage() is None


def test_usage_is_split_into_what_was_read_written_and_fresh() -> None:
    details = {"cached_tokens": 100, "cache_write_tokens": 50}
    usage = {"prompt_tokens": 157, "completion_tokens": 4, "prompt_tokens_details": details}
    assert read({"choices": [], "usage": usage}).usage() == Usage(fresh=7, write5m=50, read=100, output=4)


def test_a_stream_without_a_reason_to_end_is_not_finished() -> None:
    assert not read(chunk(content="Hi"), finish=None).finished


def test_a_call_is_put_together_from_its_pieces() -> None:
    reader = read(
        piece(0, id="a", name="stock", arguments=""),
        piece(1, id="b", name="stock", arguments='{"kind":"blue"}'),
        piece(0, arguments='{"na'),
        piece(0, arguments='me": "J\\u00'),
        piece(0, arguments="e4rv\\ud83d"),
        piece(0, arguments='\\udeb2"}'),
        finish="tool_calls",
    )
    assert calls_of(reader) == [("a", "stock", {"name": "Järv🚲"}), ("b", "stock", {"kind": "blue"})]
    assert reader.message().stop == "tool_use"


@pytest.mark.parametrize("arguments", [{"kind": "red"}, '{"kind": "red"}'])
def test_a_call_without_id_and_index_and_with_arguments_as_an_object_is_a_call(arguments: Any) -> None:
    reader = read(piece(name="stock", arguments=arguments), piece(name="seats", arguments={}))
    assert calls_of(reader) == [("call_3_0", "stock", {"kind": "red"}), ("call_3_1", "seats", {})]
    assert reader.message().stop == "tool_use", "whatever finish reason the server gives"


def test_calls_that_all_have_index_0_are_told_apart_by_their_ids() -> None:
    reader = read(
        piece(0, id="a", name="stock", arguments='{"kind":"red"}'),
        piece(0, id="b", name="stock", arguments='{"kind":"blue"}'),
    )
    assert [c[0] for c in calls_of(reader)] == ["a", "b"]


def test_a_server_that_repeats_name_and_id_in_each_piece_makes_one_call() -> None:
    reader = read(
        piece(0, id="a", name="stock", arguments='{"kind"'),
        piece(0, id="a", name="stock", arguments=':"red"}'),
    )
    assert calls_of(reader) == [("a", "stock", {"kind": "red"})]


def test_two_calls_of_one_id_get_two_ids() -> None:
    reader = read(piece(0, id="a", name="stock", arguments="{}"), piece(1, id="a", name="stock"))
    assert [c[0] for c in calls_of(reader)] == ["a", "call_3_1"]


@pytest.mark.parametrize("raw", ['{"kind": ', "null", "[1]"])
def test_arguments_that_are_no_object_are_kept_raw_and_never_run(raw: str) -> None:
    made = read(piece(0, id="a", name="stock", arguments=raw)).message().tool_calls[0]
    assert (made.arguments, made.raw) == (None, raw)


def test_a_call_that_ran_into_the_limit_is_never_run() -> None:
    reader = read(piece(0, id="a", name="stock", arguments='{"kind":"red"}'), finish="length")
    assert reader.message().tool_calls[0].arguments is None
    assert reader.message().stop == "max_tokens"


def test_an_unknown_reason_to_end_is_passed_on() -> None:
    assert read(chunk(content="Hi"), finish="eos_token").message().stop == "eos_token"


def test_a_filtered_answer_is_a_refusal_and_words_of_refusal_are_an_answer() -> None:
    with pytest.raises(Refused):
        read(chunk(content="We"), finish="content_filter").message()
    refused = read(chunk(refusal="I must not.")).message()
    assert (refused.text, refused.stop) == ("I must not.", "refusal")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_in_a_field_of_its_own_is_kept_under_its_name(name: str) -> None:
    block = read(chunk(**{name: "h"}), chunk(**{name: "m"}), chunk(content="ok")).message().replay[0]
    assert (block.text, block.block) == ("hm", {name: "hm"})


def test_thinking_between_tags_is_no_part_of_the_reply() -> None:
    reader = ChatReader()
    pieces = ["<th", "ink>let me", " see</thi", "nk>\n\nYes", ", two."]
    assert "".join(reader.feed(chunk(content=text)) for text in pieces) == "Yes, two."
    reader.feed(chunk("stop"))
    message = reader.message()
    assert (message.text, message.replay[0].text, message.replay[0].block) == ("Yes, two.", "let me see", {})


def test_content_as_a_list_of_parts_is_read() -> None:
    assert read(chunk(content=[{"type": "text", "text": "Hi"}, {"type": "image"}])).message().text == "Hi"


# -- calls written as text ---------------------------------------------------------------------------


def test_a_call_written_as_text_is_recovered_and_marked_and_never_shown() -> None:
    reader = ChatReader(offered=("stock",), number=3)
    pieces = ["Let me look.\n", '{"name": "st', 'ock", "arguments": {"kind": "red"}}']
    shown = "".join(reader.feed(chunk(content=text)) for text in pieces) + reader.feed(chunk("stop"))
    message = reader.message()
    assert shown == message.text == "Let me look.\n"
    recovered = ToolCall(call_id="call_3_0", name="stock", arguments={"kind": "red"}, recovered=True)
    assert message.tool_calls == (recovered,)
    assert message.stop == "tool_use"


def test_text_that_only_looks_like_a_call_is_shown_whole() -> None:
    text = '{"name": "nobody", "arguments": {}}'
    reader = ChatReader(offered=("stock",))
    shown = reader.feed(chunk(content=text)) + reader.feed(chunk("stop"))
    assert shown == reader.message().text == text
    assert reader.message().tool_calls == ()


def test_a_written_call_that_ran_into_the_limit_is_not_run() -> None:
    text = '{"name": "stock", "arguments": {}}'
    reader = read(chunk(content=text), finish="length", offered=("stock",))
    assert (reader.message().tool_calls, reader.message().text) == ((), text)


def test_a_written_call_is_a_call_even_where_none_was_wished_for() -> None:
    """A small model writes one all the same; its JSON is no reply."""
    reader = reader_for(simple_request(tool_choice="none"), LOCAL)
    text = '{"name": "stock", "arguments": {}}'
    assert reader.feed(chunk(content=text)) + reader.feed(chunk("stop")) == ""
    assert [call.name for call in reader.message().tool_calls] == ["stock"]


# -- models without tool calling ---------------------------------------------------------------------

TOOLLESS = LOCAL.model_copy(update={"tools": False})


def test_a_model_without_tools_is_asked_for_a_choice_of_the_allowed_targets() -> None:
    request = simple_request()
    body = render_chat(request, TOOLLESS)
    assert "tools" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["next"]["enum"] == ["answer", "seat", "close"]
    assert body["messages"][0]["content"].endswith('{"next": "its targetStage", "reply": ""}.')
    assert left_out(request, TOOLLESS) == ("tools",)


def test_where_no_transition_may_be_asked_for_it_can_only_answer() -> None:
    body = render_chat(simple_request(tool_choice="none"), TOOLLESS)
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["next"]["enum"] == ["answer"]


def test_its_choice_of_a_target_is_the_call_it_stands_for() -> None:
    reader = reader_for(simple_request(), TOOLLESS)
    assert reader.feed(chunk(content='{"next": "seat", "reply": ""}')) + reader.feed(chunk("stop")) == ""
    made = reader.message().tool_calls[0]
    assert (made.name, made.arguments, made.recovered) == (
        "playbook_transition",
        {"targetStage": "seat"},
        True,
    )


def test_its_reply_streams_as_it_comes() -> None:
    reader = reader_for(simple_request(), TOOLLESS)
    pieces = ['{"next": "ans', 'wer", "reply": "Two \\"ci', "ty\\u00", '21\\" \\ud83d', '\\udeb2."}']
    assert [reader.feed(chunk(content=text)) for text in pieces] == ["", 'Two "ci', "ty", '!" ', "🚲."]
    reader.feed(chunk("stop"))
    assert reader.message().text == 'Two "city!" 🚲.'


@pytest.mark.parametrize("text", ["Two city bikes.", '{"next": 7, "reply": []}', '{"nex'])
def test_an_answer_that_is_no_such_object_is_the_reply_as_it_stands(text: str) -> None:
    reader = reader_for(simple_request(), TOOLLESS)
    assert reader.feed(chunk(content=text)) + reader.feed(chunk("stop")) == text
    assert reader.message().tool_calls == ()


def test_its_earlier_choices_and_what_came_of_them_stand_in_the_conversation_as_texts() -> None:
    talk = Talk(model=TOOLLESS).start("pick").turn("a seat")
    talk.ask()
    talk.says(calls=[call("c", "playbook_transition", targetStage="seat")])
    talk.result("c", "playbook_transition", {"movedTo": "seat"}).ask()
    body = body_of(talk, TOOLLESS)
    assert roles(body) == ["system", "user", "assistant", "user"]
    assert json.loads(body["messages"][2]["content"]) == {"next": "seat", "reply": ""}
    assert "<result>" in body["messages"][3]["content"]
