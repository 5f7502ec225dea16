"""How text reaches a session's sockets: the first piece at once, the rest in batches, before the next
event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.inspector.calls import CallLog
from runtime.publisher import FLUSH_CHARACTERS, FLUSH_SECONDS, Publisher
from tests.runtime.web.doubles import Piece

Sent = list[dict[str, Any]]


@pytest.fixture
def sent() -> Sent:
    return []


@pytest.fixture
async def publisher(sent: Sent) -> AsyncIterator[Publisher]:
    async def send(group: str, message: dict[str, Any]) -> None:
        assert group == "session.1"
        if message.get("seq") == 13:
            raise OSError("the broker is away")
        sent.append(message)

    publisher = Publisher("session.1", send, CallLog())
    pump = asyncio.create_task(publisher.run())
    yield publisher
    pump.cancel()


def say(publisher: Publisher, text: str, start: int = 0) -> None:
    """Each character as a piece of its own."""
    for number, letter in enumerate(text):
        publisher(Piece(1, 1, start + number, letter))


def an_event(seq: int = 1) -> ev.Event:
    return ev.Phase2Start(seq=seq, at=datetime.now(UTC), session="1", stage="s")


async def test_a_thousand_words_are_a_few_frames(publisher: Publisher, sent: Sent) -> None:
    began = asyncio.get_running_loop().time()
    for number in range(100):
        say(publisher, "words word", 10 * number)
        await asyncio.sleep(0.002)
    await publisher.drained()
    assert "".join(message["text"] for message in sent) == "words word" * 100
    assert [m["offset"] for m in sent] == [sum(len(p["text"]) for p in sent[:n]) for n in range(len(sent))]
    passed = asyncio.get_running_loop().time() - began
    assert len(sent) <= 2 + passed / FLUSH_SECONDS


async def test_the_first_piece_does_not_wait(publisher: Publisher, sent: Sent) -> None:
    say(publisher, "H")
    for _ in range(5):
        await asyncio.sleep(0)
    assert [message["text"] for message in sent] == ["H"]


async def test_a_big_batch_does_not_wait_either(publisher: Publisher, sent: Sent) -> None:
    say(publisher, "H")
    await publisher.drained()
    say(publisher, "x" * FLUSH_CHARACTERS, 1)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(sent) == 2


async def test_text_never_comes_after_the_event_that_followed_it(publisher: Publisher, sent: Sent) -> None:
    say(publisher, "H")
    await publisher.drained()
    say(publisher, "i", 1)
    publisher(an_event())
    await publisher.drained()
    assert [message["type"] for message in sent] == ["session.text", "session.text", "session.event"]


async def test_pieces_of_two_calls_are_never_one_frame(publisher: Publisher, sent: Sent) -> None:
    publisher(Piece(1, 1, 0, "a"))
    publisher(Piece(1, 2, 0, "b"))
    await publisher.drained()
    assert [(message["call"], message["text"]) for message in sent] == [(1, "a"), (2, "b")]


async def test_a_broken_broker_stops_nothing(publisher: Publisher, sent: Sent) -> None:
    publisher(an_event(13))
    publisher(an_event(14))
    await publisher.drained()
    assert [message["seq"] for message in sent] == [14]
