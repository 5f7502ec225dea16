"""A turn that is stopped, or that the next message interrupts, in every moment it can be in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.llm.anthropic_wire import render_anthropic
from tests.runtime.desk import desk
from tests.runtime.llm.valid import problems
from tests.runtime.runner.play import OneModel, Play, calls, in_virtual_time

LONG = "We have two city bikes. " * 12
MOMENTS: dict[str, Sequence[dict[str, Any]]] = {
    "while the model is silent": [{"chunks": [], "hang": True}],
    "while the reply streams": [{"chunks": [LONG, "And more."], "hang": True}],
    "while a tool runs": [calls("stock", kind="city")],
    "while one of two tools runs": [
        {
            "tool_calls": [
                {"id": "c1", "name": "stock", "args": {"kind": "city"}},
                {"id": "c2", "name": "book", "args": {"kind": "city", "day": "Mon"}},
            ]
        }
    ],
}


@pytest.mark.parametrize("way", ["stop", "interrupt"])
@pytest.mark.parametrize("moment", MOMENTS)
@in_virtual_time
async def test_the_next_request_is_valid_and_what_was_shown_is_kept(moment: str, way: str) -> None:
    play = Play(desk(start="pick"), [*MOMENTS[moment], {"text": "Again."}], slow={"stock": 60.0})
    await play.session.start()
    turn = asyncio.create_task(play.session.send("Any bikes?"))
    await asyncio.sleep(1)
    assert play.session.state.running is not None
    if way == "stop":
        await play.session.stop()
        await play.session.send("Hello?")
    else:
        await play.session.send("Hello?", interrupt=True)
    await turn
    [interrupted] = play.of(ev.TurnInterrupted)
    assert interrupted.reason == way
    assert interrupted.shown_text == (LONG + "And more." if "streams" in moment else "")
    assert play.replies == ["Again."]
    check_log(play)
    _, record = OneModel(play.llm).get(play.llm.requests[-1].config, None)
    assert problems(render_anthropic(play.llm.requests[-1], record)) == []


def check_log(play: Play) -> None:
    """One result for each call, none left running, and the state is the fold."""
    asked = [call.call_id for event in play.of(ev.LLMCallCompleted) for call in event.message.tool_calls]
    assert sorted(event.call_id for event in play.of(ev.ToolCallComplete)) == sorted(asked)
    assert play.session.state == fold("s", play.memory.events)
    begun = {event.call for event in play.of(ev.LLMCallStarted)}
    ended = [event.call for event in play.of(ev.LLMCallCompleted)] + [
        e.call for e in play.of(ev.LLMCallFailed)
    ]
    assert sorted(ended) == sorted(begun)
