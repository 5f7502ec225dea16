"""Many sessions stream at once through the vendors’ SDKs; each socket hears everything once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.utils import timezone

from runtime import live
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.connection import ModelServer
from runtime.llm.connections_file import Api, parse_connections
from runtime.llm.openai_chat import OpenAIChatLLM
from runtime.llm.openai_responses import OpenAIResponsesLLM
from runtime.llm.source import Connections
from runtime.models import StoredSession
from runtime.sockets import in_database
from runtime.wiring import session_on
from tests.runtime.web.conftest import PLAYBOOK
from tests.runtime.web.sockets import Socket, application
from tests.simulator import ManualClock, Simulator, say

SESSIONS = 30
FILE = "[connections.local]\nurl = 'http://simulated/v1'\n[connections.openai]\napi = 'responses'\n"
MODELS = ("anthropic/claude-sonnet-5", "openai/gpt-6.2-sol", "local/llama")
ADAPTERS: dict[Api, Any] = {
    "anthropic": AnthropicLLM,
    "responses": OpenAIResponsesLLM,
    "chat": OpenAIChatLLM,
}


def words(name: str) -> list[str]:
    """A reply of its own for each session, in many pieces."""
    return [f"{name}-{number} " for number in range(50)]


def reply_to(body: Any) -> Any:
    """Whoever speaks says its name in its message; the reply repeats it."""
    text = str(body)
    return say(*words(text[text.rindex("session<") :].split(">")[0].removeprefix("session<")))


@pytest.fixture
async def hub(transactional_db: None) -> AsyncIterator[live.Hub]:
    simulator = Simulator(clock=ManualClock())
    simulator.profiles.add_local("llama")
    simulator.choose(reply_to)
    client = httpx2.AsyncClient(transport=simulator.transport(), base_url="http://simulated")

    def make(api: Api, key: str, url: str | None) -> ModelServer:
        base = "http://simulated" if api == "anthropic" else "http://simulated/v1"
        adapter: ModelServer = ADAPTERS[api](key, base, http_client=client)
        return adapter

    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    models = Connections(keys, file=parse_connections(FILE), make=make)
    hub = live.Hub(
        lambda stored, store: session_on(models, stored, store),
        live.send_to_group,
        process="this process",
        now=timezone.now,
    )
    live.Current.hub = hub
    yield hub
    await hub.close()
    await client.aclose()
    live.Current.hub = None


async def connected(hub: live.Hub, owner: User, model: str) -> Socket:
    row = await in_database(StoredSession.objects.create, owner=owner, document=PLAYBOOK, start_model=model)
    assert await hub.start(row.pk) is None
    communicator: Any = WebsocketCommunicator(application, f"/ws/sessions/{row.pk}/")
    communicator.scope["user"] = owner
    socket = Socket(communicator, row.pk)
    await socket.open()
    await socket.hello()
    return socket


async def turn(socket: Socket, name: str) -> None:
    await socket.say(type="message", clientId="m", text=f"I am session<{name}>.")
    await socket.until("turn_complete")


async def test_parallel_streams_lose_nothing_and_mix_nothing(hub: live.Hub, ana: User) -> None:
    sockets = [await connected(hub, ana, MODELS[number % 3]) for number in range(SESSIONS)]
    await asyncio.gather(*(turn(socket, f"s{number}") for number, socket in enumerate(sockets)))
    for number, socket in enumerate(sockets):
        assert socket.seqs == list(range(1, len(socket.seqs) + 1))
        assert socket.text() == "".join(words(f"s{number}"))
        await socket.close()
