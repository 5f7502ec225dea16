"""The scripted model, and which model answers a stage."""

from __future__ import annotations

import asyncio

import pytest

from runtime.conversation.messages import Usage
from runtime.llm.base import (
    ConnectionLost,
    MessageComplete,
    NotAllowed,
    Overloaded,
    RateLimited,
    TextDelta,
    UsageSoFar,
)
from runtime.llm.errors import quoted, retry_after_seconds
from runtime.llm.scripted import ScriptedLLM, ScriptExhausted
from runtime.llm.source import Connections
from runtime.playbook import LLMConfig
from tests.runtime.llm.requests import simple_request


async def play(*outputs: dict[str, object]) -> list[object]:
    llm = ScriptedLLM(outputs)
    return [event async for event in llm.stream(simple_request())]


async def test_chunks_stream_and_usage_takes_either_names() -> None:
    events = await play(
        {"chunks": ["Boo", "ked."], "usage": {"input_tokens": 7, "read": 2, "output_tokens": 3}}
    )
    assert events[:3] == [UsageSoFar(Usage(fresh=7, read=2)), TextDelta("Boo"), TextDelta("ked.")]
    last = events[3]
    assert isinstance(last, MessageComplete)
    assert last.usage == Usage(fresh=7, read=2, output=3)
    assert last.message.stop == "end_turn"


async def test_tool_calls_keep_broken_arguments_raw() -> None:
    calls = [{"id": "a", "name": "x", "args": {"k": 1}}, {"id": "b", "name": "x", "raw_args": '{"ki'}]
    last = (await play({"tool_calls": calls, "text": "Let me look."}))[-1]
    assert isinstance(last, MessageComplete)
    assert [(c.arguments, c.raw) for c in last.message.tool_calls] == [({"k": 1}, None), (None, '{"ki')]
    assert last.message.stop == "tool_use"


async def test_an_error_comes_after_its_chunks() -> None:
    llm = ScriptedLLM(
        [{"chunks": ["a", "b", "c"], "error": {"type": "overloaded_error", "status": 200, "after_chunks": 2}}]
    )
    stream = llm.stream(simple_request())
    assert [await anext(stream), await anext(stream)] == [TextDelta("a"), TextDelta("b")]
    with pytest.raises(Overloaded):
        await anext(stream)


async def test_errors_carry_the_wait_that_their_headers_ask_for() -> None:
    with pytest.raises(RateLimited) as caught:
        await play({"error": {"type": "rate_limit_error", "status": 429, "headers": {"Retry-After": "7"}}})
    assert caught.value.retry_after == 7.0
    with pytest.raises(ConnectionLost):
        await play({"error": {}})


async def test_a_script_that_ran_out_says_which_call_it_was() -> None:
    with pytest.raises(ScriptExhausted, match="call 1"):
        await play()


async def test_hanging_waits_until_it_is_cancelled() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(play({"hang": True}), 0.05)


def test_without_a_key_everything_is_rehearsed() -> None:
    llm, model = Connections({}).get(LLMConfig(provider="anthropic", model="claude-sonnet-5"))
    assert (llm.provider, model.id) == ("rehearsal", "rehearsal")
    assert model.prices is None


def test_with_a_key_a_stage_that_names_claude_gets_claude() -> None:
    source = Connections({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/"})
    llm, model = source.get(LLMConfig(model="claude-opus-5"))
    assert (llm.provider, model.id) == ("anthropic", "claude-opus-5")
    assert source.get(LLMConfig(provider="anthropic"))[1].id == "claude-sonnet-5"
    assert source.get(LLMConfig())[1].id == "rehearsal"
    assert source.get(LLMConfig(model="claude-opus-5"), "rehearsal")[1].id == "rehearsal"
    assert source.get(LLMConfig(), "claude-haiku-4-5")[1].id == "claude-haiku-4-5"


def test_a_chosen_model_that_no_key_reaches_is_refused_in_words() -> None:
    with pytest.raises(NotAllowed, match="ANTHROPIC_API_KEY"):
        Connections({}).get(LLMConfig(), "claude-opus-5")
    with pytest.raises(NotAllowed, match="OPENAI_API_KEY"):
        Connections({}).get(LLMConfig(), "gpt-6.2-sol")
    with pytest.raises(NotAllowed, match="no connection"):
        Connections({}).get(LLMConfig(), "qwen2.5")


def test_the_menu_begins_with_the_rehearsal_and_says_what_a_model_needs() -> None:
    menu = Connections({}).models()
    assert (menu[0].id, menu[0].label, menu[0].available) == ("rehearsal", "Rehearsal (no model)", True)
    assert {(entry.available, entry.note) for entry in menu[1:] if entry.provider == "anthropic"} == {
        (False, "Needs ANTHROPIC_API_KEY.")
    }
    with_key = Connections({"ANTHROPIC_API_KEY": "k"}).models()
    assert {entry.provider for entry in with_key if entry.available} == {"rehearsal", "anthropic"}


def test_what_a_provider_says_is_quoted_short_and_without_keys() -> None:
    text = quoted("bad key sk-ant-api03-abcdef and Bearer abcdef\n" + "x " * 400)
    assert "abcdef" not in text
    assert len(text) <= 300


DATE = "Mon, 05 Jan 2026 21:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 05 Jan 2026 21:01:00 GMT", "date": DATE}, 60.0),
        ({"retry-after": "Mon, 05 Jan 2026 20:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": DATE}, None),
        ({"retry-after": DATE, "date": "today"}, None),
    ],
)
def test_what_a_provider_asks_to_wait_is_a_number_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_seconds(headers) == seconds
