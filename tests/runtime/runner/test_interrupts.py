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
from tests.runtime.llm.valid import problems, problems_elsewhere
from tests.runtime.runner.play import OneModel, Play, calls, error, in_virtual_time

LONG = "We have two city bikes. " * 12
MOMENTS: dict[str, Sequence[dict[str, Any]]] = {
    "while the model is silent": [{"chunks": [], "hang": True}],
    "while the reply streams": [{"chunks": [LONG, "And more."], "hang": True}],
    "while a short reply is held back": [{"chunks": ["We have", " two."], "hang": True}],
    "while it waits to try again": [error(429, "rate_limit_error", headers={"retry-after": "60"})],
    "while the model thinks about a result": [calls("book", kind="city", day="Mon"), {"hang": True}],
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
    assert problems_elsewhere(play.llm.requests[-1]) == []


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


@pytest.mark.parametrize("way", ["stop", "interrupt"])
@in_virtual_time
async def test_messages_that_wait_have_their_turns_one_after_the_other(way: str) -> None:
    """A stop ends the turn that runs, an interrupting message too; what was said before is answered first."""
    play = Play(desk(start="close"), [{"hang": True}, {"text": "Two."}, {"text": "Three."}])
    await play.session.start()
    waiting = [asyncio.create_task(play.session.send(text)) for text in ("one", "two")]
    await asyncio.sleep(1)
    if way == "stop":
        await play.session.stop()
        await play.session.send("three")
    else:
        await play.session.send("three", interrupt=True)
    await asyncio.gather(*waiting)
    assert play.replies == ["Two.", "Three."]
    assert [event.turn for event in play.of(ev.TurnInterrupted)] == [1]
    assert [event.text for event in play.of(ev.UserMessageEvent)] == ["one", "two", "three"]
    check_log(play)


@in_virtual_time
async def test_a_tool_that_a_stop_cancelled_does_not_run_again_in_the_next_turn() -> None:
    outputs = [calls("book", kind="city", day="Mon"), {"text": "Anything else?"}]
    play = Play(desk(start="pick"), outputs, slow={"book": 60.0})
    await play.session.start()
    turn = asyncio.create_task(play.session.send("Book it"))
    await asyncio.sleep(1)
    await play.session.stop()
    await turn
    await play.session.send("Hello?")
    await asyncio.sleep(120)
    assert (play.tools.ran, play.tools.cancelled) == (["book"], ["book"])
    check_log(play)
