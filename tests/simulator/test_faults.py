"""A stream breaks in every way a stream can break, and sloppy servers are sloppy."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.simulator import Call, Fault, ManualClock, Reply, Say, Simulator, Think, calls, say
from tests.simulator.asking import (
    LOCAL,
    Json,
    chat_request,
    post,
    responses_request,
)
from tests.simulator.reading import (
    BODIES,
    CHAT,
    EVERY,
    MESSAGES,
    RESPONSES,
    TEXTS,
    WAYS,
    lines,
    opened,
    simulator,
    streamed,
    text_of,
)
from tests.simulator.script import QUIRKS

# -- how a stream breaks ------------------------------------------------------------------------------------


@EVERY
async def test_a_quiet_end_leaves_the_final_events_out(path: str) -> None:
    asked = simulator()
    asked.script(say(*TEXTS, fault=Fault(then="end", after=2)))
    events = await streamed(asked, path)
    assert text_of(path, events) == "The bike "
    last = events[-1][1]
    assert "delta" in json.dumps(last)
    assert not asked.exchanges[0].complete


@EVERY
async def test_an_error_event_comes_inside_a_stream_with_status_200(path: str) -> None:
    asked = simulator()
    asked.script(
        {"chunks": list(TEXTS), "error": {"type": "overloaded_error", "status": 200, "after_chunks": 1}}
    )
    events = await streamed(asked, path)
    error = events[-1][1]
    found = error if path == RESPONSES else error["error"]
    assert "overloaded_error" in (found.get("type"), found.get("code"))
    if path != CHAT:
        assert error["type"] == "error"
    assert text_of(path, events[:-1]) == "The "


@pytest.mark.parametrize("then", ["cut", "drop"])
@WAYS
@EVERY
async def test_a_broken_connection_is_a_transport_error(path: str, way: str, then: str) -> None:
    asked = simulator()
    asked.script(say(*TEXTS, fault=Fault(then=then, after=1)))
    got = b""
    with pytest.raises(httpx2.TransportError):  # noqa: PT012
        async with opened(asked, path, way) as answer:
            async for data in answer.aiter_bytes():
                got += data
    assert (b"The" in got) == (then == "cut")


@EVERY
async def test_a_silent_stream_runs_into_the_client_s_time_out_and_pings_keep_it_alive(path: str) -> None:
    asked = simulator(clock=ManualClock(jumps=False))
    asked.script(say(*TEXTS, fault=Fault(then="stall", after=1)))
    headers = {"authorization": "Bearer k", "anthropic-version": "2026-10-21"}
    async with httpx2.AsyncClient(
        transport=asked.transport(), base_url="http://simulator", timeout=httpx2.Timeout(0.05)
    ) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.post(path, json=BODIES[path], headers=headers)
    await asked.idle()
    assert asked.exchanges[0].disconnected
    asked = simulator(clock=ManualClock())
    asked.script(say(*TEXTS, fault=Fault(then="pings", after=1)))
    pings = 0
    async with opened(asked, path) as answer:
        async for line in answer.aiter_lines():
            pings += "ping" in line and "data" not in line
            if pings == 3:
                break
    await asked.idle()
    assert asked.exchanges[0].disconnected


@EVERY
async def test_headers_come_before_the_first_token_and_pings_while_it_is_awaited(path: str) -> None:
    clock = ManualClock()
    asked = simulator(clock=clock)
    begun = clock.now()
    asked.script(say("x", fault=Fault(first_token_s=35)))
    answer = await post(asked, path, BODIES[path])
    assert answer.status_code == 200
    assert answer.text.count("ping\n\n" if path != MESSAGES else "event: ping") == 3 + (path == MESSAGES)
    assert (clock.now() - begun).total_seconds() == 35
    assert asked.exchanges[0].began_at == begun


@EVERY
async def test_the_pace_of_a_reply_is_kept_between_its_deltas(path: str) -> None:
    clock = ManualClock()
    asked = simulator(clock=clock)
    begun = clock.now()
    asked.script(say(*TEXTS, pace_s=2))
    await streamed(asked, path)
    assert (clock.now() - begun).total_seconds() == 6


STATUSES = [
    (MESSAGES, 429, "rate_limit_error"),
    (MESSAGES, 500, "api_error"),
    (MESSAGES, 504, "timeout_error"),
    (MESSAGES, 529, "overloaded_error"),
    (MESSAGES, 402, "billing_error"),
    (RESPONSES, 429, "rate_limit_error"),
    (RESPONSES, 503, "service_unavailable_error"),
    (CHAT, 500, "server_error"),
]


@pytest.mark.parametrize(("path", "status", "kind"), STATUSES)
async def test_a_planned_status_comes_with_a_real_error_body(path: str, status: int, kind: str) -> None:
    asked = simulator()
    asked.faults(Fault(status=status, headers={"retry-after": "7"}), None)
    asked.script(say("for the second"))
    answer = await post(asked, path, BODIES[path])
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["message"]
    assert "for the second" in text_of(path, await streamed(asked, path))


async def test_a_spent_quota_is_told_from_a_rate_by_its_code() -> None:
    asked = simulator()
    asked.script(Fault(status=429, type="insufficient_quota"), Fault(status=429))
    codes = [(await post(asked, RESPONSES, responses_request())).json()["error"]["code"] for _ in range(2)]
    assert codes == ["insufficient_quota", "rate_limit_exceeded"]


@EVERY
async def test_faults_hit_replies_that_are_not_streamed_too(path: str) -> None:
    asked = simulator()
    asked.script(
        say("x", fault=Fault(then="error", type="overloaded_error")), say("x", fault=Fault(then="end"))
    )
    body = {key: value for key, value in BODIES[path].items() if not key.startswith("stream")}
    assert (await post(asked, path, body)).status_code == 529
    with pytest.raises(httpx2.TransportError):
        await post(asked, path, body)


# -- oddities -----------------------------------------------------------------------------------------------


async def odd(*quirks: str, reply: Reply | None = None, stream: bool = True) -> Any:
    asked = simulator(*quirks)
    asked.script(
        reply or calls(Call("stock", {"kind": "x"}, id="c1"), Call("stock", {}, id="c2"), text="Look.")
    )
    options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    answer = await post(asked, CHAT, chat_request(model=LOCAL, **options))
    return [data for _, data in lines(answer.text) if data != "[DONE]"] if stream else answer.json()


def call_pieces(chunks: list[Json]) -> list[Json]:
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    return [piece for choice in choices for piece in choice["delta"].get("tool_calls", ())]


async def test_sloppy_servers_leave_out_what_they_leave_out() -> None:
    assert all(not chunk.get("usage") for chunk in await odd("no_usage"))
    assert "usage" not in await odd("no_usage", stream=False)
    assert all("id" not in piece for piece in call_pieces(await odd("no_ids")))
    assert all("index" not in piece for piece in call_pieces(await odd("no_index")))
    pieces = call_pieces(await odd("arguments_object"))
    assert [piece["function"]["arguments"] for piece in pieces] == [{"kind": "x"}, {}]
    pieces = call_pieces(await odd("one_chunk_calls"))
    assert [piece["function"]["arguments"] for piece in pieces] == ['{"kind": "x"}', "{}"]
    finish = [choice["finish_reason"] for chunk in await odd("finish_stop") for choice in chunk["choices"]]
    assert finish[-1] == "stop"


async def test_sloppy_servers_think_in_the_text_or_in_a_field_of_their_own() -> None:
    reply = Reply(parts=(Think("Hm."), Say(("Blue.",))))
    message = (await odd("think_tags", reply=reply, stream=False))["choices"][0]["message"]
    assert message["content"] == "<think>Hm.</think>Blue."
    message = (await odd("reasoning_content", reply=reply, stream=False))["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Blue.", "Hm.")
    message = (await odd(reply=reply, stream=False))["choices"][0]["message"]
    assert message["content"] == "Blue."


async def test_comments_null_content_and_chunks_without_choices() -> None:
    asked = simulator("comments", "null_content")
    asked.script(say("a", "b"))
    raw = (await post(asked, CHAT, BODIES[CHAT])).text
    assert raw.count(": processing") == 2
    chunks = [data for _, data in lines(raw) if data != "[DONE]"]
    assert chunks[0]["choices"] == []
    assert chunks[1]["choices"][0]["delta"]["content"] is None


@EVERY
async def test_unknown_events_stand_among_known_ones(path: str) -> None:
    asked = simulator()
    asked.script(say(*TEXTS, quirks=frozenset({"unknown_events"})))
    events = await streamed(asked, path)
    assert "novel" in json.dumps(events)
    assert text_of(path, events) == "".join(TEXTS)


@EVERY
async def test_a_body_cut_inside_characters_is_the_same_body(path: str) -> None:
    asked = simulator()
    spoken = "👩‍🔧 é 日 " * 5
    asked.script(say(spoken, quirks=frozenset({"split_bytes"})))
    async with opened(asked, path) as answer:
        got = [data async for data in answer.aiter_bytes()]
    assert any(not _is_text(data) for data in got)
    assert text_of(path, lines(b"".join(got).decode())) == spoken


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_an_unknown_quirk_or_ending_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="no_usages"):
        say("x", quirks=frozenset({"no_usages"}))
    with pytest.raises(ValueError, match="explode"):
        Fault(then="explode")
    with pytest.raises(ValueError, match="no_usages"):
        Simulator().profiles.add_local(LOCAL, "no_usages")
    assert "no_usage" in QUIRKS
