"""AnthropicLLM against a real local HTTP server: streaming, errors, and what happens when a stream breaks."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, cast

import pytest

from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.base import (
    BadRequest,
    ConnectionLost,
    ContextTooLong,
    LLMError,
    LLMEvent,
    MessageComplete,
    NotAllowed,
    Overloaded,
    QuotaSpent,
    RateLimited,
    Refused,
    TextDelta,
    UsageSoFar,
)
from tests.runtime.llm.requests import simple_request
from tests.runtime.llm.stub import Answer, error_event, message, provider

KEY = "sk-ant-api03-thisisthekey"


async def collect(url: str, **options: Any) -> list[LLMEvent]:
    llm = AnthropicLLM(KEY, url, **options)
    try:
        return [event async for event in llm.stream(simple_request())]
    finally:
        await llm.aclose()


async def failure(answer: Answer, **options: Any) -> LLMError:
    async with provider(answer) as server:
        with pytest.raises(LLMError) as caught:
            await collect(server.url, **options)
        assert len(server.bodies) == 1, "a retry is the runner's, not the package's"
    assert "sk-ant" not in str(caught.value)
    return caught.value


async def test_a_reply_streams_and_ends_with_the_whole_message_and_its_usage() -> None:
    async with provider(Answer(message("Hel", "lo", usage={"cache_read_input_tokens": 100}))) as server:
        events = await collect(server.url)
    first, *pieces, last = events
    assert isinstance(first, UsageSoFar)
    assert (first.usage.fresh, first.usage.read) == (9, 100)
    assert [piece for piece in pieces if isinstance(piece, TextDelta)] == [TextDelta("Hel"), TextDelta("lo")]
    assert isinstance(last, MessageComplete)
    assert (last.message.text, last.message.stop) == ("Hello", "end_turn")
    assert last.usage is not None
    assert (last.usage.fresh, last.usage.read, last.usage.output) == (9, 100, 5)


async def test_what_is_sent_is_what_was_rendered() -> None:
    async with provider(Answer(message("ok"))) as server:
        await collect(server.url)
    assert server.bodies[0] == AnthropicLLM(KEY).render(simple_request())
    assert server.headers[0].get("authorization") == f"Bearer {KEY}" or server.headers[0]["x-api-key"] == KEY


async def test_keys_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    async with provider(Answer(message("ok"))) as server:
        await collect(server.url)
    assert "another" not in str(server.headers[0])


@pytest.mark.parametrize(
    ("status", "kind", "expected", "retryable"),
    [
        (400, "invalid_request_error", BadRequest, False),
        (401, "authentication_error", NotAllowed, False),
        (402, "billing_error", QuotaSpent, False),
        (403, "permission_error", NotAllowed, False),
        (404, "not_found_error", BadRequest, False),
        (413, "request_too_large", ContextTooLong, False),
        (429, "rate_limit_error", RateLimited, True),
        (500, "api_error", Overloaded, True),
        (529, "overloaded_error", Overloaded, True),
    ],
)
async def test_an_error_becomes_ours_by_its_status(
    status: int, kind: str, expected: type[LLMError], retryable: bool
) -> None:
    body = {"type": "error", "error": {"type": kind, "message": f"no: {KEY}"}}
    error = await failure(Answer(status=status, body=body))
    assert type(error) is expected
    assert (error.status, error.retryable) == (status, retryable)


async def test_a_wait_that_the_provider_asks_for_is_passed_on() -> None:
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}
    error = await failure(Answer(status=429, body=body, headers={"retry-after": "7"}))
    assert error.retry_after == 7.0


async def test_a_prompt_that_is_too_long_is_told_apart_from_other_bad_requests() -> None:
    text = "prompt is too long: 205000 tokens > 200000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": text}}
    assert type(await failure(Answer(status=400, body=body))) is ContextTooLong


async def test_an_overload_inside_a_stream_that_began_with_200_is_an_overload() -> None:
    error = await failure(Answer([*message("Our bikes ")[:3], error_event("overloaded_error")]))
    assert type(error) is Overloaded
    assert error.retryable


@pytest.mark.parametrize("then", ["end", "cut"])
async def test_a_stream_that_ends_early_is_a_lost_connection_and_no_message(then: str) -> None:
    error = await failure(Answer(message("The ")[:3], then=then))
    assert type(error) is ConnectionLost
    assert error.retryable


async def test_a_stream_that_falls_silent_is_given_up() -> None:
    assert type(await failure(Answer(message("The ")[:3], then="stall"), idle_s=0.2)) is ConnectionLost


async def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    with pytest.raises(ConnectionLost):
        await collect("http://127.0.0.1:9")


async def test_a_refusal_without_a_word_is_an_error() -> None:
    assert type(await failure(Answer(message(stop="refusal")))) is Refused


async def test_leaving_the_stream_closes_the_connection_at_once() -> None:
    async with provider(Answer(message("The ")[:3], then="stall")) as server:
        llm = AnthropicLLM(KEY, server.url)
        async with aclosing(cast(Any, llm.stream(simple_request()))) as stream:
            assert isinstance(await anext(stream), UsageSoFar)
            assert await anext(stream) == TextDelta("The ")
        await asyncio.wait_for(server.hung_up.wait(), 5)
        await llm.aclose()


async def test_cancelling_the_task_closes_the_connection_at_once() -> None:
    async with provider(Answer(message("The ")[:3], then="stall")) as server:
        task = asyncio.create_task(collect(server.url))
        await asyncio.wait_for(server.asked.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 5)
