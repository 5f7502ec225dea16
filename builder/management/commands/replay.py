"""`manage.py replay PLAYBOOK SCRIPT`: plays a script through the real engine; for tests and bug reports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

from django.core.management.base import BaseCommand

from builder.management.files import UnusableFile, read_agents, read_playbook, read_script
from builder.management.terminal import leave_quietly, speak_utf8
from runtime.runner.replay.model import ANTHROPIC, DEFAULT_MODEL
from runtime.runner.replay.player import Outcome, play
from runtime.runner.replay.report import Item, json_line
from runtime.runner.replay.transcript import transcript_lines

WENT_OTHERWISE: Final = 1
UNUSABLE: Final = 2
LATER_WIRES: Final = ("openai", "openai-chat")


class Command(BaseCommand):
    help = (
        "Plays a script of user messages, model outputs and tool results through the real engine: no "
        "network, no database, no waiting. Exit code 1: a turn went otherwise than the script says; 2: a "
        "file could not be used."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("playbook", type=Path, metavar="PLAYBOOK", help="a playbook file")
        parser.add_argument("script", type=Path, metavar="SCRIPT", help="a replay script (docs/replay.md)")
        parser.add_argument(
            "--json", action="store_true", help="one JSON object a line: events, calls, the end"
        )
        parser.add_argument(
            "--wire",
            choices=(ANTHROPIC, *LATER_WIRES),
            default=ANTHROPIC,
            help="whose requests are rendered (default: %(default)s)",
        )
        parser.add_argument(
            "--model",
            default=DEFAULT_MODEL,
            metavar="ID",
            help="for stages that name none (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["wire"] in LATER_WIRES:
            self.refuse(f"--wire {options['wire']} comes with the release that brings that provider.")
        try:
            script = read_script(options["script"])
            agents = read_agents(options["script"], script)
            playbook = read_playbook(options["playbook"], agents)
        except UnusableFile as failure:
            self.refuse(str(failure))
        speak_utf8()
        lines = json_lines if options["json"] else transcript_lines
        try:
            outcome = play(
                playbook,
                script,
                lambda item: self.print(lines(item)),
                model=options["model"],
                agents=agents,
            )
            self.stdout.flush()
        except BrokenPipeError:
            leave_quietly()
        self.conclude(outcome)

    def print(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)

    def conclude(self, outcome: Outcome) -> None:
        for problem in outcome.problems:
            self.stderr.write(problem)
        if outcome.unused:
            outputs = "output of the script was" if outcome.unused == 1 else "outputs of the script were"
            self.stderr.write(f"{outcome.unused} model {outputs} not asked for.")
        if outcome.problems:
            sys.exit(WENT_OTHERWISE)

    def refuse(self, sentence: str) -> NoReturn:
        self.stderr.write(sentence)
        sys.exit(UNUSABLE)


def json_lines(item: Item) -> tuple[str, ...]:
    return (json_line(item),)
