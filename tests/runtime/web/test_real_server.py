"""The session socket of the real server process: crashes, restarts, foreign pages, oversized frames."""

from __future__ import annotations

import signal
import time
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.support.people import Person, say, until
from tests.support.studio import StudioServer

WORDS = " ".join(f"word{number}" for number in range(40))
PLAYBOOK = {
    "id": "slow",
    "name": "Slow",
    "initialStage": "talk",
    "stages": [
        {"id": "talk", "name": "Talk", "systemPrompt": "Talk.", "metadata": {"rehearsal": [{"say": WORDS}]}}
    ],
    "options": {"replyHold": 0},
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioServer]:
    server = StudioServer(tmp_path_factory.mktemp("sockets"), STUDIO_REHEARSAL_DELAY_MS="50")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def person(studio: StudioServer) -> Person:
    return Person(studio)


def say_and_wait(socket: ClientConnection, **frame: Any) -> None:
    say(socket, **frame)
    until(socket, "user_message")


def seqs(frames: list[dict[str, Any]]) -> list[int]:
    return [frame["seq"] for frame in frames if "seq" in frame]


def test_a_crash_in_mid_reply_is_found_and_ended_after_the_restart(
    studio: StudioServer, person: Person
) -> None:
    session = person.start(PLAYBOOK)
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=0)
        say(socket, type="message", clientId="m1", text="Tell me")
        before = until(socket, "text_delta")
        time.sleep(1.3)  # what was shown is noted once a second
        studio.stop(signal.SIGKILL)
    studio.start()
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=seqs(before)[-1])
        after = until(socket, "ready")
        if "turn_interrupted" not in [frame["type"] for frame in after]:
            after += until(socket, "turn_interrupted")
        ended = next(frame for frame in after if frame["type"] == "turn_interrupted")
        assert ended["reason"] == "process_died"
        assert WORDS.startswith(ended["shownText"].strip())
        assert ended["shownText"]
        assert seqs(before) + seqs(after) == list(range(1, seqs(after)[-1] + 1))
        say(socket, type="message", clientId="m2", text="Again")
        assert until(socket, "turn_complete")[-1]["text"] == WORDS


def test_an_orderly_stop_ends_the_turn_and_tells_sockets_to_come_back(
    studio: StudioServer, person: Person
) -> None:
    session = person.start(PLAYBOOK)
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=0)
        say(socket, type="message", clientId="m1", text="Tell me")
        until(socket, "text_delta")
        assert studio.stop() == 0
        with pytest.raises(ConnectionClosed) as closed:
            until(socket, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    (log,) = studio.rows(
        "SELECT status, lease_owner FROM runtime_storedsession WHERE id = ?", session.replace("-", "")
    )
    assert (log["status"], log["lease_owner"]) == ("idle", "")
    studio.start()


def test_stop_and_ping_are_answered_while_a_reply_streams(person: Person) -> None:
    with person.socket(person.start(PLAYBOOK)) as socket:
        say(socket, type="hello", afterSeq=0)
        say(socket, type="message", clientId="m1", text="Tell me")
        until(socket, "text_delta")
        say(socket, type="ping")
        until(socket, "pong")
        say(socket, type="stop")
        ended = until(socket, "turn_interrupted")[-1]
        assert ended["reason"] == "stop"
        assert len(ended["shownText"]) < len(WORDS)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", None, "http://127.0.0.1:1", "http://127.0.0.1"]
)
def test_a_foreign_page_is_refused_at_the_handshake(person: Person, origin: str | None) -> None:
    session = person.start(PLAYBOOK)
    with pytest.raises(InvalidStatus) as refused:
        person.socket(session, origin=origin)
    assert refused.value.response.status_code == 403


def test_a_frame_of_3_mb_ends_the_connection_with_a_reason_and_loses_nothing(person: Person) -> None:
    session = person.start(PLAYBOOK)
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=0)
        until(socket, "ready")
        with pytest.raises(ConnectionClosed) as closed:
            say_and_wait(socket, type="message", clientId="m1", text="x" * 3_000_000)
    assert closed.value.rcvd is None or closed.value.rcvd.code in (1009, 1006)
    with person.socket(session) as socket:
        say(socket, type="hello", afterSeq=0)
        assert "user_message" not in [frame["type"] for frame in until(socket, "ready")]


def test_nobody_without_a_login_gets_in(studio: StudioServer, person: Person) -> None:
    session = person.start(PLAYBOOK)
    person.jar.clear()
    with person.socket(session) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            until(socket, "ready")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
    with pytest.raises(urllib.error.HTTPError) as refused:
        person.get(f"/api/sessions/{session}")
    assert refused.value.code == 401
