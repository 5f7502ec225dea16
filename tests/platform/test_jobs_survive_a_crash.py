"""Jobs of the real server, across `kill -9`."""

import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.studio import StudioServer

ENQUEUE = """
from runtime.tasks import enqueue
enqueue("test.slow", {key!r}, {{"began": {began!r}, "seconds": {seconds}}})
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudioServer]:
    server = StudioServer(tmp_path, STUDIO_REAPER_SECONDS="0.2")
    server.start()
    yield server
    server.stop(signal.SIGKILL)


def enqueue_from_another_process(server: StudioServer, key: str, seconds: float) -> Path:
    """The broker of the server hears nothing of it; the row is all there is."""
    began = server.folder / f"began-{key}"
    done = server.manage("shell", "-c", ENQUEUE.format(key=key, began=str(began), seconds=seconds))
    assert done.returncode == 0, done.stderr
    # The grace of the id that died with that process: over.
    execute(server, "UPDATE runtime_job SET lease_until = NULL WHERE key = ? AND state = 'queued'", key)
    return began


def execute(server: StudioServer, statement: str, *values: Any) -> None:
    import sqlite3

    with sqlite3.connect(server.data / "studio.sqlite3", timeout=20) as connection:
        connection.execute(statement, values)
    connection.close()


def wait_for(condition: Callable[[], Any], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "It did not come to that in time"
        time.sleep(0.05)


def state_of(server: StudioServer, key: str) -> str:
    return str(server.rows("SELECT state FROM runtime_job WHERE key = ?", key)[0]["state"])


def test_a_job_cut_off_by_a_crash_is_finished_exactly_once_after_the_restart(server: StudioServer) -> None:
    key = uuid.uuid4().hex
    began = enqueue_from_another_process(server, key, seconds=2)
    wait_for(began.exists)

    server.stop(signal.SIGKILL)
    assert state_of(server, key) == "running"
    server.start()
    wait_for(lambda: state_of(server, key) == "done")

    row = server.rows("SELECT attempts, result FROM runtime_job WHERE key = ?", key)[0]
    assert (row["attempts"], row["result"]) == (2, '{"attempt": 2}')
    assert began.read_text().split() == ["1", "2"]
    assert len(server.rows("SELECT id FROM runtime_job WHERE kind = 'test.effect'")) == 1


def test_a_finished_job_is_not_run_again_by_a_restart(server: StudioServer) -> None:
    key = uuid.uuid4().hex
    began = enqueue_from_another_process(server, key, seconds=0)
    wait_for(lambda: state_of(server, key) == "done")

    server.stop(signal.SIGKILL)
    server.start()
    time.sleep(1)

    assert began.read_text().split() == ["1"]


def test_an_orderly_stop_leaves_a_long_job_to_the_next_start(server: StudioServer) -> None:
    key = uuid.uuid4().hex
    began = enqueue_from_another_process(server, key, seconds=12)
    wait_for(began.exists)

    start = time.monotonic()
    assert server.stop(signal.SIGTERM) == 0

    assert time.monotonic() - start < 8
    assert state_of(server, key) == "running"
