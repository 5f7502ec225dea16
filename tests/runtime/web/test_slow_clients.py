"""Clients that do not read, and messages that were lost on the way: everything is found again in the log."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from runtime import consumers, live
from runtime.inspector.frames import SendMessage
from runtime.publisher import group_of
from tests.runtime.web.conftest import Connect
from tests.runtime.web.doubles import Model
from tests.runtime.web.sockets import settle


async def turn(hub: live.Hub, session: uuid.UUID, client_id: str, text: str = "Hi") -> None:
    assert await hub.do(session, SendMessage(type="message", client_id=client_id, text=text)) is None


async def test_a_client_that_does_not_read_is_sent_no_more_and_catches_up_when_it_speaks(
    connect: Connect, hub: live.Hub, session: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MAX_UNACKNOWLEDGED_CHARACTERS", 4000)
    socket = await connect()
    await socket.hello()
    for number in range(10):
        await turn(hub, session, f"m{number}", "x" * 1000)
    await settle()
    while not await socket.quiet():
        await socket.hear()
    held_back = sum(len(json.dumps(frame)) for frame in socket.heard)
    assert held_back < 8000, "output piled up for a client that does not read"
    monkeypatch.setattr(consumers, "MAX_UNACKNOWLEDGED_CHARACTERS", 1 << 20)
    await socket.say(type="ping")
    await socket.until("ready")
    assert socket.seqs == list(range(1, hub.last_seq(session) + 1))


async def test_a_client_that_is_far_behind_catches_up_in_several_steps(
    connect: Connect, hub: live.Hub, session: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        await turn(hub, session, f"m{number}", "x" * 1000)
    monkeypatch.setattr(consumers, "MAX_UNACKNOWLEDGED_CHARACTERS", 4000)
    socket = await connect()
    await socket.say(type="hello", afterSeq=0)
    for _ in range(100):
        if await socket.quiet():
            await socket.say(type="ping")
        elif (await socket.hear())["type"] == "ready":
            break
    assert socket.seqs == list(range(1, hub.last_seq(session) + 1))


async def test_events_lost_on_the_way_are_read_from_the_log(
    connect: Connect, hub: live.Hub, session: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard_by_all = live.send_to_group
    lost: list[Any] = []

    async def lossy(group: str, message: dict[str, Any]) -> None:
        if message.get("seq", 0) % 3 == 1:
            lost.append(message)
        else:
            await heard_by_all(group, message)

    socket = await connect()
    await socket.hello()
    hub._rooms[session].loaded.publisher._send = lossy  # type: ignore[union-attr]
    for number in range(3):
        await turn(hub, session, f"m{number}")
    await settle()
    while socket.seqs[-1] < hub.last_seq(session):
        await socket.hear()
    assert lost
    assert socket.seqs == list(range(1, hub.last_seq(session) + 1))


async def test_text_lost_on_the_way_comes_with_the_next_piece(
    connect: Connect, hub: live.Hub, session: uuid.UUID, model: Model
) -> None:
    model.words = ["one ", "two ", "three ", "four"]
    gates = [model.hold_before(1), model.hold_before(2), model.hold_before(3)]
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="count")
    await socket.until("text_delta")
    publisher = hub._rooms[session].loaded.publisher  # type: ignore[union-attr]
    send, publisher._send = publisher._send, nowhere
    gates[0].set()
    await settle()
    publisher._send = send
    gates[1].set()
    await settle()
    gates[2].set()
    await socket.until("turn_complete")
    assert socket.text() == "one two three four"


async def nowhere(group: str, message: dict[str, Any]) -> None:
    """A broker that loses everything."""


async def test_what_other_sockets_get_twice_is_dropped(connect: Connect, session: uuid.UUID) -> None:
    socket = await connect()
    await socket.hello()
    again = {"type": "session.event", "seq": 2, "kind": "stage_entered", "frame": "{}"}
    await live.send_to_group(group_of(session), again)
    await settle()
    while not await socket.quiet():
        await socket.hear()
    assert socket.seqs == [1, 2]
