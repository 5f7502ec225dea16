"""Each API streams its events in the real order."""

from __future__ import annotations

import json

import pytest

from runtime.context.models import record
from tests.simulator import Call, Reply, Say, Simulator, Think, calls, say
from tests.simulator.asking import (
    BINDING,
    LOCAL,
    ask,
    assistant,
    chat_request,
    message_request,
    post,
    responses_request,
    tool,
    user,
    words,
)
from tests.simulator.reading import (
    BODIES,
    CHAT,
    EVERY,
    MESSAGES,
    RESPONSES,
    TEXTS,
    kinds,
    simulator,
    streamed,
    text_of,
)

BINDING_RECORD = record(BINDING)

# -- order --------------------------------------------------------------------------------------------------


async def test_messages_stream_block_by_block_between_message_start_and_message_stop() -> None:
    asked = simulator()
    spoken = (Think("Hm."), Say(("Let me look.",)), Call("stock", {"kind": 'a"\\é🚲'}), Call("stock"))
    asked.script(Reply(parts=spoken))
    shown = {"type": "adaptive", "display": "summarized"}
    body = message_request(stream=True, model=BINDING, tools=[tool()], thinking=shown)
    events = await streamed(asked, MESSAGES, body)
    assert all(name == data["type"] for name, data in events)
    blocks = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds(events) == ["message_start", "ping", *blocks * 4, "message_delta", "message_stop"]
    starts = [data["content_block"] for _, data in events if data["type"] == "content_block_start"]
    assert [start["type"] for start in starts] == ["thinking", "text", "tool_use", "tool_use"]
    assert starts[2]["input"] == {}
    deltas = [(d["index"], d["delta"]) for _, d in events if d["type"] == "content_block_delta"]
    assert [delta["type"] for index, delta in deltas if index == 0][-1] == "signature_delta"
    pieces = [delta["partial_json"] for index, delta in deltas if index == 2]
    assert pieces[0] == ""
    assert json.loads("".join(pieces)) == {"kind": 'a"\\é🚲'}
    assert next(delta["partial_json"] for index, delta in deltas if index == 3) == ""
    start, end = events[0][1]["message"], events[-2][1]
    assert (start["content"], start["stop_reason"]) == ([], None)
    assert start["usage"]["output_tokens"] == 1
    assert start["usage"]["input_tokens"] == end["usage"]["input_tokens"] > 0
    assert end["usage"]["output_tokens"] > 1
    assert end["delta"]["stop_reason"] == "tool_use"


async def test_responses_stream_item_by_item_between_created_and_completed() -> None:
    asked = simulator()
    asked.script(Reply(parts=(Think("Hm."), Say(("Let me look.",)), Call("stock", {"kind": "x"}))))
    body = responses_request(
        stream=True, include=["reasoning.encrypted_content"], reasoning={"summary": "auto"}
    )
    events = await streamed(asked, RESPONSES, body)
    assert all(name == data["type"] for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    kind = "response.reasoning_summary"
    assert kinds(events) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        *(f"{kind}_part.added", f"{kind}_text.delta", f"{kind}_text.done", f"{kind}_part.done"),
        "response.output_item.done",
        "response.output_item.added",
        *("response.content_part.added", "response.output_text.delta", "response.output_text.done"),
        *("response.content_part.done", "response.output_item.done"),
        "response.output_item.added",
        *("response.function_call_arguments.delta", "response.function_call_arguments.done"),
        "response.output_item.done",
        "response.completed",
    ]
    sealed = [d["item"] for _, d in events if "item" in d and d["item"]["type"] == "reasoning"]
    assert ["encrypted_content" in item for item in sealed] == [False, True]
    assert events[-1][1]["response"]["output"] == [
        d["item"] for _, d in events if d["type"].endswith("item.done")
    ]


async def test_chat_chunks_begin_with_the_role_and_end_with_usage_and_done() -> None:
    asked = simulator()
    asked.script(calls(Call("stock", {"kind": "x"}), Call("price", {}), text="Look."))
    events = await streamed(asked, CHAT)
    assert all(name is None for name, _ in events)
    chunks = [data for _, data in events[:-1]]
    assert events[-1][1] == "[DONE]"
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["completion_tokens"] > 0) == ([], True)
    assert {chunk["usage"] for chunk in chunks[:-1]} == {None}
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]][-1] == "tool_calls"
    pieces = [c for chunk in chunks[:-1] for c in chunk["choices"][0]["delta"].get("tool_calls", ())]
    heads = [piece for piece in pieces if "id" in piece]
    assert [(head["index"], head["function"]["name"]) for head in heads] == [(0, "stock"), (1, "price")]
    assert all("name" not in piece["function"] for piece in pieces if "id" not in piece)


async def test_without_include_usage_no_chunk_has_usage() -> None:
    events = await streamed(simulator(), CHAT, chat_request(model=LOCAL, stream=True))
    assert all("usage" not in data for _, data in events if isinstance(data, dict))


@EVERY
async def test_given_chunks_are_the_pieces_and_other_text_is_cut_by_chance_with_a_seed(path: str) -> None:
    seen = []
    for seed in (1, 1, 2):
        asked = Simulator(seed=seed)
        asked.profiles.add_local(LOCAL)
        asked.script(say("The 👩‍🔧 repairs bikes all day long and all night too."))
        events = await streamed(asked, path)
        assert text_of(path, events) == "The 👩‍🔧 repairs bikes all day long and all night too."
        seen.append(len(events))
    assert seen[0] == seen[1]
    asked = simulator()
    asked.script(say(*TEXTS))
    raw = (await post(asked, path, BODIES[path])).text
    assert all(json.dumps(piece) in raw for piece in TEXTS)


@EVERY
async def test_a_streamed_reply_and_a_whole_one_say_and_cost_the_same(path: str) -> None:
    asked = simulator()
    asked.script(say(*TEXTS), say(*TEXTS))
    await streamed(asked, path)
    body = {key: value for key, value in BODIES[path].items() if not key.startswith("stream")}
    whole = await post(asked, path, body)
    assert "".join(TEXTS) in whole.text
    first, second = asked.exchanges
    assert first.usage is not None
    assert second.usage is not None
    assert (first.usage.input, first.usage.output) == (second.usage.input, second.usage.output)


# -- how a reply ends ---------------------------------------------------------------------------------------

STOPS: list[tuple[str, str, str, str]] = [
    ("end_turn", "end_turn", "completed", "stop"),
    ("max_tokens", "max_tokens", "incomplete", "length"),
    ("stop_sequence", "stop_sequence", "completed", "stop"),
    ("pause_turn", "pause_turn", "completed", "pause_turn"),
    ("refusal", "refusal", "completed", "stop"),
    ("model_context_window_exceeded", "model_context_window_exceeded", "incomplete", "length"),
    ("content_filter", "content_filter", "incomplete", "content_filter"),
    ("novel_reason", "novel_reason", "completed", "novel_reason"),
]


@pytest.mark.parametrize(("stop", "messages", "responses", "chat"), STOPS, ids=[row[0] for row in STOPS])
async def test_each_stop_reason_in_the_words_of_each_api(
    stop: str, messages: str, responses: str, chat: str
) -> None:
    asked = simulator()
    asked.script(*[say("Blue.", stop=stop)] * 3)
    events = await streamed(asked, MESSAGES)
    assert events[-2][1]["delta"]["stop_reason"] == messages
    events = await streamed(asked, RESPONSES)
    assert events[-1][0] == f"response.{responses}"
    assert events[-1][1]["response"]["status"] == responses
    events = await streamed(asked, CHAT)
    assert events[-3][1]["choices"][0]["finish_reason"] == chat


async def test_a_refusal_has_its_details_and_its_own_part() -> None:
    asked = simulator()
    details = {"type": "refusal", "category": "cyber", "explanation": "No."}
    asked.script(Reply(stop="refusal", stop_details=details), *[say("I can't.", stop="refusal")] * 2)
    answer = await ask(asked, message_request())
    assert (answer["content"], answer["stop_details"]) == ([], details)
    whole = (await post(asked, RESPONSES, responses_request())).json()
    assert whole["output"][0]["content"] == [{"type": "refusal", "refusal": "I can't."}]
    message = (await post(asked, CHAT, chat_request(model=LOCAL))).json()["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "I can't.")


async def test_a_failed_response_is_an_answer_with_an_error() -> None:
    asked = simulator()
    asked.script(say("x", stop="failed"))
    events = await streamed(asked, RESPONSES)
    assert events[-1][0] == "response.failed"
    assert events[-1][1]["response"]["error"]["code"] == "server_error"


async def test_a_paused_turn_can_be_sent_back_to_go_on_and_no_other_can() -> None:
    asked = simulator()
    asked.script(say("Still at it", stop="pause_turn"))
    answer = await ask(asked, message_request(user("hi")))
    back = message_request(user("hi"), {"role": "assistant", "content": answer["content"]})
    assert (await post(asked, MESSAGES, back)).status_code == 200
    other = message_request(user("hi"), assistant("Something else"))
    assert (await post(asked, MESSAGES, other)).status_code == 400


async def test_the_limit_cuts_text_and_the_arguments_of_a_call() -> None:
    asked = simulator()
    asked.script(say(words(50)), calls(Call("stock", {"kind": words(50)})))
    answer = await ask(asked, message_request(max_tokens=10))
    assert answer["stop_reason"] == "max_tokens"
    assert 0 < len(answer["content"][0]["text"]) < len(words(50))
    assert answer["usage"]["output_tokens"] <= 10
    events = await streamed(asked, MESSAGES, message_request(max_tokens=10, stream=True, tools=[tool()]))
    raw = "".join(d["delta"].get("partial_json", "") for _, d in events if d["type"] == "content_block_delta")
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(raw)
    assert events[-2][1]["delta"]["stop_reason"] == "max_tokens"


async def test_a_stop_sequence_ends_the_text_before_it() -> None:
    asked = simulator()
    asked.script(say("one two ", "three"), say("one two three"))
    answer = await ask(asked, message_request(stop_sequences=["two", "three"]))
    assert (answer["content"][0]["text"], answer["stop_sequence"]) == ("one ", "two")
    assert answer["stop_reason"] == "stop_sequence"
    chat = (await post(asked, CHAT, chat_request(model=LOCAL, stop="three"))).json()
    assert chat["choices"][0]["message"]["content"] == "one two "


async def test_a_reply_that_fills_the_window_stops_there() -> None:
    asked = simulator()
    asked.profiles.add(BINDING_RECORD.model_copy(update={"window": 60}))
    asked.script(say(words(100)))
    answer = await ask(asked, message_request(user(words(20)), model=BINDING))
    assert answer["stop_reason"] == "model_context_window_exceeded"
    usage = asked.exchanges[0].usage
    assert usage is not None
    assert usage.input + usage.output <= 60
