"""The simulator from another process: its command, its control addresses, its models, many at once."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.simulator import ManualClock, Simulator, say
from tests.simulator.asking import CLAUDE, GPT, LOCAL, Json, ask, message_request, post
from tests.simulator.reading import BODIES, EVERY, HEADERS, MESSAGES, WAYS, address, lines, text_of

ROOT = Path(__file__).resolve().parents[2]


async def told(simulator: Simulator, command: str, data: Any) -> httpx2.Response:
    return await post(simulator, f"/_sim/{command}", data)


async def test_the_command_serves_on_a_free_port_and_prints_its_address() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.simulator", "--port", "0", stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with httpx2.AsyncClient(base_url=url) as client:
            await client.post("/_sim/script", json=[{"text": "from outside"}])
            answers = [
                (await client.post(MESSAGES, json=message_request(), headers=HEADERS)).json()
                for _ in range(2)
            ]
            requests = (await client.get("/_sim/requests?from=1")).json()
    finally:
        process.terminate()
        await process.wait()
    assert [answer["content"][0]["text"] for answer in answers] == ["from outside", "ok"]
    assert [(request["number"], request["status"]) for request in requests] == [(2, 200)]


async def test_scripts_and_faults_are_set_by_http() -> None:
    simulator = Simulator()
    await told(simulator, "faults", [{"status": 529}, None])
    await told(simulator, "script", [{"chunks": ["a", "b"]}, {"status": 500, "type": "api_error"}])
    answers = [await post(simulator, MESSAGES, message_request()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [529, 200, 500, 200]
    assert answers[1].json()["content"][0]["text"] == "ab"


async def test_settings_and_a_reset_by_http() -> None:
    simulator = Simulator()
    settings = {"keys": {"k": "team"}, "retired": [GPT], "local": [{"id": LOCAL}], "off": ["A11"]}
    assert (await told(simulator, "settings", {**settings, "rates": {"requests": 1}})).status_code == 200
    assert simulator.profiles.account({"authorization": "Bearer other"}) is None
    assert simulator.profiles.find(GPT, "openai") is None
    assert simulator.profiles.find(LOCAL, "openai-chat") is not None
    assert not simulator.profiles.checks("A11", CLAUDE)
    await post(simulator, MESSAGES, message_request())
    assert (await post(simulator, MESSAGES, message_request())).status_code == 429
    await told(simulator, "script", [{"text": "x"}])
    await told(simulator, "reset", None)
    assert simulator.exchanges == []
    assert not simulator.plan.queue


async def test_the_clock_runs_by_itself_until_it_is_stopped_by_http() -> None:
    simulator = Simulator()
    assert abs((simulator.clock.now() - datetime.now(UTC)).total_seconds()) < 60
    assert (await told(simulator, "clock", {"advance": 5})).status_code == 400
    await told(simulator, "clock", {"manual": True})
    before = simulator.clock.now()
    await told(simulator, "clock", {"advance": 5})
    assert (simulator.clock.now() - before).total_seconds() == 5


@pytest.mark.parametrize(
    ("command", "data"),
    [
        ("script", [{"novelty": 1, "tool_calls": [{}]}]),
        ("script", [{"text": "x", "quirks": ["novel"]}]),
        ("faults", [{"then": "explode"}]),
        ("faults", [{"surprise": 1}]),
        ("settings", {"surprise": 1}),
        ("settings", None),
    ],
)
async def test_what_the_control_cannot_read_it_refuses_in_words(command: str, data: Any) -> None:
    answer = await told(Simulator(), command, data)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert (await told(Simulator(), "novelty", {})).status_code == 404


async def get(simulator: Simulator, path: str, headers: Json) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=simulator.transport(), base_url="http://simulator") as client:
        return await client.get(path, headers=headers)


async def test_models_are_listed_in_the_form_of_whoever_asks() -> None:
    simulator = Simulator()
    simulator.profiles.add_local(LOCAL)
    listed = (await get(simulator, "/v1/models", HEADERS)).json()
    assert CLAUDE in [entry["id"] for entry in listed["data"]]
    assert GPT not in [entry["id"] for entry in listed["data"]]
    bearer = {"authorization": "Bearer k"}
    listed = (await get(simulator, "/v1/models", bearer)).json()
    assert {GPT, LOCAL} <= {entry["id"] for entry in listed["data"]}
    assert (await get(simulator, f"/v1/models/{GPT}", bearer)).json()["id"] == GPT
    assert (await get(simulator, "/v1/models/novel", bearer)).status_code == 404
    assert (await get(simulator, "/v1/models", {})).status_code == 401
    simulator.profiles.keys = {}
    assert (await get(simulator, "/v1/models", bearer)).status_code == 401


async def test_an_unknown_address_is_not_found() -> None:
    assert (await post(Simulator(), "/v1/novelty", {})).status_code == 404
    assert (await get(Simulator(), MESSAGES, HEADERS)).status_code == 404


@WAYS
@EVERY
async def test_a_hundred_streams_at_once_each_get_their_own_reply(path: str, way: str) -> None:
    simulator = Simulator()
    simulator.profiles.add_local(LOCAL)
    simulator.choose(lambda body: say("I heard ", body.get("user") or body["metadata"]["user_id"], "!"))

    async def one(client: httpx2.AsyncClient, number: int) -> str:
        name = f"user{number}"
        who: Json = {"metadata": {"user_id": name}} if path == MESSAGES else {"user": name}
        answer = await client.post(path, json={**BODIES[path], **who}, headers=HEADERS, timeout=60)
        return text_of(path, lines(answer.text))

    async with address(simulator, way) as (url, client):
        sender = client or httpx2.AsyncClient(base_url=url)
        texts = await asyncio.gather(*[one(sender, number) for number in range(100)])
        await sender.aclose()
    assert texts == [f"I heard user{number}!" for number in range(100)]
    assert all(exchange.complete for exchange in simulator.exchanges)


async def test_the_records_hold_no_key() -> None:
    simulator = Simulator()
    await ask(simulator, message_request(), {"authorization": "Bearer secret", "x-api-key": "secret"})
    listed = (await get(simulator, "/_sim/requests", {})).text
    assert "secret" not in listed
    assert "claude" in listed


async def test_a_sleeper_wakes_when_its_time_has_come_and_not_before() -> None:
    clock = ManualClock(jumps=False)
    sleeper = asyncio.ensure_future(clock.sleep(10))
    await asyncio.sleep(0)
    clock.advance(9)
    await asyncio.sleep(0)
    assert not sleeper.done()
    clock.advance(1)
    await asyncio.wait_for(sleeper, 1)
