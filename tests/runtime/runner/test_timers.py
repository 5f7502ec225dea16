"""Timers over a restart: what was set in one process is kept by the next, and fires once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.playbook import Playbook
from tests.runtime.desk import STOCK, playbook, rule, stage
from tests.runtime.runner.play import START, Play, calls, in_virtual_time

SILENCE: dict[str, Any] = {"type": "timeout", "durationMs": 60_000}


def waiting(**condition: Any) -> Playbook:
    """A stage that is left after a minute's silence, for one that asks."""
    stages = [stage("a", tools=[STOCK]), stage("b", speakOnEnter=True)]
    return playbook(stages, [rule("t", "a", "b", {**SILENCE, **condition})])


def restarted(before: Play, *outputs: dict[str, Any]) -> Play:
    """The same session in another process, which knows the log alone."""
    stored = [ev.EVENT.validate_json(ev.EVENT.dump_json(event)) for event in before.memory.events]
    return Play(before.session.playbook, outputs, state=fold("s", stored))


@pytest.mark.parametrize("down", [0.0, 20.0, 60.0, 9000.0])
@in_virtual_time
async def test_a_timer_survives_a_restart_and_fires_when_its_time_has_come(down: float) -> None:
    first = Play(waiting(), [])
    await first.session.start()
    await asyncio.sleep(10)
    await first.session.aclose()
    await asyncio.sleep(down)
    second = restarted(first, {"text": "Are you there?"})
    assert second.session.next_wake == START + timedelta(seconds=60)
    await second.session.tick()
    await asyncio.sleep(max(0.0, 50 - down))
    await second.session.tick()
    await second.session.tick()
    assert second.replies == ["Are you there?"]
    [moved] = second.of(ev.TransitionTriggered)
    assert moved.at == START + timedelta(seconds=max(60.0, 10 + down))
    assert second.session.next_wake is None


@in_virtual_time
async def test_the_pause_of_a_timer_during_a_turn_survives_a_restart() -> None:
    """30 s of silence, a turn of 40 s, a restart: 30 s are left."""
    outputs = [calls("stock", kind="city"), {"text": "ok"}]
    first = Play(waiting(), outputs, slow={"stock": 40.0})
    await first.session.start()
    await asyncio.sleep(30)
    await first.session.send("hm")
    assert first.of(ev.TurnComplete)[0].at == START + timedelta(seconds=70)
    assert restarted(first).session.next_wake == START + timedelta(seconds=100)


@in_virtual_time
async def test_a_timer_that_fired_before_the_restart_does_not_fire_after_it() -> None:
    first = Play(waiting(), [{"text": "Are you there?"}])
    await first.session.start()
    await asyncio.sleep(60)
    await first.session.tick()
    second = restarted(first)
    assert second.session.next_wake is None
    await asyncio.sleep(600)
    await second.session.tick()
    assert second.memory.events == []


@in_virtual_time
async def test_a_message_that_comes_before_the_timer_was_served_finds_the_stage_it_leads_to() -> None:
    """Nobody ticked; the message is answered where the conversation would be by now."""
    play = Play(waiting(), [{"text": "Yes?"}])
    await play.session.start()
    await asyncio.sleep(61)
    await play.session.send("I am back")
    assert play.of(ev.TurnComplete)[-1].stage == "b"
    await play.session.tick()
    assert len(play.of(ev.TransitionTriggered)) == 1
