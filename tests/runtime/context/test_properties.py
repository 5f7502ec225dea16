"""Any session: nothing sent changes without a log entry, every request is valid, same inputs same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.models import record
from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.conversation.messages import ToolCall
from runtime.llm.anthropic_wire import render_anthropic
from tests.runtime.context.talk import Talk, call, playbook
from tests.runtime.llm.requests import request_of
from tests.runtime.llm.valid import problems, problems_elsewhere
from tests.support.examples import a_share

ACTIONS = (
    "reply",
    "blank",
    "tools",
    "broken",
    "interrupt",
    "cut",
    "fail",
    "retry",
    "goto",
    "call",
    "return",
    "late_return",
    "set",
    "clear",
    "late_clear",
    "inject",
    "speak",
    "tail",
)
MODELS = ("claude-sonnet-5", "claude-opus-5", "claude-opus-5-5", "rehearsal")


class Player:
    """Turns a list of actions into a session, as the engine would log it."""

    def __init__(self, model: str, layout: str) -> None:
        book = playbook(
            context={"layout": layout, "fullStateInterval": 2}, globalSystemPrompt="Be kind. " * 300
        )
        self.talk = Talk(book, record(model)).start("pick")
        self.number = 0

    def play(self, action: str) -> None:
        self.number += 1
        getattr(self, f"do_{action}")(f"c{self.number}")

    def ask(self, **more: Any) -> None:
        self.talk.ask(**more)

    def do_reply(self, name: str) -> None:
        self.talk.turn(f"say {name}")
        self.ask()
        self.talk.says("yes", thinking="hm").end("yes")

    def do_blank(self, name: str) -> None:
        self.talk.turn(f"say {name}")
        self.ask()
        self.talk.says(" ").end()

    def do_tools(self, name: str) -> None:
        self.talk.turn("look")
        self.ask()
        self.talk.says(thinking="hm", calls=[call(name + "a", kind="x"), call(name + "b", kind="y")])
        self.talk.result(name + "b", "stock", {"free": 1}).result(name + "a", "stock", error="closed")
        self.ask()
        self.talk.says("two").end("two")

    def do_broken(self, name: str) -> None:
        self.talk.turn("look")
        self.ask()
        self.talk.says(calls=[ToolCall(call_id=name, name="stock", arguments=None, raw="{")])
        self.talk.result(name, "stock", error="not JSON")
        self.ask()
        self.talk.says("sorry").end("sorry")

    def do_interrupt(self, name: str) -> None:
        self.talk.turn("one")
        self.ask()
        self.talk.add(ev.TurnInterrupted, stage="pick", shown_text="The ", reason="stop")

    def do_cut(self, name: str) -> None:
        self.talk.turn("one")
        self.ask()
        self.talk.says(calls=[call(name, kind="x")])
        self.talk.add(ev.TurnInterrupted, stage="pick", shown_text="", reason="process_died")

    def do_fail(self, name: str) -> None:
        self.talk.turn("one")
        self.ask()
        self.talk.add(ev.LLMCallFailed, call=self.talk.state.calls, error="busy")
        self.talk.add(ev.TurnFailed, stage="pick", code="overloaded", message="busy")

    def do_retry(self, name: str) -> None:
        self.do_fail(name)
        self.talk.turn(cause="retry")
        self.ask()
        self.talk.says("now").end("now")

    def do_goto(self, name: str) -> None:
        self.talk.turn("on")
        self.ask()
        self._move(name, "greet")
        self.talk.enter("greet" if self.number % 2 else "pick")
        self.ask()
        self.talk.says("here").end("here")

    def do_call(self, name: str) -> None:
        self.talk.turn("down")
        self.ask()
        self._move(name, "seat")
        self.talk.call_frame("seat", "f" + name)
        self.ask()
        self.talk.says("which?").end("which?")

    def do_return(self, name: str) -> None:
        self.talk.turn("back")
        self.ask()
        self._move(name, "return")
        if len(self.talk.state.frames) > 1:
            self.talk.pop({"seat": name})
        self.ask()
        self.talk.says("back").end("back")

    def do_late_return(self, name: str) -> None:
        self.do_reply(name)
        if len(self.talk.state.frames) > 1:
            self.talk.pop(name, "done")

    def _move(self, name: str, target: str) -> None:
        self.talk.says(calls=[call(name, "playbook_transition", targetStage=target)])
        self.talk.result(name, "playbook_transition", {"movedTo": target})

    def do_set(self, name: str) -> None:
        self.talk.set(**{name: self.number, "_hidden": name}).delete(f"c{self.number - 3}")

    def do_clear(self, name: str) -> None:
        self.talk.turn("forget")
        self.ask()
        self._move(name, "pick")
        self._clear()
        self.ask()
        self.talk.says("new").end("new")

    def do_late_clear(self, name: str) -> None:
        self.do_reply(name)
        self._clear()

    def _clear(self) -> None:
        self.talk.add(ev.TransitionTriggered, from_stage="pick", to_stage="pick", clear_history=True)
        self.talk.enter("pick")

    def do_inject(self, name: str) -> None:
        self.talk.user(f"note {name}", injected=True)

    def do_speak(self, name: str) -> None:
        self.talk.turn(cause="timer")
        self.ask()
        self.talk.says("still there?").end("still there?")

    def do_tail(self, name: str) -> None:
        self.talk.turn("one")
        self.ask()
        self.talk.says("forgot")
        self.ask(tail="Answer now.")
        self.talk.says("yes").end("yes")


def played(actions: list[str], model: str, layout: str) -> Talk:
    player = Player(model, layout)
    for action in actions:
        player.play(action)
    player.do_reply("end")
    return player.talk


sessions = st.lists(st.sampled_from(ACTIONS), max_size=9)


@a_share(Fraction(3, 5))
@given(sessions, st.sampled_from(MODELS), st.sampled_from(["append", "swap"]))
def test_every_request_of_any_session_is_valid_and_keeps_what_was_sent(
    actions: list[str], model: str, layout: str
) -> None:
    player = Player(model, layout)
    for action in [*actions, "reply"]:
        sent = len(player.talk.windows)
        player.play(action)
        if len(player.talk.windows) > sent:
            request = request_of(player.talk)
            assert problems(render_anthropic(request, player.talk.model)) == []
            assert problems_elsewhere(request) == []


@a_share(Fraction(3, 10))
@given(sessions)
def test_no_word_of_either_side_is_lost_without_a_logged_rewriting(actions: list[str]) -> None:
    talk = played(actions, "claude-sonnet-5", "append")
    if any(rewrite.rule == "clear" for rewrite in talk.rewrites):
        return
    last = talk.windows[-1]
    stood_for = {gone for s in last.segments if s.replaced for gone in s.replaced.segments}
    present = {segment.id for segment in last.segments}
    for segment in (s for window in talk.windows for s in window.segments if s.kind == "dialogue"):
        assert (
            segment.id in present
            or segment.id in talk.state.windows.agent().replaced
            or segment.id in stood_for
        )


@a_share(Fraction(3, 10))
@given(sessions)
def test_ids_are_unique_and_private_names_never_sent(actions: list[str]) -> None:
    talk = played(actions, "claude-sonnet-5", "append")
    for window in talk.windows:
        ids = [segment.id for segment in window.segments]
        assert len(ids) == len(set(ids))
        assert not any("_hidden" in segment.text for segment in window.segments)


@a_share(Fraction(1, 5))
@given(sessions)
def test_a_state_read_back_from_its_log_builds_the_same_window(actions: list[str]) -> None:
    talk = played(actions, "claude-sonnet-5", "append")
    stored = [ev.EVENT.validate_json(ev.EVENT.dump_json(event)) for event in talk.log]
    again = Talk(talk.playbook, talk.model, now=talk.now)
    again.state = fold("s", stored)
    again.turn("next")
    talk.turn("next")
    assert again.ask() == talk.ask()
    assert again.plans[-1] == talk.plans[-1]


@a_share(Fraction(1, 5))
@given(sessions)
def test_what_is_predicted_adds_up_to_the_window(actions: list[str]) -> None:
    talk = played(actions, "claude-sonnet-5", "append")
    for window, plan in zip(talk.windows, talk.plans, strict=True):
        predicted = plan.predicted
        assert predicted.read + predicted.write5m + predicted.write1h + predicted.fresh == window.tokens
        assert len(plan.points) <= 4


def rendered() -> str:
    """The bodies of a session with a bit of everything."""
    player = Player("claude-sonnet-5", "append")
    bodies = []
    for action in ACTIONS * 2:
        player.play(action)
        bodies.append(
            render_anthropic(request_of(player.talk), player.talk.model) if player.talk.windows else {}
        )
    return json.dumps(bodies, sort_keys=False)


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_another_process_sends_the_same_bytes(seed: str) -> None:
    code = "from tests.runtime.context.test_properties import rendered; print(rendered())"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ".", "PYTHONUTF8": "1"}
    other = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert other.stdout.strip() == rendered()
