"""A call that is cut off is paid for: what it used until then is in the log and in the turn's sums."""

from __future__ import annotations

import asyncio
from typing import Any

from runtime.conversation import events as ev
from tests.runtime.desk import STOCK, playbook, rule, stage
from tests.runtime.runner.play import Play, calls, in_virtual_time

LONG = "This answer is longer than what is held back, so that it would be shown now. " * 4
USAGE = {"fresh": 1000, "read": 200, "output": 500}


def overtaken() -> Play:
    """A rule on the tool fires once the reply of Phase 1 is long enough to be shown."""
    moved = rule("t", "a", "b", {"type": "tool_call", "toolName": "stock"})
    document = playbook([stage("a", tools=[STOCK]), stage("b")], [moved])
    cut: dict[str, Any] = {"chunks": [LONG, LONG], "usage": USAGE}
    return Play(document, [calls("stock", kind="city"), cut, {"text": "Hello.", "usage": USAGE}])


@in_virtual_time
async def test_a_reply_that_a_rule_overtook_costs_its_input_and_the_text_that_came() -> None:
    play = overtaken()
    await play.talk("city?")
    cut = play.of(ev.LLMCallFailed)[0]
    assert cut.code == "superseded"
    assert cut.usage is not None
    assert (cut.usage.fresh, cut.usage.read) == (1000, 200)
    assert 0 < cut.usage.output < 500
    turn = play.of(ev.TurnComplete)[0]
    assert turn.usage is not None
    assert turn.usage.fresh == 2000


@in_virtual_time
async def test_a_stopped_reply_costs_what_it_used() -> None:
    play = Play(playbook([stage("a")]), [{"chunks": ["One, two, "], "usage": USAGE, "hang": True}])
    await play.session.start()
    saying = asyncio.create_task(play.session.send("count"))
    await asyncio.sleep(1)
    await play.session.stop()
    await saying
    cut = play.of(ev.LLMCallFailed)[0]
    assert (cut.code, cut.shown_text) == ("cancelled", "One, two, ")
    assert cut.usage is not None
    assert cut.usage.fresh == 1000
    assert cut.cost is not None
    assert cut.cost > 0


@in_virtual_time
async def test_a_call_that_was_refused_costs_nothing() -> None:
    play = Play(playbook([stage("a")]), [{"error": {"type": "invalid_request_error", "status": 400}}])
    await play.talk("hello")
    assert (play.of(ev.LLMCallFailed)[0].usage, play.of(ev.LLMCallFailed)[0].cost) == (None, None)
