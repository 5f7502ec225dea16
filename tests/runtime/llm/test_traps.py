"""The traps of the vendors' packages and of their streams, each on all three adapters."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

import pytest

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
)
from tests.runtime.llm.adapters import ADAPTERS, KEY, Adapter, connected, play, simulator
from tests.simulator import Call, Fault, Reply, Say, Think, calls, say, serving
from tests.simulator.script import Output

EVERY = pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
BOTH_OF_OPENAI = pytest.mark.parametrize(
    "adapter", [ADAPTERS["openai"], ADAPTERS["openai-chat"]], ids=["openai", "openai-chat"]
)
SECRET = f"no: {KEY}"


async def failure(adapter: Adapter, *outputs: Output, **options: Any) -> LLMError:
    """The error of a call that is answered like that, tried once."""
    sim = simulator()
    sim.script(*outputs)
    with pytest.raises(LLMError) as caught:
        await play(adapter, sim, **options)
    assert len(sim.exchanges) == 1, "a retry is the runner's, not the package's"
    assert KEY not in str(caught.value)
    return caught.value


async def complete(adapter: Adapter, *outputs: Output, **options: Any) -> MessageComplete:
    """The whole message of a call that is answered like that."""
    sim = simulator()
    sim.script(*outputs)
    return last_of(await play(adapter, sim, **options))


def last_of(events: Sequence[LLMEvent]) -> MessageComplete:
    assert isinstance(events[-1], MessageComplete)
    return events[-1]


def text_of(events: Sequence[LLMEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


@EVERY
async def test_a_reply_streams_piece_by_piece_and_ends_with_the_whole_of_it(adapter: Adapter) -> None:
    sim = simulator()
    sim.script(say("Hel", "lo"))
    events = await play(adapter, sim)
    assert text_of(events) == ["Hel", "lo"]
    message, usage = last_of(events).message, last_of(events).usage
    assert (message.text, message.stop, message.tool_calls) == ("Hello", "end_turn", ())
    billed = sim.exchanges[0].usage
    assert usage is not None
    assert billed is not None
    assert (usage.input, usage.output) == (billed.input, billed.output)


@EVERY
async def test_what_is_sent_is_what_was_rendered(adapter: Adapter) -> None:
    sim, request = simulator(), adapter.request()
    async with connected(adapter, sim) as llm:
        async for _ in llm.stream(request):
            pass
        assert sim.bodies == [llm.render(request)]


@EVERY
async def test_keys_and_names_of_the_environment_are_not_used(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "another")
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "another")
    sim = simulator()
    sim.profiles.keys = {KEY: "ours"}
    await play(adapter, sim)
    assert sim.exchanges[0].account == "ours"
    assert "another" not in str(sim.exchanges[0].headers)


@EVERY
@pytest.mark.parametrize("then", ["end", "cut"])
async def test_a_stream_that_ends_before_its_final_event_is_a_lost_connection(
    adapter: Adapter, then: str
) -> None:
    error = await failure(adapter, say("The ", "bike", fault=Fault(then=then, after=1)))
    assert type(error) is ConnectionLost
    assert error.retryable


@EVERY
async def test_a_call_whose_stream_ends_early_is_no_message_at_all(adapter: Adapter) -> None:
    reply = calls(Call("stock", {"kind": "a red one", "size": "large"}), fault=Fault(then="end", after=2))
    assert type(await failure(adapter, reply)) is ConnectionLost


@EVERY
async def test_an_overload_inside_a_stream_that_began_with_200_is_an_overload(adapter: Adapter) -> None:
    kind = "overloaded_error" if adapter.kind.provider == "anthropic" else "server_error"
    fault = Fault(then="error", type=kind, after=1, message=SECRET)
    error = await failure(adapter, say("The ", "bike", fault=fault))
    assert type(error) is Overloaded
    assert error.retryable


@EVERY
async def test_an_error_does_not_carry_the_packages_own_which_may_hold_the_key(adapter: Adapter) -> None:
    refused = Fault(status=401, type="authentication_error", message="Incorrect API key: sk-canary.")
    failed = await failure(adapter, refused)
    assert type(failed) is NotAllowed
    assert failed.__cause__ is None
    assert failed.__suppress_context__
    assert "sk-canary" not in "".join(traceback.format_exception(failed))


@EVERY
async def test_a_rate_limit_inside_a_stream_is_a_rate_limit(adapter: Adapter) -> None:
    kind = "rate_limit_error" if adapter.kind.provider == "anthropic" else "rate_limit_exceeded"
    fault = Fault(then="error", type=kind, after=1, message=SECRET)
    assert type(await failure(adapter, say("The ", "bike", fault=fault))) is RateLimited


@EVERY
async def test_a_connection_that_is_dropped_before_any_answer_is_lost(adapter: Adapter) -> None:
    assert type(await failure(adapter, say("x", fault=Fault(then="drop")))) is ConnectionLost


@EVERY
async def test_a_stream_that_falls_silent_is_given_up(adapter: Adapter) -> None:
    async with serving(sim := simulator()) as url:
        sim.script(say("The ", "bike", fault=Fault(then="stall", after=1)))
        llm = adapter.kind(KEY, url + adapter.path, idle_s=0.2)
        with pytest.raises(ConnectionLost, match="silent"):
            async for _ in llm.stream(adapter.request()):
                pass
        await llm.aclose()


@EVERY
@pytest.mark.parametrize("then", ["pings", "stall"])
async def test_a_stream_that_only_pings_ends_with_the_calls_deadline(adapter: Adapter, then: str) -> None:
    """Pings keep the idle time from running out; the deadline is not touched by them."""
    sim = simulator()
    sim.script(say("The ", "bike", fault=Fault(then=then, after=1)))
    with pytest.raises(ConnectionLost, match="did not answer within"):
        await play(adapter, sim, request=replace(adapter.request(), deadline_s=0.2))


@EVERY
async def test_an_answer_that_never_begins_ends_with_the_calls_deadline(adapter: Adapter) -> None:
    sim = simulator()
    sim.script(say("x", fault=Fault(delay_s=0.5)))
    with pytest.raises(ConnectionLost, match="did not answer within"):
        await play(adapter, sim, request=replace(adapter.request(), deadline_s=0.1))


@EVERY
async def test_the_time_that_a_reader_takes_is_not_the_models(adapter: Adapter) -> None:
    sim = simulator()
    sim.script(say("a", "b"))
    async with connected(adapter, sim) as llm:
        events = []
        async for event in llm.stream(replace(adapter.request(), deadline_s=5)):
            await asyncio.sleep(0)
            events.append(event)
    assert last_of(events).message.text == "ab"


@EVERY
async def test_a_server_that_is_not_there_is_said_to_be_unreachable(adapter: Adapter) -> None:
    llm = adapter.kind(KEY, "http://127.0.0.1:9" + adapter.path)
    with pytest.raises(ConnectionLost, match="cannot be reached"):
        async for _ in llm.stream(adapter.request()):
            pass
    await llm.aclose()


@EVERY
async def test_leaving_the_stream_closes_the_connection_at_once(adapter: Adapter) -> None:
    sim = simulator()
    sim.script(say("The ", "bike", fault=Fault(then="stall", after=1)))
    async with connected(adapter, sim) as llm:
        async with aclosing(cast(Any, llm.stream(adapter.request()))) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    break
        await asyncio.wait_for(sim.idle(), 5)
    assert sim.exchanges[0].disconnected


@EVERY
async def test_cancelling_the_task_closes_the_connection_at_once(adapter: Adapter) -> None:
    sim = simulator()
    sim.script(say("The ", "bike", fault=Fault(then="stall", after=1)))
    async with connected(adapter, sim) as llm:
        began = asyncio.Event()

        async def talk() -> None:
            async for _ in llm.stream(adapter.request()):
                began.set()

        task = asyncio.create_task(talk())
        await asyncio.wait_for(began.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(sim.idle(), 5)
    assert sim.exchanges[0].disconnected


@EVERY
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
        (429, "insufficient_quota", QuotaSpent, False),
        (429, "credit_balance_exhausted", QuotaSpent, False),
        (500, "api_error", Overloaded, True),
        (503, "server_error", Overloaded, True),
        (529, "overloaded_error", Overloaded, True),
    ],
)
async def test_an_error_becomes_ours_by_status_and_type(
    adapter: Adapter, status: int, kind: str, expected: type[LLMError], retryable: bool
) -> None:
    error = await failure(adapter, Fault(status=status, type=kind, message=SECRET))
    assert type(error) is expected
    assert error.retryable is retryable


@EVERY
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "86400"}, 86400.0),
        (
            {"date": "Mon, 30 Nov 2026 10:00:00 GMT", "retry-after": "Mon, 30 Nov 2026 10:00:07 GMT"},
            7.0,
        ),
        ({}, None),
    ],
)
async def test_a_wait_that_the_provider_asks_for_is_passed_on(
    adapter: Adapter, headers: dict[str, str], seconds: float | None
) -> None:
    error = await failure(adapter, Fault(status=429, type="rate_limit_error", headers=headers))
    assert error.retry_after == seconds


@EVERY
async def test_a_prompt_that_is_too_long_is_told_apart_from_other_bad_requests(adapter: Adapter) -> None:
    anthropic = adapter.kind.provider == "anthropic"
    kind = "invalid_request_error" if anthropic else "context_length_exceeded"
    text = "prompt is too long: 205000 tokens > 200000 maximum" if anthropic else "too much"
    assert type(await failure(adapter, Fault(status=400, type=kind, message=text))) is ContextTooLong


@EVERY
async def test_tool_calls_come_whole_whatever_their_pieces_were(adapter: Adapter) -> None:
    asked = calls(
        Call("stock", {"kind": 'J"ärv\\🚲', "deep": {"n": [1, 2.5, None]}}, id="c1"),
        Call("seats", {}, id="c2"),
        text="Let me look.",
    )
    message = (await complete(adapter, asked)).message
    assert message.text == "Let me look."
    assert [(c.name, c.arguments) for c in message.tool_calls] == [
        ("stock", {"kind": 'J"ärv\\🚲', "deep": {"n": [1, 2.5, None]}}),
        ("seats", {}),
    ]
    assert message.stop == "tool_use"


@EVERY
@pytest.mark.parametrize("raw", ['{"kind": ', "null", "[1]", '{"n": NaN}'])
async def test_arguments_that_are_no_object_are_never_run(adapter: Adapter, raw: str) -> None:
    made = (await complete(adapter, calls(Call("stock", raw=raw)))).message.tool_calls[0]
    assert (made.arguments, made.raw) == (None, raw)


@EVERY
async def test_a_call_that_ran_into_the_output_limit_is_never_run(adapter: Adapter) -> None:
    whole = (await complete(adapter, calls(Call("stock", {"kind": "red"}), stop="max_tokens"))).message
    assert whole.stop == "max_tokens"
    assert whole.tool_calls[0].arguments is None


@EVERY
async def test_unknown_events_are_passed_over(adapter: Adapter) -> None:
    message = (await complete(adapter, say("Hel", "lo", quirks=frozenset({"unknown_events"})))).message
    assert (message.text, message.stop) == ("Hello", "end_turn")


@EVERY
async def test_a_body_that_is_cut_inside_characters_says_each_character_once(adapter: Adapter) -> None:
    odd = frozenset({"split_bytes", "comments"})
    message = (await complete(adapter, say("👩‍🔧🏽 é ", "日", quirks=odd))).message
    assert message.text == "👩‍🔧🏽 é 日"


@pytest.mark.parametrize("name", ["anthropic", "openai-chat"])
async def test_a_reason_to_stop_that_nobody_knows_is_passed_on(name: str) -> None:
    assert (await complete(ADAPTERS[name], say("Hi", stop="tired"))).message.stop == "tired"


async def test_a_refusal_without_a_word_is_an_error_of_its_own() -> None:
    assert type(await failure(ADAPTERS["anthropic"], say(stop="refusal"))) is Refused


@BOTH_OF_OPENAI
async def test_a_refusal_that_the_model_words_itself_is_its_answer(adapter: Adapter) -> None:
    message = (await complete(adapter, say("I must not.", stop="refusal"))).message
    assert (message.text, message.stop) == ("I must not.", "refusal")


async def test_a_refusal_in_the_middle_takes_back_what_was_said_and_tells_why() -> None:
    reply = say("First you", stop="refusal", stop_details={"category": "cyber", "explanation": "It harms."})
    error = await failure(ADAPTERS["anthropic"], reply)
    assert type(error) is Refused
    assert error.message == "The model refused to answer. It harms."
    assert not error.retryable


@BOTH_OF_OPENAI
async def test_an_answer_that_a_filter_cut_is_a_refusal(adapter: Adapter) -> None:
    assert type(await failure(adapter, say("First you", stop="content_filter"))) is Refused


async def test_a_paused_turn_keeps_its_text_and_says_that_it_paused() -> None:
    message = (await complete(ADAPTERS["anthropic"], say("Let me", stop="pause_turn"))).message
    assert (message.text, message.stop) == ("Let me", "pause_turn")
    assert type(await failure(ADAPTERS["anthropic"], say(stop="pause_turn"))) is BadRequest


async def test_a_full_context_window_is_told_apart_from_an_output_limit() -> None:
    anthropic = ADAPTERS["anthropic"]
    message = (await complete(anthropic, say("The bi", stop="model_context_window_exceeded"))).message
    assert (message.text, message.stop) == ("The bi", "context_window_exceeded")
    reply = calls(Call("stock", {"kind": "red"}), stop="model_context_window_exceeded")
    assert (await complete(anthropic, reply)).message.tool_calls[0].arguments is None
    error = await failure(anthropic, say(stop="model_context_window_exceeded"))
    assert type(error) is ContextTooLong, "the runner compacts once and asks again"


async def test_signed_thinking_is_kept_to_the_letter() -> None:
    sim = simulator()
    sim.script(Reply(parts=(Think("hm, red"), Call("stock", {"kind": "red"}, id="c1"))))
    block = last_of(await play(ADAPTERS["anthropic"], sim)).message.replay[0].block
    signatures = [event["delta"].get("signature") for event in sim.exchanges[0].sent if "delta" in event]
    assert (block["thinking"], block["signature"]) == ("hm, red", max(filter(None, signatures)))


async def test_an_encrypted_reasoning_item_is_kept_to_the_letter() -> None:
    sim = simulator()
    sim.script(Reply(parts=(Think("hm, red"), Call("stock", {"kind": "red"}, id="c1"))))
    block = last_of(await play(ADAPTERS["openai"], sim)).message.replay[0].block
    items = [event["item"] for event in sim.exchanges[0].sent if event["type"] == "response.output_item.done"]
    assert block == items[0]
    assert block["encrypted_content"]


@EVERY
async def test_two_calls_at_once_share_one_client_and_not_their_answers(adapter: Adapter) -> None:
    sim = simulator()
    sim.choose(lambda body: Reply(parts=(Say(("red" if "red?" in str(body) else "blue",)),)))
    async with connected(adapter, sim) as llm:

        async def ask(text: str) -> str:
            events = [event async for event in llm.stream(adapter.request(text))]
            return last_of(events).message.text

        assert list(await asyncio.gather(ask("red?"), ask("blue?"))) == ["red", "blue"]


@EVERY
async def test_a_model_can_be_used_again_after_it_was_closed(adapter: Adapter) -> None:
    async with serving(simulator()) as url:
        llm = adapter.kind(KEY, url + adapter.path)
        for _ in range(2):
            events = [event async for event in llm.stream(adapter.request())]
            assert last_of(events).message.text == "ok"
            await llm.aclose()


@EVERY
def test_each_event_loop_has_a_client_of_its_own(adapter: Adapter) -> None:
    llm = adapter.kind(KEY)

    async def client() -> tuple[int, bool]:
        first, again = await llm._client(), await llm._client()
        await llm.aclose()
        return id(first), first is again

    (one, same), (other, _) = asyncio.run(client()), asyncio.run(client())
    assert same
    assert one != other or not llm._clients


@pytest.mark.parametrize(
    "quirks",
    [("no_usage",), ("no_ids", "no_index", "one_chunk_calls", "arguments_object", "finish_stop")],
    ids="+".join,
)
async def test_a_sloppy_server_is_understood(quirks: tuple[str, ...]) -> None:
    odd = frozenset(quirks)
    asked = calls(Call("stock", {"kind": "red"}), Call("seats", {"kind": "blue"}), quirks=odd)
    event = await complete(ADAPTERS["openai-chat"], asked)
    found = event.message.tool_calls
    assert [(c.name, c.arguments) for c in found] == [("stock", {"kind": "red"}), ("seats", {"kind": "blue"})]
    assert len({c.call_id for c in found}) == 2
    assert event.message.stop == "tool_use"
    assert (event.usage is None) == ("no_usage" in quirks)


@pytest.mark.parametrize("quirk", ["think_tags", "reasoning_content"])
async def test_thinking_of_a_local_model_is_no_part_of_its_reply(quirk: str) -> None:
    reply = Reply(parts=(Think("hm"), Say(("Hel", "lo"))), quirks=frozenset({quirk}))
    message = (await complete(ADAPTERS["openai-chat"], reply)).message
    assert (message.text, message.replay[0].text) == ("Hello", "hm")


async def test_a_call_that_a_small_model_writes_as_text_is_recovered_and_marked() -> None:
    sim = simulator()
    sim.script(say('```json\n{"name": "stock", ', '"arguments": {"kind": "red"}}\n```'))
    events = await play(ADAPTERS["openai-chat"], sim)
    assert text_of(events) == []
    made = last_of(events).message.tool_calls[0]
    assert (made.name, made.arguments, made.recovered) == ("stock", {"kind": "red"}, True)


async def test_a_big_vendors_text_is_never_taken_for_a_call() -> None:
    text = '{"name": "stock", "arguments": {"kind": "red"}}'
    for name in ("anthropic", "openai"):
        message = (await complete(ADAPTERS[name], say(text))).message
        assert (message.text, message.tool_calls) == (text, ())
