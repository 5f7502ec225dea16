"""`manage.py chat FILE`: talk to a playbook in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand

from builder.management.files import UnusableFile, read_agent_files, read_playbook
from builder.management.terminal import leave_quietly, speak_utf8
from runtime.llm.base import LLMError
from runtime.llm.source import Connections
from runtime.playbook import LLMConfig, Playbook
from runtime.runner.clock import SystemClock
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session
from runtime.runner.terminal.chat import TerminalChat
from runtime.runner.terminal.lines import TypedLines
from runtime.runner.wording import printable
from runtime.tools import ToolBox
from runtime.wiring import make_connections

UNUSABLE: Final = 2


class Command(BaseCommand):
    help = (
        "A chat with a playbook in the terminal. Without a key the rehearsal model answers; nothing is "
        "stored. Commands: /stage /window /vars /retry /help /quit."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a playbook file")
        parser.add_argument(
            "--agent",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="a playbook that may be called as an agent; it is found by its id (repeatable)",
        )
        parser.add_argument(
            "--model",
            metavar="ID",
            help="the model of every stage: CONNECTION/MODEL, a model, or `rehearsal`",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            agents = read_agent_files(options["agent"])
            playbook = read_playbook(options["file"], agents)
            llms = connections()
            for problem in llms.problems:
                self.stderr.write(f"{llms.file.path}: {problem}")
            if options["model"]:
                llms.get(LLMConfig(), options["model"])
        except (UnusableFile, LLMError) as failure:
            self.stderr.write(str(failure))
            sys.exit(UNUSABLE)
        speak_utf8()
        try:
            asyncio.run(talk(playbook, agents, llms, options["model"]))
        except BrokenPipeError:
            leave_quietly()


def connections() -> Connections:
    """The models of this environment; the rehearsal pauses between words for people only."""
    return make_connections(settings.STUDIO.rehearsal_delay_ms / 1000 if sys.stdout.isatty() else 0.0)


async def talk(
    playbook: Playbook, agents: Mapping[str, Playbook], llms: Connections, model: str | None
) -> None:
    """The whole chat."""
    session = Session(
        playbook,
        llms=llms,
        tools=ToolBox(),
        store=MemoryStore(),
        clock=SystemClock(),
        session_id="terminal",
        agents=agents,
    )
    if model:
        await session.use(model=model)
    chat = TerminalChat(session, TypedLines(typed if sys.stdin.isatty() else piped), write)
    write(f"{printable(playbook.name)} · /help lists the commands\n")
    stopping: set[asyncio.Task[None]] = set()
    with contextlib.suppress(NotImplementedError):  # Windows: Ctrl+C ends the chat
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGINT, lambda: stopping.add(asyncio.create_task(chat.stop()))
        )
    try:
        await chat.run()
    finally:
        await session.aclose()
        await llms.aclose()


def typed(prompt: str) -> str | None:
    """A line of a person, with the terminal's own editing."""
    try:
        return input(prompt)
    except EOFError:
        write("\n")
        return None


def piped(prompt: str) -> str | None:
    """A line of a file or a pipe, repeated so that the output reads as a conversation."""
    line = sys.stdin.readline()
    if not line:
        return None
    write(prompt + line.rstrip("\n") + "\n")
    return line.rstrip("\n")


def write(text: str) -> None:
    """Shows text at once, piece by piece."""
    sys.stdout.write(text)
    sys.stdout.flush()
