"""What it takes to open a long session: `python -m tests.bench.opening [EVENTS]`. Printed figures, no test.

A session of two-phase turns (a tool, a move, a reply; windows built) is stored in a database in memory and
opened again, as a server does it. Times are processor times, medians of nine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, TypeVar
from uuid import UUID

import django

from runtime.conversation.events import Event
from runtime.conversation.fold import fold
from runtime.conversation.history import fold_without
from runtime.llm.scripted import ScriptedLLM
from runtime.runner.memory import MemoryStore
from runtime.runner.virtual_time import run_virtual
from tests.bench.engine import DOCUMENT, outputs, session_on
from tests.bench.turns import MODEL, render_nothing

T = TypeVar("T")
PAGE, RUNS = 500, 9


def log_of(length: int) -> list[Event]:
    """The log of a session, of at least that many events."""
    store = MemoryStore()

    async def talk() -> None:
        llm = ScriptedLLM([], renderer=render_nothing, model=MODEL)
        session = session_on(llm, store)
        await session.start()
        turn = 0
        while len(store.events) < length:
            llm.outputs[:] = outputs()[turn % 2]
            llm.requests.clear()
            await session.send(f"Where is my order number A{turn}?")
            turn += 1

    run_virtual(talk)
    return store.events


@contextmanager
def database() -> Iterator[None]:
    """The tests' settings with a database of its own."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from django.test.runner import DiscoverRunner

    runner = DiscoverRunner(verbosity=0)
    made = runner.setup_databases()
    yield
    runner.teardown_databases(made)


def store(log: Sequence[Event]) -> UUID:
    """Stores the log as the runner does; the session's id."""
    from django.contrib.auth import get_user_model

    from runtime.models import StoredSession
    from runtime.storage import DjangoEventStore, append_events

    owner = get_user_model().objects.create(username="bench")
    row = StoredSession.objects.create(owner=owner, document=DOCUMENT, lease_owner="bench")
    events = DjangoEventStore(row.pk, owner.pk, "bench")
    for start in range(0, len(log), PAGE):
        append_events(events, log[start : start + PAGE])
    return row.pk


def milliseconds(work: Callable[[], Any]) -> float:
    times: list[float] = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        times.append((time.process_time() - began) * 1000)
    return median(times)


def report(length: int) -> None:
    """Prints the figures."""
    from runtime.conversation.history import FOLDED
    from runtime.storage import load_events, load_session, without_collection

    log = log_of(length)
    session = store(log)
    read = list(load_events(session, types=FOLDED))
    print(f"{len(log):,} events, {len(read):,} of which make the state")
    with without_collection():
        print(f"open          {milliseconds(lambda: load_session(session)):8.0f} ms")
        print(f"  read        {milliseconds(lambda: list(load_events(session, types=FOLDED))):8.0f} ms")
        print(f"  fold        {milliseconds(lambda: fold_without('s', read, len(log))):8.0f} ms")
        print(f"fold the log  {milliseconds(lambda: fold('bench', log)):8.0f} ms")


if __name__ == "__main__":
    with database():
        report(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
