"""The official SDKs talk to the simulator, in the process and on a port."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.simulator import Call, Fault, Simulator, calls, say
from tests.simulator.reading import WAYS, address

CLAUDE = "claude-sonnet-5"
GPT = "gpt-6.2-sol"
TOOL = {"name": "stock", "description": "d", "input_schema": {"type": "object", "properties": {}}}
CHAT_TOOL = {
    "type": "function",
    "function": {"name": "stock", "parameters": {"type": "object", "properties": {}}},
}
GPT_TOOL = {
    "type": "function",
    "name": "stock",
    "strict": False,
    "parameters": {"type": "object", "properties": {}},
}


@asynccontextmanager
async def claude(simulator: Simulator, way: str = "process") -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with address(simulator, way) as (url, client):
        sdk = anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0, http_client=client)
        yield sdk
        await sdk.close()


@asynccontextmanager
async def gpt(simulator: Simulator, way: str = "process") -> AsyncIterator[openai.AsyncOpenAI]:
    async with address(simulator, way) as (url, client):
        sdk = openai.AsyncOpenAI(api_key="k", base_url=url + "/v1", max_retries=0, http_client=client)
        yield sdk
        await sdk.close()


@WAYS
async def test_anthropic_streams_text_and_parallel_tool_calls(way: str) -> None:
    simulator = Simulator()
    simulator.script(calls(Call("stock", {"kind": "Järv🚲"}), Call("stock", id="c2"), text="Let me look."))
    async with claude(simulator, way) as sdk:
        messages: Any = [{"role": "user", "content": "hi"}]
        tools: Any = [TOOL]
        async with sdk.messages.stream(
            model=CLAUDE, max_tokens=500, messages=messages, tools=tools
        ) as stream:
            message = await stream.get_final_message()
    text, first, second = message.content
    assert text.type == "text"
    assert text.text == "Let me look."
    assert first.type == "tool_use"
    assert first.input == {"kind": "Järv🚲"}
    assert second.type == "tool_use"
    assert (second.id, second.input) == ("c2", {})
    assert message.stop_reason == "tool_use"
    assert message.usage.output_tokens > 5


@WAYS
async def test_responses_stream_text_and_tool_calls(way: str) -> None:
    simulator = Simulator()
    simulator.script(calls(Call("stock", {"kind": "Järv🚲"}), text="Let me look."))
    async with gpt(simulator, way) as sdk:
        tools: Any = [GPT_TOOL]
        text, arguments, final = "", "", None
        async with await sdk.responses.create(
            model=GPT, input="hi", tools=tools, store=False, stream=True
        ) as stream:
            async for event in stream:
                if event.type == "response.output_text.delta":
                    text += event.delta
                elif event.type == "response.function_call_arguments.delta":
                    arguments += event.delta
                elif event.type == "response.completed":
                    final = event.response
    assert text == "Let me look."
    assert json.loads(arguments) == {"kind": "Järv🚲"}
    assert final is not None
    assert [item.type for item in final.output] == ["message", "function_call"]
    assert final.usage is not None
    assert final.usage.total_tokens > 5


@WAYS
async def test_chat_completions_stream_text_and_tool_calls_and_usage(way: str) -> None:
    simulator = Simulator()
    simulator.profiles.add_local("llama")
    simulator.script(calls(Call("stock", {"kind": "x"}), Call("stock", {}), text="Look."))
    async with gpt(simulator, way) as sdk:
        messages: Any = [{"role": "user", "content": "hi"}]
        tools: Any = [CHAT_TOOL]
        chunks = [
            chunk
            async for chunk in await sdk.chat.completions.create(
                model="llama",
                messages=messages,
                tools=tools,
                stream=True,
                stream_options={"include_usage": True},
            )
        ]
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    pieces = [call for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or ()]
    assert text == "Look."
    assert {piece.index for piece in pieces} == {0, 1}
    assert (
        "".join(p.function.arguments or "" for p in pieces if p.index == 0 and p.function) == '{"kind": "x"}'
    )
    assert [c.finish_reason for chunk in chunks for c in chunk.choices][-1] == "tool_calls"
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []


@WAYS
async def test_with_nothing_scripted_every_api_answers_ok_without_streaming(way: str) -> None:
    simulator = Simulator()
    simulator.profiles.add_local("llama")
    messages: Any = [{"role": "user", "content": "hi"}]
    async with claude(simulator, way) as sdk:
        message = await sdk.messages.create(model=CLAUDE, max_tokens=100, messages=messages)
        assert [block.to_dict() for block in message.content] == [{"type": "text", "text": "ok"}]
        assert message.stop_reason == "end_turn"
    async with gpt(simulator, way) as other:
        response = await other.responses.create(model=GPT, input="hi", store=False)
        assert response.output_text == "ok"
        completion = await other.chat.completions.create(model="llama", messages=messages)
        assert completion.choices[0].message.content == "ok"
        assert completion.choices[0].finish_reason == "stop"


@WAYS
async def test_a_client_that_leaves_a_stream_is_noticed(way: str) -> None:
    simulator = Simulator()
    simulator.script({"chunks": ["a", "b", "c"], "fault": {"then": "stall", "after": 1}})
    messages: Any = [{"role": "user", "content": "hi"}]
    async with claude(simulator, way) as sdk:
        stream = await sdk.messages.create(model=CLAUDE, max_tokens=100, messages=messages, stream=True)
        async with stream:
            async for event in stream:
                if event.type == "content_block_delta":
                    break
        await simulator.idle()
    assert simulator.disconnects == 1
    assert not simulator.exchanges[0].complete


@WAYS
async def test_a_planned_status_comes_with_its_body_and_headers(way: str) -> None:
    simulator = Simulator()
    simulator.script(
        {"error": {"type": "rate_limit_error", "status": 429, "headers": {"retry-after": "7"}}}, say("x")
    )
    messages: Any = [{"role": "user", "content": "hi"}]
    async with claude(simulator, way) as sdk:
        with pytest.raises(anthropic.RateLimitError) as caught:
            await sdk.messages.create(model=CLAUDE, max_tokens=100, messages=messages)
        assert caught.value.response.headers["retry-after"] == "7"
        assert caught.value.type == "rate_limit_error"
        message = await sdk.messages.create(model=CLAUDE, max_tokens=100, messages=messages)
        assert [block.to_dict() for block in message.content] == [{"type": "text", "text": "x"}]


# -- what the SDKs make of broken streams: the traps that adapters must know ------------------------------


async def claude_types(simulator: Simulator, way: str = "process") -> list[str]:
    messages: Any = [{"role": "user", "content": "hi"}]
    async with (
        claude(simulator, way) as sdk,
        await sdk.messages.create(model=CLAUDE, max_tokens=100, messages=messages, stream=True) as stream,
    ):
        return [event.type async for event in stream]


async def gpt_types(simulator: Simulator, way: str = "process") -> list[str]:
    async with gpt(simulator, way) as sdk:
        stream = await sdk.responses.create(model=GPT, input="hi", store=False, stream=True)
        async with stream:
            return [event.type async for event in stream]


async def test_an_error_inside_a_claude_stream_is_raised_with_status_200() -> None:
    simulator = Simulator()
    simulator.script(say("a", "b", fault=Fault(then="error", type="overloaded_error", after=1)))
    with pytest.raises(anthropic.APIStatusError) as caught:
        await claude_types(simulator)
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")


async def test_an_error_inside_a_responses_stream_is_an_event_and_nothing_is_raised() -> None:
    simulator = Simulator()
    simulator.script(say("a", "b", fault=Fault(then="error", type="server_error", after=1)))
    assert (await gpt_types(simulator))[-1] == "error"


@WAYS
async def test_a_stream_that_ends_early_ends_quietly(way: str) -> None:
    simulator = Simulator()
    simulator.script(*[say("a", "b", fault=Fault(then="end", after=1))] * 2)
    assert "message_stop" not in await claude_types(simulator, way)
    assert "response.completed" not in await gpt_types(simulator, way)


@WAYS
async def test_a_broken_connection_is_a_raw_error_in_one_sdk_and_its_own_in_the_other(way: str) -> None:
    simulator = Simulator()
    simulator.script(*[say("a", "b", fault=Fault(then="cut", after=1))] * 2)
    with pytest.raises(httpx2.RemoteProtocolError):
        await claude_types(simulator, way)
    with pytest.raises(openai.APIConnectionError):
        await gpt_types(simulator, way)


async def test_unknown_events_pass_both_sdks() -> None:
    simulator = Simulator()
    simulator.script(*[say("a", "b", quirks=frozenset({"unknown_events"}))] * 2)
    assert (await claude_types(simulator))[-1] == "message_stop"
    types = await gpt_types(simulator)
    assert "response.novelty" in types
    assert types[-1] == "response.completed"


async def test_tokens_and_models_are_asked_for_by_the_sdks() -> None:
    simulator = Simulator()
    messages: Any = [{"role": "user", "content": "hi"}]
    async with claude(simulator) as sdk:
        assert (await sdk.messages.count_tokens(model=CLAUDE, messages=messages)).input_tokens > 0
        assert CLAUDE in [model.id async for model in sdk.models.list()]
    async with gpt(simulator) as other:
        assert (await other.responses.input_tokens.count(model=GPT, input="hi")).input_tokens > 0
        assert GPT in [model.id async for model in other.models.list()]


async def test_each_status_is_the_error_class_of_its_sdk() -> None:
    simulator = Simulator()
    simulator.script(Fault(status=529), Fault(status=401), Fault(status=429, type="insufficient_quota"))
    messages: Any = [{"role": "user", "content": "hi"}]
    async with claude(simulator) as sdk:
        for expected in (anthropic.OverloadedError, anthropic.AuthenticationError):
            with pytest.raises(expected):
                await sdk.messages.create(model=CLAUDE, max_tokens=10, messages=messages)
    async with gpt(simulator) as other:
        with pytest.raises(openai.RateLimitError) as caught:
            await other.responses.create(model=GPT, input="hi")
        assert caught.value.code == "insufficient_quota"
        with pytest.raises(openai.BadRequestError) as refused:
            await other.responses.create(model=GPT, input="hi", temperature=0.2)
        assert (refused.value.code, refused.value.param) == ("unsupported_value", "temperature")
