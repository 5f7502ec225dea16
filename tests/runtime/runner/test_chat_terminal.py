"""The chat in the terminal: what is typed, what is written, commands, stops, timers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from runtime.context.models import ModelRecord, record
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.scripted import ScriptedLLM
from runtime.llm.source import Connections
from runtime.playbook import LLMConfig, Playbook
from runtime.runner.clock import SystemClock
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Clock, LLMSource
from runtime.runner.replay.script import START
from runtime.runner.session import Session
from runtime.runner.terminal.chat import TerminalChat
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox
from tests.runtime.desk import desk, playbook, rule, says, stage
from tests.support.replays import asks, to, tool


class GivenLines:
    """Lines that the test types; a number is a pause of so many seconds before the next line."""

    def __init__(self, lines: Sequence[str | float]) -> None:
        self._lines = list(lines)

    async def next(self, prompt: str) -> str | None:
        pauses = list(takewhile(lambda line: isinstance(line, float), self._lines))
        del self._lines[: len(pauses)]
        await asyncio.sleep(sum(map(float, pauses)))
        return str(self._lines.pop(0)) if self._lines else None


class Always:
    """The same model for every stage."""

    def __init__(self, *outputs: dict[str, Any]) -> None:
        self.llm = ScriptedLLM(outputs, provider="anthropic")

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[ScriptedLLM, ModelRecord]:
        return self.llm, record("claude-sonnet-5")


class Screen:
    """What was written."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def chat_on(
    document: Playbook, llms: LLMSource, lines: Sequence[str | float], screen: Screen, clock: Clock
) -> TerminalChat:
    tools = ToolBox(clock.sleep)
    session = Session(document, llms=llms, tools=tools, store=MemoryStore(), clock=clock, session_id="s")
    return TerminalChat(session, GivenLines(lines), screen.write)


def talked(document: Playbook, *lines: str | float, outputs: Sequence[dict[str, Any]] = ()) -> list[str]:
    """The lines on the screen after all that was typed."""
    screen = Screen()

    async def main() -> None:
        await chat_on(document, Always(*outputs), lines, screen, VirtualClock(START)).run()

    run_virtual(main)
    return screen.lines


def test_a_reply_has_the_name_of_who_speaks_and_tools_and_moves_are_quiet_lines() -> None:
    lines = talked(
        desk(),
        "a red one",
        outputs=[
            asks(to("c1", "pick")),
            asks(tool("c2", "stock", kind="red")),
            {"chunks": ["We ", "have two."]},
        ],
    )
    assert lines == [
        "  · stage greet",
        "  · move greet → pick by t-pick: The model asked for it.",
        "  · stage pick",
        '  · tool stock {"kind": "red"}',
        '  · result stock → {"free": 2}',
        "claude-sonnet-5> We have two.",
    ]


async def test_without_a_key_the_rehearsal_answers_and_says_that_it_is_no_model() -> None:
    async def at_once(seconds: float) -> None:
        return None

    screen = Screen()
    llms = Connections({}, rehearsal=RehearsalLLM(sleep=at_once))
    await chat_on(desk(), llms, ["hello"], screen, SystemClock()).run()
    assert screen.lines[1].startswith("rehearsal (no model)> ")


def test_the_window_shows_each_segment_with_its_tokens_and_the_cache_points() -> None:
    usage = {"fresh": 10, "read": 2000, "output": 5}
    document = desk(globalSystemPrompt="Be brief, friendly and exact with every rider. " * 200)
    lines = talked(document, "hi", "/window", outputs=[{"text": "Hello.", "usage": usage}])
    table = lines[lines.index("call 1 · greet · claude-sonnet-5 · append layout") :]
    assert [line.split()[1] for line in table[1:4]] == ["tools", "base", "dialogue"]
    assert any("◆1" in line for line in table)
    assert table[-1].startswith("billed     2,000 read, 0 written, 10 fresh, 5 out, cost $")


def test_the_window_before_any_call_says_so() -> None:
    assert talked(desk(), "/window")[-1] == "No model was called yet."


def test_stage_tells_where_the_conversation_stands_in_each_frame() -> None:
    call = rule("t-call", "talk", "seat", {"type": "llm_decision"}, mode="call")
    document = playbook([stage("talk"), stage("seat")], [call])
    lines = talked(document, "hi", "/stage", outputs=[asks(to("c1", "seat")), {"text": "Which seat?"}])
    assert lines[-2:] == ["Talk (talk), 0 answered here", "  Seat (seat), 1 answered here"]


def test_vars_shows_the_variables_as_json() -> None:
    document = desk(variables=[{"name": "city", "default": "Pune"}])
    assert "".join(talked(document, "/vars")[1:]) == '{  "city": "Pune"}'


def test_quit_leaves_what_follows_unsaid() -> None:
    assert talked(desk(), "/quit", "hi") == ["  · stage greet"]


def test_help_lists_every_command() -> None:
    shown = "\n".join(talked(desk(), "/help"))
    assert all(f"{name} " in shown for name in ("/stage", "/window", "/vars", "/retry", "/help", "/quit"))


def test_an_unknown_command_is_answered_and_not_sent() -> None:
    assert talked(desk(), "/windows")[-1] == "There is no command /windows; /help lists them."


def test_two_slashes_begin_a_message_with_one() -> None:
    screen = Screen()
    llms = Always({"text": "Fine."})

    async def main() -> None:
        await chat_on(desk(), llms, ["//etc/hosts"], screen, VirtualClock(START)).run()

    run_virtual(main)
    said = [s.text for s in llms.llm.requests[0].window.segments if s.kind == "dialogue"]
    assert said == ["/etc/hosts"]


def test_blank_lines_are_not_sent() -> None:
    assert talked(desk(), "", "   ") == ["  · stage greet"]


DOWN = {"error": {"type": "invalid_request_error", "status": 400}}


def test_a_failed_turn_says_what_happened_and_retry_takes_it_up() -> None:
    lines = talked(desk(), "hi", "/retry", "/retry", outputs=[DOWN, {"text": "Hello."}])
    assert lines[1].startswith("  · failed: The provider refuses the request.")
    assert lines[2:] == ["claude-sonnet-5> Hello.", "The last turn did not fail."]


def test_text_that_is_taken_back_is_followed_by_a_clean_reply() -> None:
    broken = {"chunks": ["Our bikes "], "error": {"status": 529, "after_chunks": 1}}
    lines = talked(desk(), "hi", outputs=[broken, {"text": "They are blue."}])
    assert lines[1:3] == ["claude-sonnet-5> Our bikes ", "  · the text above is withdrawn"]
    assert lines[3].startswith("  · The provider is overloaded or has a fault just now. Trying again in 1")
    assert lines[4:] == ["claude-sonnet-5> They are blue."]


def test_a_message_after_the_end_is_answered_in_words() -> None:
    document = playbook([stage("a"), stage("b", kind="end")], [rule("t", "a", "b", says("bye"))])
    lines = talked(document, "hi", "more", outputs=[{"text": "Good bye."}])
    assert lines[-1] == "The session is complete; start a new one."


def test_a_timer_fires_while_nobody_types() -> None:
    idle = {"type": "timeout", "durationMs": 60_000, "since": "last_activity"}
    document = playbook([stage("a"), stage("b", speakOnEnter=True)], [rule("t", "a", "b", idle)])
    lines = talked(document, "hi", 59.0, "/stage", 90.0, outputs=[{"text": "Yes?"}, {"text": "Still there?"}])
    assert "A (a), 1 answered here" in lines
    assert lines[-1] == "claude-sonnet-5> Still there?"


def test_a_reply_cannot_steer_the_terminal() -> None:
    shown = "\n".join(talked(desk(), "hi", outputs=[{"text": "\x1b]0;owned\x07 👩‍🚀 ok"}]))
    assert "\x1b" not in shown
    assert "👩‍🚀 ok" in shown


def test_ctrl_c_stops_a_running_reply_and_the_chat_goes_on() -> None:
    screen = Screen()

    async def main() -> None:
        clock = VirtualClock(START)
        llms = Always({"chunks": ["Once ", "upon "], "hang": True}, {"text": "Gladly."})
        chat = chat_on(desk(), llms, ["tell me", "go on"], screen, clock)
        running = asyncio.create_task(chat.run())
        await asyncio.sleep(1)
        await chat.stop()
        await running
        await chat.stop()

    run_virtual(main)
    assert screen.lines[1:] == [
        "claude-sonnet-5> Once upon ",
        "  · stopped (stop)",
        "claude-sonnet-5> Gladly.",
        "(nothing runs; Ctrl+D or /quit leaves)",
    ]
