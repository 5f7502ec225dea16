"""Many sessions that stream at once while others write: no locked database, nothing left half written."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.utils import timezone

from runtime import live
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.source import Connections
from runtime.models import Job, LoggedEvent, StoredSession
from runtime.sockets import in_database
from runtime.storage import load_state
from runtime.wiring import session_on
from tests.runtime.web.conftest import PLAYBOOK
from tests.runtime.web.test_hub import message

SESSIONS, TURNS = 10, 4


@pytest.fixture
async def hub(transactional_db: None) -> AsyncIterator[live.Hub]:
    models = Connections({}, rehearsal=RehearsalLLM(word_delay_s=0.001))
    hub = live.Hub(
        lambda stored, store: session_on(models, stored, store),
        live.send_to_group,
        process="this process",
        now=timezone.now,
    )
    live.Current.hub = hub
    yield hub
    await hub.close()
    live.Current.hub = None


class Writer(threading.Thread):
    """Another part of the program: reads, then writes, in one transaction, again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = threading.Event()
        self.written = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                with transaction.atomic():
                    self.written = Job.objects.filter(kind="autosave").count() + 1
                    Job.objects.create(kind="autosave", key=uuid.uuid4().hex, due_at=timezone.now())
                time.sleep(0.005)
        except Exception as error:
            self.failure = error
        finally:
            connections.close_all()


def seqs_of(session: uuid.UUID) -> list[int]:
    return list(LoggedEvent.objects.filter(session=session).order_by("seq").values_list("seq", flat=True))


async def test_sessions_stream_side_by_side_beside_another_writer(hub: live.Hub, ana: User) -> None:
    create = StoredSession.objects.create
    rows = [await in_database(create, owner=ana, document=PLAYBOOK) for _ in range(SESSIONS)]
    writers = [Writer(), Writer()]
    for writer in writers:
        writer.start()
    try:
        for turn in range(TURNS):
            errors = await asyncio.gather(*(hub.do(row.pk, message(f"m{turn}")) for row in rows))
            assert errors == [None] * SESSIONS
            await hub.tend(timezone.now())
    finally:
        for writer in writers:
            writer.stop.set()
            await asyncio.to_thread(writer.join)
    assert [writer.failure for writer in writers] == [None, None]
    assert all(writer.written for writer in writers)
    for row in rows:
        seqs = await in_database(seqs_of, row.pk)
        _, state = await in_database(load_state, row.pk)
        assert seqs == list(range(1, len(seqs) + 1))
        assert (state.turn, state.status, state.seq) == (TURNS, "idle", seqs[-1])
