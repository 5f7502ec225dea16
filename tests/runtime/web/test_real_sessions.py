"""The whole way without a server: socket, hub, runner, engine, window, store; the model follows a script."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone

from runtime import live
from runtime.commands import RunnerSession
from runtime.context.models import ModelRecord, record
from runtime.llm.base import LLM
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.scripted import ScriptedLLM
from runtime.models import LLMCall, LoggedEvent
from runtime.playbook import LLMConfig
from runtime.playbook.engine_tools import canonical_json
from runtime.sockets import in_database
from runtime.storage import DjangoEventStore, LoadedSession, load_state
from runtime.wiring import session_on
from tests.runtime.web.sockets import Socket, application

GALLERY = Path(__file__).parents[3] / "builder" / "transfer" / "gallery"

SHOP: dict[str, Any] = {
    "id": "shop",
    "name": "Shop",
    "initialStage": "greeting",
    "globalSystemPrompt": "You sell bicycles.",
    "stages": [
        {"id": "greeting", "name": "Greeting", "systemPrompt": "Greet."},
        {"id": "refund", "name": "Refund", "systemPrompt": "Give the money back."},
        {"id": "done", "name": "Done", "systemPrompt": "Bye.", "kind": "end"},
    ],
    "transitions": [
        {"id": "to-refund", "from": "greeting", "condition": {"type": "keyword", "keywords": ["refund"]},
         "action": {"targetStage": "refund"}},
        {"id": "to-done", "from": "*", "condition": {"type": "keyword", "keywords": ["goodbye"]},
         "action": {"targetStage": "done"}},
    ],
}  # fmt: skip

Start = Callable[..., Awaitable[Socket]]


class Models:
    """One model for every stage, with prices and limits of a known one."""

    def __init__(self) -> None:
        self.llm: LLM = ScriptedLLM(provider="anthropic")
        self.model = "claude-sonnet-5"

    def says(self, *outputs: dict[str, Any]) -> None:
        self.llm = ScriptedLLM(outputs, provider="anthropic")

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        return self.llm, record(self.model)

    def build(self, stored: LoadedSession, store: DjangoEventStore) -> RunnerSession:
        return session_on(self, stored, store)


@pytest.fixture
def models() -> Models:
    return Models()


@pytest.fixture
async def hub(transactional_db: None, models: Models) -> AsyncIterator[live.Hub]:
    hub = live.Hub(models.build, live.send_to_group, process="this process", now=timezone.now)
    live.Current.hub = hub
    yield hub
    await hub.close()
    live.Current.hub = None


@pytest.fixture
async def client(ana: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(ana)
    return client


@pytest.fixture
async def start(client: AsyncClient, ana: User, hub: live.Hub) -> AsyncIterator[Start]:
    """Starts a session over HTTP and opens a socket on it that has said hello."""
    opened: list[Socket] = []

    async def start(document: dict[str, Any] = SHOP, **more: Any) -> Socket:
        answer = await client.post(
            "/api/sessions", {"document": document, **more}, content_type="application/json"
        )
        assert answer.status_code == 201, answer.content
        communicator: Any = WebsocketCommunicator(application, f"/ws/sessions/{answer.json()['id']}/")
        communicator.scope["user"] = ana
        socket = Socket(communicator, uuid.UUID(answer.json()["id"]))
        opened.append(socket)
        await socket.open()
        await socket.hello()
        return socket

    yield start
    for socket in opened:
        await socket.close()


async def test_a_keyword_in_the_reply_moves_on_and_says_why(
    start: Start, models: Models, client: AsyncClient
) -> None:
    models.says({"chunks": ["Let us look at ", "your refund."], "usage": {"fresh": 40, "output": 7}})
    socket = await start()
    await socket.say(type="message", clientId="m1", text="Hi")
    complete = await socket.until("turn_complete")
    assert complete["text"] == socket.text() == "Let us look at your refund."
    kinds = [event["type"] for event in socket.events]
    assert kinds.index("transition_triggered") < kinds.index("stage_entered", 3)
    assert (await client.get(f"/api/sessions/{socket.session}")).json()["stage"] == "refund"
    turn = (await client.get(f"/api/sessions/{socket.session}/turns")).json()[-1]
    fired = [rule for rule in turn["rules"] if rule["verdict"]]
    assert [rule["transition"] for rule in fired] == ["to-refund"]


async def test_the_request_is_rendered_again_byte_for_byte(
    start: Start, models: Models, client: AsyncClient, hub: live.Hub
) -> None:
    models.says(*[{"text": f"Answer {n}.", "usage": {"fresh": 10, "output": 1}} for n in range(3)])
    socket = await start()
    for number in range(3):
        await socket.say(type="message", clientId=f"m{number}", text=f"Question {number}")
        await socket.until("turn_complete")
    digests = await in_database(lambda: list(LLMCall.objects.values_list("request_digest", flat=True)))
    for number, digest in enumerate(digests, start=1):
        rendered = (await client.get(f"/api/sessions/{socket.session}/calls/{number}/request")).json()
        assert hashlib.sha256(canonical_json(rendered["body"]).encode()).hexdigest() == digest
        assert rendered["url"].startswith("https://api.anthropic.com/")
        assert "$ANTHROPIC_API_KEY" in rendered["curl"]
        assert f"Question {number - 1}" in json.dumps(rendered["body"])


async def test_a_stored_session_goes_on_after_a_restart_as_if_nothing_had_been(
    start: Start, models: Models, hub: live.Hub
) -> None:
    models.says({"text": "One."}, {"text": "Two."})
    socket = await start()
    await socket.say(type="message", clientId="m1", text="first")
    await socket.until("turn_complete")
    running = hub._rooms[socket.session].loaded
    assert running is not None
    _, state = await in_database(load_state, socket.session)
    assert state == running.session.state
    await hub.close()
    live.Current.hub = live.Hub(models.build, live.send_to_group, process="a new one", now=timezone.now)
    await socket.say(type="message", clientId="m2", text="second")
    assert (await socket.until("turn_complete"))["text"] == "Two."
    assert socket.seqs == list(range(1, socket.seqs[-1] + 1))
    await live.Current.hub.close()


async def test_a_turn_that_died_with_its_process_is_ended_and_the_next_message_works(
    start: Start, models: Models, hub: live.Hub
) -> None:
    models.says({"chunks": ["Half of "], "hang": True}, {"text": "Whole."})
    socket = await start()
    await socket.say(type="message", clientId="m1", text="first")
    await socket.until("text_delta")
    await hub.tend(timezone.now())
    await abandon(hub)  # what kill -9 leaves: rows, and nothing in memory
    live.Current.hub = live.Hub(models.build, live.send_to_group, process="a new one", now=timezone.now)
    await live.recover(timezone.now())
    ended = await socket.until("turn_interrupted")
    assert (ended["reason"], ended["shownText"]) == ("process_died", "Half of ")
    await socket.say(type="message", clientId="m2", text="second")
    assert (await socket.until("turn_complete"))["text"] == "Whole."
    await live.Current.hub.close()


async def abandon(hub: live.Hub) -> None:
    for room in hub._rooms.values():
        assert room.loaded is not None
        await room.loaded.session.aclose()
        room.loaded.pump.cancel()
        for task in room.tasks:
            task.cancel()
    hub._rooms.clear()
    await asyncio.sleep(0)


async def test_a_model_that_fails_is_an_event_with_a_sentence_and_no_secret(
    start: Start, models: Models
) -> None:
    models.says({"error": {"status": 401, "message": "Incorrect API key: sk-demo-0000"}})
    socket = await start()
    await socket.say(type="message", clientId="m1", text="Hi")
    failed = await socket.until("turn_failed")
    assert failed["message"]
    assert "sk-demo" not in json.dumps(socket.heard)
    logged = await in_database(lambda: list(LoggedEvent.objects.values_list("payload", flat=True)))
    assert "sk-demo" not in json.dumps(logged)


async def test_retry_takes_up_a_failed_turn(start: Start, models: Models) -> None:
    models.says({"error": {"status": 529}}, {"text": "Now it works."})
    socket = await start({**SHOP, "options": {"llmRetries": 0}})
    await socket.say(type="message", clientId="m1", text="Hi")
    assert (await socket.until("turn_failed"))["retryable"]
    await socket.say(type="retry")
    assert (await socket.until("turn_complete"))["text"] == "Now it works."
    assert [event["type"] for event in socket.events].count("user_message") == 1


async def test_a_session_that_is_over_takes_no_message(start: Start, models: Models) -> None:
    models.says({"text": "Goodbye!"})
    socket = await start()
    await socket.say(type="message", clientId="m1", text="Bye")
    await socket.until("session_complete")
    await socket.say(type="message", clientId="m2", text="One more thing")
    refused = await socket.until("error")
    assert (refused["code"], refused["clientId"]) == ("not-now", "m2")


async def test_a_stage_that_speaks_at_once_is_not_waited_for(
    start: Start, models: Models, client: AsyncClient
) -> None:
    models.says({"chunks": ["Welcome"], "hang": True})
    document = {**SHOP, "stages": [{**SHOP["stages"][0], "speakOnEnter": True}, *SHOP["stages"][1:]]}
    socket = await start(document)
    running = socket.heard[-1]["running"]
    if running is None:
        await socket.until("text_delta")
    await socket.say(type="stop")
    ended = await socket.until("turn_interrupted")
    assert ended["shownText"] == "Welcome"
    (call,) = (await client.get(f"/api/sessions/{socket.session}/calls")).json()
    assert (call["status"], call["error"]) == ("interrupted", None)
    assert (await in_database(LLMCall.objects.get)).status == "interrupted"


async def test_a_timer_moves_on_while_nobody_types(start: Start, models: Models, hub: live.Hub) -> None:
    rule = {
        "id": "silence",
        "from": "greeting",
        "condition": {"type": "timeout", "durationMs": 50},
        "action": {"targetStage": "refund"},
    }
    socket = await start({**SHOP, "transitions": [rule]})
    await asyncio.sleep(0.06)
    await hub.tend(timezone.now())
    entered = await socket.until("stage_entered")
    assert entered["stage"] == "refund"


async def test_the_gallery_playbook_plays_with_the_rehearsal_model(
    start: Start, models: Models, client: AsyncClient
) -> None:
    models.llm, models.model = RehearsalLLM(word_delay_s=0), "rehearsal"
    document = json.loads((GALLERY / "customer-support.json").read_text("utf-8"))
    socket = await start(document)
    for number, text in enumerate(("Hello", "I want my money back for order 1042", "Thanks, that is all")):
        await socket.say(type="message", clientId=f"m{number}", text=text)
        frame = await socket.hear()
        while frame["type"] not in ("turn_complete", "turn_failed", "turn_interrupted"):
            frame = await socket.hear()
        assert frame["type"] == "turn_complete", frame
        assert frame["text"]
    calls = (await client.get(f"/api/sessions/{socket.session}/calls")).json()
    assert {call["provider"] for call in calls} == {"rehearsal"}
    assert all(call["status"] == "complete" for call in calls)
    last = (await client.get(f"/api/sessions/{socket.session}/calls/{len(calls)}")).json()
    usage = last["usage"]
    assert sum(share["read"] for share in last["shares"]) == usage["read"]
    assert await in_database(LoggedEvent.objects.filter(type="transition_evaluated").exists)


async def test_a_classifiers_call_is_stored_shown_and_rendered_like_any_other(
    start: Start, models: Models, client: AsyncClient
) -> None:
    examples = ["money back", "refund me", "pay me back"]
    condition = {"type": "intent", "intent": "refund", "examples": examples}
    rule = {
        "id": "r",
        "from": "greeting",
        "condition": condition,
        "action": {"targetStage": "refund"},
    }
    document = {**SHOP, "transitions": [rule, *SHOP["transitions"]], "options": {"intentClassifier": "llm"}}
    answer = {"text": '{"intent": "refund", "confidence": 0.9}', "usage": {"fresh": 300, "output": 20}}
    models.says(answer, {"text": "How much was it?", "usage": {"fresh": 40, "output": 7}})
    socket = await start(document)
    await socket.say(type="message", clientId="m1", text="that was not worth it")
    assert (await socket.until("turn_complete"))["stage"] == "refund"
    calls = (await client.get(f"/api/sessions/{socket.session}/calls")).json()
    assert [(c["call"], c["phase"], c["lane"] == "", c["status"]) for c in calls] == [
        (1, 0, True, "complete"),
        (2, 2, False, "complete"),
    ]
    assert all(call["cost"] > 0 for call in calls)
    digests = await in_database(lambda: list(LLMCall.objects.values_list("request_digest", flat=True)))
    rendered = (await client.get(f"/api/sessions/{socket.session}/calls/1/request")).json()
    assert hashlib.sha256(canonical_json(rendered["body"]).encode()).hexdigest() == digests[0]
    _, state = await in_database(load_state, socket.session)
    assert [turn["calls"] for turn in (await client.get(f"/api/sessions/{socket.session}/turns")).json()][
        -1
    ] == [1, 2]
    assert state.turn == 1
