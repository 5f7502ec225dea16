"""Rewind and fork: from the end of any turn, the same message makes the same request as it did then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.conversation.history import until_turn
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from tests.runtime.runner.play import OneModel, Play, calls, in_virtual_time
from tests.runtime.travel import documents, travel

MOVE = "playbook_transition"
TALK: Sequence[tuple[str, Sequence[dict[str, Any]]]] = (
    ("To Oslo?", [calls("trip", "a1", to="Oslo"), {"text": "90 EUR."}]),
    ("I take it.", [calls(MOVE, "a2", targetStage="agent:Payer"), {"text": "Which card?"}]),
    ("The blue one.", [calls("card", "a3", sum=90), {"text": "One moment."}]),
    ("Well?", [calls(MOVE, "a4", targetStage="return", summary="Paid."), {"text": "Paid."}]),
    ("Thanks", [{"text": "Have a good trip."}]),
)


def body(session: Play, request: LLMRequest) -> Any:
    _, record = OneModel(session.llm).get(request.config, request.model)
    return render_anthropic(request, record)


async def talked() -> Play:
    session = Play(travel(), [output for _, outputs in TALK for output in outputs], agents=documents())
    await session.talk(*(text for text, _ in TALK))
    return session


@pytest.mark.parametrize("turn", range(len(TALK)))
@in_virtual_time
async def test_a_fork_at_any_turn_sends_what_the_original_sent_there(turn: int) -> None:
    original = await talked()
    kept = until_turn(original.memory.events, turn)
    first = sum(len(outputs) for _, outputs in TALK[:turn])
    text, outputs = TALK[turn]
    fork = Play(travel(), outputs, state=fold("s", kept), agents=documents())
    await fork.session.send(text)
    there = original.llm.requests[first : first + len(outputs)]
    assert [body(fork, request) for request in fork.llm.requests] == [
        body(original, request) for request in there
    ]
    assert [request.cache_points for request in fork.llm.requests] == [
        request.cache_points for request in there
    ]


@in_virtual_time
async def test_a_turns_end_is_where_the_next_begins() -> None:
    log = (await talked()).memory.events
    assert until_turn(log, 0)[-1].type == "stage_entered"
    for turn in range(1, len(TALK) + 1):
        kept = until_turn(log, turn)
        state = fold("s", kept)
        assert (state.turn, state.status, state.running) == (turn, "idle", None)
        following = log[len(kept) : len(kept) + 1]
        assert all(isinstance(event, ev.TurnStarted) for event in following)
    assert until_turn(log, len(TALK)) == tuple(log)
