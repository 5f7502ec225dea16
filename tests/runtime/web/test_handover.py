"""Two processes on one database: a socket on either can ask for anything, and hears everything."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

import pytest
from django.utils import timezone

from runtime import handover, leases, live
from runtime.inspector.frames import SendMessage, Stop
from runtime.models import LoggedEvent, StoredSession
from runtime.sockets import in_database
from tests.runtime.web.conftest import Connect
from tests.runtime.web.doubles import Model
from tests.runtime.web.sockets import settle
from tests.runtime.web.test_hub import finished, message, until_running


@pytest.fixture
async def other(hub: live.Hub, model: Model) -> AsyncIterator[live.Hub]:
    """The hub of a second process; it and the first one know each other."""
    other = live.Hub(model.build, live.send_to_group, process="another process", now=timezone.now)
    for each in (hub, other):
        await live.connect_to_others(each)
    yield other
    await other.close()


async def test_a_message_to_the_wrong_process_waits_for_its_turn_at_the_right_one(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, model: Model
) -> None:
    gate = model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    assert await other.do(session, message("m2")) is None
    assert await other.do(session, message("m2")) is None
    gate.set()
    await turn
    await finished(hub)
    log = await in_database(lambda: list(LoggedEvent.objects.values_list("type", "payload__clientId")))
    assert [client for kind, client in log if kind == "user_message"] == ["m1", "m2"]
    assert [kind for kind, _ in log].count("turn_complete") == 2


async def test_stop_is_heard_by_the_process_that_runs_the_turn(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, model: Model
) -> None:
    model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    assert await other.do(session, Stop(type="stop")) is None
    await turn
    assert await in_database(LoggedEvent.objects.filter(type="turn_interrupted").exists)


async def test_a_refusal_comes_back(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_WAITING", 1)
    gate = model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    refused = await other.do(session, message("m2"))
    assert refused is not None
    assert (refused.code, refused.client_id) == ("too-many", "m2")
    gate.set()
    await turn


async def test_a_holder_that_does_not_answer_is_not_waited_for(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "ANSWER_SECONDS", 0.1)
    held = {"lease_owner": "dead", "lease_until": timezone.now() + leases.LEASE}
    await in_database(StoredSession.objects.filter(pk=session).update, **held)
    refused = await other.do(session, message("m1"))
    assert refused is not None
    assert (refused.code, refused.retryable) == ("busy-elsewhere", True)


async def test_a_socket_on_another_process_gets_the_whole_running_reply(
    hub: live.Hub, other: live.Hub, connect: Connect, session: uuid.UUID, model: Model
) -> None:
    model.words = ["one ", "two ", "three"]
    gate = model.hold_before(2)
    turn = asyncio.create_task(hub.do(session, SendMessage(type="message", client_id="m1", text="count")))
    await until_running(hub, session)
    live.Current.hub = other  # the socket below is the other process's
    socket = await connect()
    ready = await socket.hello()
    assert (ready["status"], ready["running"]) == ("running", None)
    await settle()
    gate.set()
    await turn
    await socket.until("turn_complete")
    live.Current.hub = hub
    assert socket.text() == "one two three"
    assert socket.seqs == list(range(1, hub.last_seq(session) + 1))
