"""What the simulated providers cache and bill, seen through their APIs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.models import record
from runtime.conversation.messages import Usage
from tests.simulator import Fault, ManualClock, Simulator, say
from tests.simulator.asking import (
    BINDING,
    CLAUDE,
    GPT,
    LOCAL,
    Json,
    ask,
    assistant,
    chat_request,
    marked,
    message_request,
    post,
    responses_request,
    result,
    text,
    tool,
    use,
    user,
    words,
)
from tests.simulator.billing import Rates

LONG = words(1500)
SYSTEM = [marked(text(LONG), "1h")]


def simulator() -> Simulator:
    made = Simulator(clock=ManualClock(jumps=False))
    made.profiles.add_local(LOCAL)
    return made


def advance(asked: Simulator, seconds: float) -> None:
    assert isinstance(asked.clock, ManualClock)
    asked.clock.advance(seconds)


def usage(asked: Simulator, index: int = -1) -> Usage:
    found = asked.exchanges[index].usage
    assert found is not None
    return found


async def sent(asked: Simulator, body: Json, path: str = "/v1/messages", key: str = "k") -> Usage:
    answer = await post(asked, path, body, {"authorization": f"Bearer {key}"})
    assert answer.status_code == 200, answer.text
    return usage(asked)


async def test_a_conversation_that_grows_reads_what_was_marked_and_writes_the_rest() -> None:
    asked = simulator()
    first = await sent(asked, message_request(user(marked(text("one"))), system=SYSTEM))
    assert (first.read, first.fresh) == (0, 0)
    assert first.write1h > 1024
    assert first.write5m > 0
    turns = [user(text("one")), assistant("1"), user(marked(text("two")), text("and this"))]
    second = await sent(asked, message_request(*turns, system=SYSTEM))
    assert second.read == first.write1h + first.write5m
    assert second.write5m > 0
    assert second.fresh > 0


@given(data=st.data())
async def test_read_written_and_fresh_are_all_tokens_however_the_marks_stand(data: st.DataObject) -> None:
    asked = simulator()
    sizes = data.draw(st.lists(st.integers(1, 900), min_size=1, max_size=6))
    places = data.draw(st.sets(st.integers(0, len(sizes) - 1), max_size=4))
    blocks = [text(words(size)) for size in sizes]
    body = message_request(user(*[marked(b) if i in places else b for i, b in enumerate(blocks)]))
    body_to_count = {key: value for key, value in body.items() if key != "max_tokens"}
    total = (await post(asked, "/v1/messages/count_tokens", body_to_count)).json()["input_tokens"]
    first, second = await sent(asked, body), await sent(asked, body)
    assert first.input == second.input == total
    assert first.read == 0
    assert second.read == first.write5m
    assert second.fresh == first.fresh


CHANGES: list[tuple[str, Json, bool, bool]] = [
    ("another tool", {"tools": [tool("other")]}, False, False),
    ("keys of a tool in another order", {"tools": [dict(reversed(tool().items()))]}, False, False),
    ("another speed", {"speed": "fast"}, True, False),
    ("another kind of tool choice", {"tool_choice": {"type": "none"}}, True, True),
    ("one call at a time", {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, True, True),
    ("another effort", {"output_config": {"effort": "low"}}, True, True),
    ("no thinking", {"thinking": {"type": "disabled"}}, True, True),
    ("another limit", {"max_tokens": 7}, True, True),
]


@pytest.mark.parametrize(
    ("name", "change", "tools_live", "system_lives"), CHANGES, ids=[c[0] for c in CHANGES]
)
async def test_what_a_change_destroys(name: str, change: Json, tools_live: bool, system_lives: bool) -> None:
    """Tools, system and messages are each marked; from the first thing that changed nothing is read."""
    asked = simulator()
    tools = [marked({**tool(), "description": LONG}, "1h")]
    body = message_request(user(marked(text(LONG))), tools=tools, system=SYSTEM)
    first = await sent(asked, body)
    if "tools" in change:
        change = {"tools": [marked({**change["tools"][0], "description": LONG}, "1h")]}
    second = await sent(asked, {**body, **change})
    if not tools_live:
        assert second.read == 0
    elif not system_lives:
        assert 0 < second.read < first.write1h
    elif name == "another limit":
        assert second.read == first.input
    else:
        assert second.read == first.write1h


async def test_an_image_anywhere_changes_the_messages_and_nothing_before() -> None:
    asked = simulator()
    first = await sent(asked, message_request(user(marked(text(LONG))), system=SYSTEM))
    image = {"type": "image", "source": {"type": "url", "url": "http://localhost/a.png"}}
    second = await sent(asked, message_request(user(marked(text(LONG)), image), system=SYSTEM))
    assert second.read == first.write1h


@pytest.mark.parametrize(("ttl", "lives", "dies"), [("5m", 299, 300), ("1h", 3599, 3600)])
async def test_an_entry_lives_from_the_start_of_the_request_that_used_it_last(
    ttl: str, lives: int, dies: int
) -> None:
    asked = simulator()
    body = message_request(user(marked(text(LONG), ttl)))
    await sent(asked, body)
    for _ in range(2):
        advance(asked, lives)
        assert (await sent(asked, body)).read > 0
    advance(asked, dies)
    assert (await sent(asked, body)).read == 0


async def test_more_than_twenty_blocks_lose_the_old_tail_unless_it_is_marked_again() -> None:
    asked = simulator()
    calls = [use(f"c{n}") for n in range(12)]
    results = [result(f"c{n}") for n in range(12)]
    await sent(asked, message_request(user(marked(text(LONG)))))
    tail = [*results[:-1], marked(results[-1])]
    lost = await sent(asked, message_request(user(text(LONG)), assistant(*calls), user(*tail)))
    assert lost.read == 0
    asked = simulator()
    await sent(asked, message_request(user(marked(text(LONG)))))
    kept = await sent(asked, message_request(user(marked(text(LONG))), assistant(*calls), user(*tail)))
    assert kept.read > 1024


async def test_a_prefix_under_the_minimum_is_silently_not_cached() -> None:
    asked = simulator()
    body = message_request(user(marked(text(words(100)))))
    for _ in range(2):
        answer = await ask(asked, body)
        assert answer["usage"]["cache_creation_input_tokens"] == 0
        assert answer["usage"]["cache_read_input_tokens"] == 0


async def test_the_automatic_mark_sits_on_the_last_block() -> None:
    asked = simulator()
    control = {"type": "ephemeral"}
    first = await sent(asked, message_request(user(LONG), cache_control=control))
    assert (first.write5m, first.fresh) == (first.input, 0)
    turns = [user(LONG), assistant("a"), user("b")]
    assert (await sent(asked, message_request(*turns, cache_control=control))).read == first.input


async def test_caches_are_not_shared_across_accounts_workspaces_or_models() -> None:
    asked = simulator()
    body = message_request(user(marked(text(LONG))))
    await sent(asked, body)
    assert (await sent(asked, body, key="another")).read == 0
    assert (await sent(asked, {**body, "workspace_id": "w"})).read == 0
    assert (await sent(asked, {**body, "model": "claude-opus-5"})).read == 0
    assert (await sent(asked, body)).read > 0


async def test_what_a_request_writes_is_readable_once_its_answer_begins() -> None:
    asked = simulator()
    asked.script(say("a", fault=Fault(delay_s=5)), say("b"), say("c"))
    body = message_request(user(marked(text(LONG))))
    slow = asyncio.ensure_future(sent(asked, body))
    await asked.received(1)
    assert (await sent(asked, body)).read == 0
    advance(asked, 5)
    await slow
    assert (await sent(asked, body)).read > 0


async def test_a_request_that_failed_is_not_billed_and_writes_nothing() -> None:
    asked = simulator()
    asked.faults(Fault(status=529))
    body = message_request(user(marked(text(LONG))))
    assert (await post(asked, "/v1/messages", body)).status_code == 529
    assert asked.exchanges[0].usage is None
    assert (await sent(asked, body)).read == 0


async def test_a_pre_warming_writes_and_answers_nothing() -> None:
    asked = simulator()
    asked.script(say("for later"))
    body = message_request(user(marked(text(LONG))), max_tokens=0)
    answer = await ask(asked, body)
    assert (answer["content"], answer["stop_reason"]) == ([], "max_tokens")
    assert usage(asked).write5m > 0
    answer = await ask(asked, {**body, "max_tokens": 10})
    assert answer["content"][0]["text"] == "for later"
    assert usage(asked).read > 0


async def test_deferred_tools_are_no_part_of_the_prefix() -> None:
    asked = simulator()
    body = message_request(user(marked(text(LONG))), tools=[tool()])
    first = await sent(asked, body)
    later = {**body, "tools": [tool(), tool("another", defer_loading=True)]}
    assert (await sent(asked, later)).read == first.input


async def test_the_second_price_of_a_size_tier_holds_for_every_token() -> None:
    asked = simulator()
    haiku = record("claude-haiku-5-5")
    small = await sent(asked, message_request(user(words(50_000)), model=haiku.id))
    big = await sent(asked, message_request(user(words(80_000)), model=haiku.id))
    assert small.input < 100_000 < big.input
    costs = [exchange.cost or 0 for exchange in asked.exchanges]
    assert costs[0] == pytest.approx((small.fresh * 0.10 + small.output * 0.50) / 1e6)
    assert costs[1] == pytest.approx((big.fresh * 0.50 + big.output * 2.50) / 1e6)


# -- OpenAI -------------------------------------------------------------------------------------------------


def part(value: str, **more: Any) -> Json:
    return {"type": "input_text", "text": value, **more}


BREAKPOINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
EXPLICIT = {"prompt_cache_options": {"mode": "explicit"}}


async def test_responses_caches_an_append_only_conversation_without_any_mark() -> None:
    asked = simulator()
    first = await sent(asked, responses_request(user(LONG)), "/v1/responses")
    assert (first.write5m, first.fresh) == (first.input, 0)
    turns = [user(LONG), assistant("a"), user("b")]
    answer = await post(asked, "/v1/responses", responses_request(*turns))
    details = answer.json()["usage"]["input_tokens_details"]
    assert details["cached_tokens"] == first.input
    assert details["cache_write_tokens"] == details["cache_write_tokens_details"]["ttl_30m_tokens"] > 0
    assert answer.json()["usage"]["input_tokens"] == usage(asked).input


async def test_explicit_mode_caches_at_its_marks_only_and_not_on_assistant_parts() -> None:
    asked = simulator()
    plain = responses_request(user(LONG), **EXPLICIT)
    assert (await sent(asked, plain, "/v1/responses")).fresh > 0
    assert (await sent(asked, plain, "/v1/responses")).read == 0
    spoken = assistant({"type": "output_text", "text": LONG, **BREAKPOINT})
    marked_body = responses_request(user(part(LONG, **BREAKPOINT)), spoken, user("b"), **EXPLICIT)
    first = await sent(asked, marked_body, "/v1/responses")
    assert 0 < first.write5m < first.fresh + first.write5m
    assert (await sent(asked, marked_body, "/v1/responses")).read == first.write5m


async def test_a_long_life_is_billed_as_a_long_write() -> None:
    asked = simulator()
    options = {"prompt_cache_options": {"mode": "implicit", "ttl": "12h"}}
    long = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    body = responses_request(user(part(LONG, **long)), **options)
    answer = await post(asked, "/v1/responses", body)
    details = answer.json()["usage"]["input_tokens_details"]["cache_write_tokens_details"]
    assert details["ttl_12h_tokens"] > 0
    assert details["ttl_30m_tokens"] == 0
    advance(asked, 11 * 3600)
    assert (await sent(asked, body, "/v1/responses")).read > 0


@pytest.mark.parametrize(
    "change",
    [
        {"parallel_tool_calls": False},
        {"reasoning": {"effort": "low"}},
        {"text": {"verbosity": "low"}},
        {"prompt_cache_key": "another"},
        {"instructions": "Be kind."},
    ],
    ids=str,
)
async def test_settings_that_break_the_prefix_break_it(change: Json) -> None:
    asked = simulator()
    body = responses_request(user(LONG))
    await sent(asked, body, "/v1/responses")
    assert (await sent(asked, {**body, **change}, "/v1/responses")).read == 0
    assert (await sent(asked, body, "/v1/responses")).read > 0


async def test_ids_and_marks_of_items_are_no_part_of_the_prefix() -> None:
    asked = simulator()
    said = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
    whole = {**said, "content": [{"type": "output_text", "text": "a", "annotations": []}]}
    first = await sent(asked, responses_request(user(LONG), whole, user("b")), "/v1/responses")
    again = responses_request(user(part(LONG, **BREAKPOINT)), assistant("a"), user("b"))
    assert (await sent(asked, again, "/v1/responses")).read == first.input


async def test_an_older_model_is_cached_by_itself_in_steps_of_128_tokens() -> None:
    asked = simulator()
    older = record(GPT).model_copy(update={"id": "gpt-4.1", "caching": "automatic", "cache_step": 128})
    asked.profiles.add(older)
    body = chat_request(user(LONG), model=older.id)
    path = "/v1/chat/completions"
    first = await sent(asked, body, path)
    assert first.fresh == first.input
    answer = await post(asked, path, body)
    cached = answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached == first.input // 128 * 128 > 1024
    assert answer.json()["usage"]["prompt_tokens"] == first.input


async def test_a_gpt_request_of_more_than_272k_tokens_costs_double() -> None:
    asked = simulator()
    big = await sent(asked, responses_request(user(words(280_000)), **EXPLICIT), "/v1/responses")
    assert asked.exchanges[0].cost == pytest.approx((big.fresh * 4 + big.output * 15) / 1e6)


# -- rates --------------------------------------------------------------------------------------------------


async def test_more_requests_than_the_rate_allows_are_told_when_to_come_back() -> None:
    asked = simulator()
    asked.rates = Rates(requests=2)
    for _ in range(2):
        assert (await post(asked, "/v1/messages", message_request())).status_code == 200
    refused = await post(asked, "/v1/messages", message_request())
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "rate_limit_error")
    assert asked.exchanges[-1].rule == "A21"
    advance(asked, int(refused.headers["retry-after"]))
    assert (await post(asked, "/v1/messages", message_request())).status_code == 200


async def test_cache_reads_count_for_openai_s_rate_and_not_for_anthropic_s() -> None:
    asked = simulator()
    asked.rates = Rates(input_tokens=5000)
    body = message_request(user(marked(text(LONG))))
    for _ in range(6):
        assert (await post(asked, "/v1/messages", body)).status_code == 200
    statuses = [(await post(asked, "/v1/responses", responses_request(user(LONG)))) for _ in range(6)]
    assert [answer.status_code for answer in statuses][-1] == 429
    assert statuses[-1].json()["error"]["code"] == "rate_limit_exceeded"
    assert asked.exchanges[-1].rule == "O13"


async def test_the_output_of_a_reply_uses_up_the_rate_of_the_next() -> None:
    asked = simulator()
    asked.rates = Rates(output_tokens=20)
    asked.script(say(words(60)))
    assert (await post(asked, "/v1/messages", message_request())).status_code == 200
    assert (await post(asked, "/v1/messages", message_request())).status_code == 429


def test_the_models_of_these_tests_are_what_they_are_taken_for() -> None:
    assert record(CLAUDE).minimum_cacheable == 1024
    assert record(BINDING).binds_thinking
    assert record(GPT).caching == "breakpoints"
