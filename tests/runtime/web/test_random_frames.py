"""Whatever clients say, and however they go: no fault inside, no gap in the log, and the socket goes on."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from runtime import live
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.source import Connections
from runtime.models import LoggedEvent
from runtime.sockets import in_database
from runtime.wiring import session_on
from tests.runtime.web.conftest import Connect
from tests.runtime.web.sockets import settle

KINDS = (
    *("hello", "message", "stop", "retry", "fork", "set", "breakpoints"),
    *("resume", "tool_result", "approve", "use", "ping", "dance"),
)
FIELDS = ("clientId", "text", "variable", "value", "model", "policy", "afterSeq", "interrupt", "layout", "x")


class Chatter:
    """Makes frames: mostly nearly right ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        pick = self.random.randrange(10)
        if pick < 3:
            return self.random.choice([None, True, 0, -1, 2**40, 10**25, 1.5, 1e300])
        if pick < 8 or depth > 3:
            return self.random.choice(
                ["", "a", "__proto__", "\u202e", "💥", "x" * 3000, "append", "{vars.x}"]
            )
        if pick == 8:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(FIELDS): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def frame(self) -> str:
        kind = self.random.choice(KINDS)
        frame: dict[str, Any] = {"type": kind}
        if kind == "message":
            frame |= {
                "clientId": f"r{self.random.randrange(200)}",
                "text": self.random.choice(["hi", " ", "💥"]),
            }
            frame |= {"interrupt": True} if self.random.random() < 0.3 else {}
        if kind == "set":
            frame |= {"variable": self.random.choice(["x", "__proto__", "_p"]), "value": self.value()}
        if kind == "use":
            frame |= self.random.choice(
                [{"model": "nope"}, {"layout": "swap"}, {"policy": {"budgetTokens": 50}}]
            )
        if self.random.random() < 0.4:
            frame[self.random.choice(FIELDS)] = self.value()
        text = json.dumps(frame)
        return text if self.random.random() > 0.05 else text[: self.random.randrange(1, len(text))]


@pytest.fixture
async def hub(transactional_db: None) -> AsyncIterator[live.Hub]:
    """With the real runner, and the rehearsal as its model."""
    models = Connections({}, rehearsal=RehearsalLLM(word_delay_s=0.001))
    hub = live.Hub(partial(session_on, models), live.send_to_group, process="this process", now=timezone.now)
    live.Current.hub = hub
    yield hub
    await hub.close()
    live.Current.hub = None


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_frames_of_two_clients_break_nothing(
    connect: Connect, session: uuid.UUID, seed: int
) -> None:
    first, second = await connect(), await connect()
    await first.hello()
    chatter = Chatter(seed)
    for number in range(300):
        await chatter.random.choice([first, second]).say_text(chatter.frame())
        if number % 20 == 0:
            await first.say(type="ping")
            await first.until("pong")
    await settle()
    await first.say(type="message", clientId="last", text="still there?", interrupt=True)
    while (await first.until("user_message"))["clientId"] != "last":
        pass
    assert not [frame for frame in first.heard if frame.get("code") in ("internal", "taken-over")]
    log = LoggedEvent.objects.filter(session=session).order_by("seq")
    seqs = await in_database(lambda: list(log.values_list("seq", flat=True)))
    assert len(seqs) > 50
    assert seqs == list(range(1, len(seqs) + 1))


async def test_a_client_that_is_gone_when_it_is_spoken_to_is_still_counted_out(
    connect: Connect, session: uuid.UUID, hub: live.Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = await connect()
    await socket.hello()

    async def gone(*_: Any, **__: Any) -> None:
        raise Disconnected("gone")

    monkeypatch.setattr(AsyncWebsocketConsumer, "send", gone)
    await socket.say(type="ping")
    await settle()
    await socket.close()
    assert hub.enter(session) == 1
