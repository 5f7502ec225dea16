"""`onEnter` and `onExit` that fail or hang: an event, and the conversation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import Playbook, ToolDefinition
from tests.runtime.desk import DECISION, STOCK, playbook, rule, says, stage
from tests.runtime.runner.play import CountingTools, Play, calls, in_virtual_time

HOUR = 3600.0
ACTION = [{"call": "stock", "arguments": {"kind": "city"}}]
HOOKS = ["onExit", "onEnter"]
MOVES = calls("playbook_transition", targetStage="b")


class Raising(CountingTools):
    """Tools that break."""

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        raise RuntimeError("the cellar is flooded")


def desk(hook: str, *, condition: dict[str, Any] = DECISION, **options: Any) -> Playbook:
    """Two stages; the way from the one to the other calls a tool by itself."""
    first, second = ("a", "b")
    stages = [
        stage(first, tools=[STOCK], **({"onExit": ACTION} if hook == "onExit" else {})),
        stage(second, **({"onEnter": ACTION} if hook == "onEnter" else {})),
    ]
    return playbook(stages, [rule("t", first, second, condition)], options=options)


def failures(play: Play) -> list[str]:
    """What was wrong with the actions."""
    return [e.error or "" for e in play.of(ev.ToolCallComplete) if e.call_id.startswith("action:")]


@pytest.mark.parametrize("hook", HOOKS)
@in_virtual_time
async def test_a_hook_whose_tool_breaks_does_not_lose_the_turn(hook: str) -> None:
    play = Play(desk(hook), [MOVES, {"text": "Here."}], tools=Raising())
    await play.talk("go")
    assert play.replies == ["Here."]
    assert [error for error in failures(play) if "RuntimeError" in error]
    assert "flooded" not in str(play.memory.events)
    assert play.session.state.frames[-1].stage == "b"


@pytest.mark.parametrize("hook", HOOKS)
@in_virtual_time
async def test_a_hook_that_hangs_gets_the_time_of_a_tool_and_does_not_lose_the_turn(hook: str) -> None:
    play = Play(desk(hook, phase1TimeoutMs=2000), [MOVES, {"text": "Here."}], slow={"stock": HOUR})
    await play.talk("go")
    assert play.replies == ["Here."]
    assert play.tools.cancelled == ["stock"]
    assert failures(play) == [f"{hook}: Cancelled: the action took too long."]
    [turn] = play.of(ev.TurnComplete)
    assert (turn.stage, turn.at - play.of(ev.TurnStarted)[0].at) == ("b", timedelta(seconds=2))
    check(play)


@pytest.mark.parametrize("hook", HOOKS)
@in_virtual_time
async def test_a_turn_that_ends_while_a_hook_hangs_leaves_the_session_in_the_new_stage(hook: str) -> None:
    short = desk(hook, turnTimeoutMs=1000)
    play = Play(short, [MOVES, {"text": "Again."}], slow={"stock": HOUR})
    await play.talk("go", "still there?")
    assert [event.reason for event in play.of(ev.TurnInterrupted)] == ["timeout"]
    assert (play.replies, play.of(ev.TurnComplete)[0].stage) == (["Again."], "b")
    check(play)


@in_virtual_time
async def test_a_session_starts_although_its_first_stages_hook_hangs() -> None:
    first = playbook([stage("a", tools=[STOCK], onEnter=ACTION)], options={"phase1TimeoutMs": 2000})
    play = Play(first, [{"text": "Hello."}], slow={"stock": HOUR})
    await play.talk("hi")
    assert play.of(ev.StageEntered)[0].at - play.of(ev.SessionStarted)[0].at == timedelta(seconds=2)
    assert failures(play) == ["onEnter: Cancelled: the action took too long."]
    assert play.replies == ["Hello."]
    check(play)


@pytest.mark.parametrize("hook", HOOKS)
@in_virtual_time
async def test_a_timers_move_is_made_although_a_hook_hangs(hook: str) -> None:
    silence = {"type": "timeout", "durationMs": 5000}
    play = Play(desk(hook, condition=silence, phase1TimeoutMs=2000), slow={"stock": HOUR})
    await play.session.start()
    await asyncio.sleep(5)
    await play.session.tick()
    assert play.session.state.frames[-1].stage == "b"
    assert play.of(ev.StageEntered)[1].at - play.of(ev.StageEntered)[0].at == timedelta(seconds=7)
    check(play)


@in_virtual_time
async def test_the_actions_after_one_that_hangs_are_done() -> None:
    entering = [*ACTION, {"set": {"ready": "true"}}, *ACTION]
    stages = [stage("a"), stage("b", tools=[STOCK], onEnter=entering)]
    document = playbook(stages, [rule("t", "a", "b", says("go"))], options={"phase1TimeoutMs": 1000})
    play = Play(document, [{"text": "go"}], slow={"stock": HOUR})
    await play.talk("hi")
    assert play.session.state.variables == {"ready": True}
    assert len(failures(play)) == 2
    assert play.replies == ["go"]


@in_virtual_time
async def test_stop_ends_a_start_that_waits_for_a_hook() -> None:
    first = playbook([stage("a", tools=[STOCK], onEnter=ACTION)])
    play = Play(first, [{"text": "Hello."}], slow={"stock": HOUR})
    starting = asyncio.create_task(play.session.start())
    await asyncio.sleep(1)
    await play.session.stop()
    await starting
    await play.session.send("hi")
    assert play.replies == ["Hello."]
    check(play)


def check(play: Play) -> None:
    """The log is whole; results of actions are no results of the model's calls."""
    log = play.memory.events
    actions = [e.call_id for e in play.of(ev.ToolCallStart) if e.call_id.startswith("action:")]
    done = [e.call_id for e in play.of(ev.ToolCallComplete) if e.call_id.startswith("action:")]
    assert actions == done
    play.memory.events[:] = [e for e in log if not getattr(e, "call_id", "").startswith("action:")]
    asked = [call.call_id for event in play.of(ev.LLMCallCompleted) for call in event.message.tool_calls]
    assert [event.call_id for event in play.of(ev.ToolCallComplete)] == asked
