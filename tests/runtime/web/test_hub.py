"""The hub: leases, dead processes, timers, several processes on one database."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from runtime import leases, live
from runtime.inspector.frames import ErrorFrame, SendMessage, SetVariable, Stop
from runtime.models import LLMCall, LoggedEvent, SegmentText, StoredSession
from runtime.sockets import in_database
from runtime.storage import load_state
from tests.runtime.web.conftest import PLAYBOOK
from tests.runtime.web.doubles import Model


def message(client_id: str, text: str = "Hi") -> SendMessage:
    return SendMessage(type="message", client_id=client_id, text=text)


async def row(session: uuid.UUID) -> StoredSession:
    return await in_database(StoredSession.objects.get, pk=session)


async def types(session: uuid.UUID) -> list[str]:
    events = LoggedEvent.objects.filter(session=session).order_by("seq")
    return await in_database(lambda: list(events.values_list("type", flat=True)))


async def until_running(hub: live.Hub, session: uuid.UUID) -> None:
    while hub.running(session) is None:  # noqa: ASYNC110  nothing to wait on: it is what a socket would poll
        await asyncio.sleep(0.01)


class Clock:
    """The second process's; the test moves it."""

    ahead = timedelta()

    def now(self) -> datetime:
        return timezone.now() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def until_shown(hub: live.Hub, session: uuid.UUID, text: str) -> None:
    await until_running(hub, session)
    while (running := hub.running(session)) is None or running.text != text:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def finished(hub: live.Hub) -> None:
    """Returns when nothing runs in it."""
    while tasks := {task for room in hub._rooms.values() for task in room.tasks}:
        await asyncio.wait(tasks)


@pytest.fixture
async def other(transactional_db: None, model: Model, clock: Clock) -> AsyncIterator[live.Hub]:
    """The hub of a second process on the same database."""
    hub = live.Hub(model.build, live.send_to_group, process="another process", now=clock.now)
    yield hub
    await hub.close()


async def test_a_turn_runs_under_a_lease_that_is_given_back(
    hub: live.Hub, session: uuid.UUID, model: Model
) -> None:
    gate = model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    held = await row(session)
    assert (held.lease_owner, held.status) == ("this process", "running")
    gate.set()
    assert await turn is None
    free = await row(session)
    assert (free.lease_owner, free.lease_until, free.status, free.turns) == ("", None, "idle", 1)


async def test_a_session_that_another_process_works_on_is_refused_for_now(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, model: Model
) -> None:
    gate = model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    refused = await other.do(session, message("m2"))
    assert isinstance(refused, ErrorFrame)
    assert (refused.code, refused.retryable, refused.client_id) == ("busy-elsewhere", True, "m2")
    gate.set()
    assert await turn is None


async def test_another_process_goes_on_where_the_first_one_stopped(
    hub: live.Hub, other: live.Hub, session: uuid.UUID
) -> None:
    for number, process in enumerate((hub, other, hub, other)):
        assert await process.do(session, message(f"m{number}")) is None
    assert (await row(session)).turns == 4
    assert (await types(session)).count("turn_complete") == 4
    assert await other.do(session, message("m0")) is None
    assert (await row(session)).turns == 4, "the log knows whose message it was"


async def test_a_turn_of_a_dead_process_is_ended_with_what_was_shown(
    hub: live.Hub, other: live.Hub, session: uuid.UUID, model: Model, clock: Clock
) -> None:
    model.words = ["half ", "a reply"]
    model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    await hub.tend(timezone.now())  # notes what was shown

    await other.tend(clock.now())
    assert "turn_interrupted" not in await types(session), "its lease is alive"
    clock.ahead = 2 * leases.LEASE
    await other.tend(clock.now())
    await finished(other)

    ended = await in_database(LoggedEvent.objects.get, type="turn_interrupted")
    assert (ended.payload["reason"], ended.payload["shownText"]) == ("process_died", "half ")
    assert (await in_database(LLMCall.objects.get)).status == "interrupted"
    model.gates[1].set()
    refused = await turn
    assert refused is not None
    assert refused.code == "taken-over"
    assert await other.do(session, message("m2")) is None
    assert (await types(session))[-1] == "turn_complete"


async def test_at_the_start_of_the_only_process_every_running_turn_is_a_dead_ones(
    session: uuid.UUID, hub: live.Hub
) -> None:
    await hub.do(session, message("m1"))
    running = {"status": "running", "lease_owner": "dead", "lease_until": timezone.now() + timedelta(hours=1)}
    log = LoggedEvent.objects.filter(session=session)
    await in_database(log.filter(type__in=("turn_complete", "phase2_complete")).delete)
    last = await in_database(lambda: log.order_by("-seq").values_list("seq", flat=True)[0])
    await in_database(StoredSession.objects.filter(pk=session).update, last_seq=last, **running)
    await live.recover(timezone.now())
    await finished(hub)
    assert (await types(session))[-1] == "turn_interrupted"
    assert (await row(session)).status == "idle"


async def test_a_session_whose_process_died_before_the_start_starts_with_its_first_message(
    hub: live.Hub, ana: User
) -> None:
    stored = await in_database(
        StoredSession.objects.create, owner=ana, document=PLAYBOOK, start_data={"a": 1}, start_model="m"
    )
    await hub.do(stored.pk, message("m1"))
    log = await in_database(lambda: list(LoggedEvent.objects.values_list("type", "payload")))
    assert [kind for kind, _ in log[:4]] == [
        "session_using",
        "session_started",
        "stage_entered",
        "turn_started",
    ]
    assert log[1][1]["data"] == {"a": 1}


async def test_a_timer_that_is_due_is_served_once(hub: live.Hub, session: uuid.UUID, model: Model) -> None:
    now = timezone.now()
    model.sessions[-1].next_wake = now
    await hub.do(session, SetVariable(type="set", variable="x", value=1))
    assert (await row(session)).wake_at == now
    await hub.tend(now - timedelta(seconds=1))
    await hub.tend(now)
    await finished(hub)
    await hub.tend(now)
    await finished(hub)
    assert model.sessions[-1].ticks == 1
    assert (await row(session)).wake_at is None


async def test_a_session_nobody_uses_is_unloaded_and_found_again(
    hub: live.Hub, session: uuid.UUID, model: Model
) -> None:
    await hub.do(session, message("m1"))
    await hub.tend(timezone.now() + 2 * live.UNLOAD_AFTER)
    assert hub.last_seq(session) == 0
    await hub.do(session, message("m2"))
    assert (await row(session)).turns == 2
    assert len(model.sessions) == 2


async def test_stopping_the_server_ends_running_turns(
    hub: live.Hub, session: uuid.UUID, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "DRAIN_SECONDS", 0.1)
    model.hold_before(1)
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    await hub.close()
    await turn
    ended = await in_database(LoggedEvent.objects.get, type="turn_interrupted")
    assert ended.payload["reason"] == "process_died"
    refused = await hub.do(session, message("m2"))
    assert refused is not None
    assert refused.code == "closing"


async def test_a_message_that_waits_when_the_server_stops_is_in_the_log(
    hub: live.Hub, session: uuid.UUID, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "DRAIN_SECONDS", 0.3)
    model.hold_before(1)
    turns = [asyncio.create_task(hub.do(session, message(f"m{number}"))) for number in range(2)]
    await until_running(hub, session)
    await hub.close()
    await asyncio.gather(*turns)
    log = await types(session)
    assert (log.count("user_message"), log.count("turn_interrupted")) == (2, 2)


async def test_only_so_many_messages_may_wait(hub: live.Hub, session: uuid.UUID, model: Model) -> None:
    gate = model.hold_before(0)
    sent = [asyncio.create_task(hub.do(session, message(f"m{n}"))) for n in range(live.MOST_WAITING)]
    await asyncio.sleep(0)
    refused = await hub.do(session, message("one more"))
    assert refused is not None
    assert (refused.code, refused.retryable) == ("too-many", True)
    await hub.do(session, Stop(type="stop"))
    gate.set()
    assert await asyncio.gather(*sent) == [None] * live.MOST_WAITING


async def test_the_log_folds_into_the_state_that_ran_with_its_texts(
    hub: live.Hub, session: uuid.UUID, model: Model
) -> None:
    await hub.do(session, message("m1"))
    _, state = await in_database(load_state, session)
    assert state == model.sessions[-1].state
    stored = await in_database(LoggedEvent.objects.get, type="llm_call_started")
    assert stored.payload["added"][0]["text"] == ""
    assert (await in_database(SegmentText.objects.get)).text == "text of call 1"


async def test_a_session_let_go_while_leases_are_renewed_is_not_given_up(
    hub: live.Hub, session: uuid.UUID, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = model.hold_before(1)
    monkeypatch.setattr(leases, "renew", lambda sessions, holder, now: set(sessions))
    turn = asyncio.create_task(hub.do(session, message("m1")))
    await until_running(hub, session)
    await hub.tend(timezone.now())
    gate.set()
    assert await turn is None
    assert (await types(session))[-1] == "turn_complete"
