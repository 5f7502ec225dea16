"""The same conversations, whoever answers: the same events, valid requests, usage as it is billed."""

from __future__ import annotations

import pytest

from runtime.conversation import events as ev
from tests.conformance.conversation import Conversation, Talk, outline
from tests.conformance.conversations import ALL
from tests.conformance.speakers import KINDS, reference, speaking
from tests.simulator import Simulator

EVERY = pytest.mark.parametrize("name", KINDS)
EACH = pytest.mark.parametrize("conversation", ALL.values(), ids=ALL)


@EVERY
@EACH
async def test_the_events_are_the_same_and_the_requests_valid(conversation: Conversation, name: str) -> None:
    expected = await conversation.play(reference(conversation.outputs))
    async with speaking(name, conversation.outputs) as speaker:
        talk = await conversation.play(speaker)
        assert speaker.sim is not None
        await speaker.sim.idle()
        assert_valid(speaker.sim)
        assert_booked(talk, speaker.sim)
    assert outline(talk.memory.events) == outline(expected.memory.events)


def assert_valid(sim: Simulator) -> None:
    """No request broke a rule of its provider; failures were the planned ones."""
    assert [(e.number, e.rule, e.error) for e in sim.exchanges if e.rule not in (None, "fault")] == []


def assert_booked(talk: Talk, sim: Simulator) -> None:
    """Usage and price of each whole answer are what the provider bills."""
    billed = [(e.usage, e.cost) for e in sim.exchanges if e.complete]
    booked = [(event.usage, event.cost) for event in talk.of(ev.LLMCallCompleted)]
    assert [usage for usage, _ in booked] == [usage for usage, _ in billed]
    for (_, cost), (_, price) in zip(booked, billed, strict=True):
        assert cost == (pytest.approx(price) if price is not None else None)
