"""A timer fires once: with nobody there, after a restart, and whichever of several processes sees it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from runtime import live
from runtime.models import LoggedEvent, StoredSession
from runtime.sockets import in_database
from tests.runtime.web import test_real_sessions as real
from tests.runtime.web.test_real_sessions import SHOP, Models

hub, models = real.hub, real.models

SILENCE: dict[str, Any] = {
    **SHOP,
    "transitions": [
        {
            "id": "silence",
            "from": "greeting",
            "condition": {"type": "timeout", "durationMs": 50},
            "action": {"targetStage": "refund"},
        }
    ],
}


@pytest.fixture
async def session(hub: live.Hub, ana: User) -> uuid.UUID:
    """A session whose timer is about to be due, and that no socket looks at."""
    row = await in_database(lambda: StoredSession.objects.create(owner=ana, title="t", document=SILENCE))
    assert await hub.start(row.pk) is None
    await at_rest(hub)
    assert (await in_database(StoredSession.objects.get, pk=row.pk)).wake_at is not None
    await asyncio.sleep(0.06)
    return row.pk


@pytest.fixture
async def others(transactional_db: None, models: Models) -> AsyncIterator[list[live.Hub]]:
    """Two more processes on the same database."""
    hubs = [
        live.Hub(models.build, live.send_to_group, process=f"process {n}", now=timezone.now) for n in (2, 3)
    ]
    yield hubs
    for hub in hubs:
        await hub.close()


async def served(*hubs: live.Hub) -> None:
    """One round of each, at the same time."""
    await asyncio.gather(*(hub.tend(timezone.now()) for hub in hubs))
    await at_rest(*hubs)


async def at_rest(*hubs: live.Hub) -> None:
    """Returns when nothing runs in any of them."""
    while tasks := {task for hub in hubs for room in hub._rooms.values() for task in room.tasks}:
        await asyncio.wait(tasks)


async def entered(session: uuid.UUID) -> list[str]:
    """Stages that were entered, in order."""
    rows = LoggedEvent.objects.filter(session=session, type="stage_entered").order_by("seq")
    return await in_database(lambda: [row.payload["stage"] for row in rows])


async def test_of_several_processes_one_fires_it_and_the_others_leave_it(
    session: uuid.UUID, hub: live.Hub, others: list[live.Hub]
) -> None:
    for _ in range(3):
        await served(hub, *others)
    assert await entered(session) == ["greeting", "refund"]
    seqs = LoggedEvent.objects.filter(session=session).order_by("seq").values_list("seq", flat=True)
    numbers = await in_database(lambda: list(seqs))
    assert numbers == list(range(1, len(numbers) + 1))
    assert (await in_database(StoredSession.objects.get, pk=session)).wake_at is None


async def test_it_survives_the_end_of_the_process_that_set_it(
    session: uuid.UUID, hub: live.Hub, others: list[live.Hub]
) -> None:
    await hub.close()
    await served(others[0])
    await served(others[0])
    assert await entered(session) == ["greeting", "refund"]


async def test_a_process_that_still_has_the_old_state_does_not_fire_it_again(
    session: uuid.UUID, hub: live.Hub, others: list[live.Hub]
) -> None:
    await served(others[0])
    loaded = hub._rooms[session].loaded
    assert loaded is not None
    assert loaded.session.next_wake is not None
    await served(hub)
    assert await entered(session) == ["greeting", "refund"]
