"""`manage.py validate FILE…`: the editor's checks for files, for people and for CI."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand

from builder.transfer import UnreadableJson, load
from builder.validation import Diagnostic, check
from builder.validation.diagnostics import error
from builder.validation.markdown import markdown
from builder.validation.report import report_of
from runtime.playbook import Playbook

CLEAN: Final = 0
FAULTY: Final = 1
UNUSABLE: Final = 2
STANDARD_INPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Examined:
    """One file: what is wrong with it, and the exit code that this means."""

    file: str
    diagnostics: list[Diagnostic]
    outcome: int
    playbook: Playbook | None = None


class Command(BaseCommand):
    help = (
        "Checks playbook files; - is standard input. "
        "Exit code 1: a playbook has errors; 2: a file could not be read."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="one JSON object with all diagnostics")
        form.add_argument("--report", action="store_true", help="a report on the graph, in Markdown")

    def handle(self, *args: Any, files: list[str], **options: Any) -> None:
        examined = [examine(file) for file in files]
        if options["json"]:
            shown = [
                {"file": one.file, "diagnostics": [d.model_dump(mode="json") for d in one.diagnostics]}
                for one in examined
            ]
            self.stdout.write(json.dumps({"files": shown}, ensure_ascii=False, indent=2))
        else:
            for one in examined:
                self.stdout.write(_report(one) if options["report"] else readable(one))
        code = max(one.outcome for one in examined)
        if code:
            sys.exit(code)


def examine(file: str) -> Examined:
    """Reads and checks one file."""
    try:
        loaded = load(_read(file))
    except OSError as failure:
        return Examined(
            file, [error("unreadable-file", f"Cannot be read: {failure.strerror}.", "")], UNUSABLE
        )
    except UnreadableJson as failure:
        return Examined(file, [error("bad-json", str(failure), "")], UNUSABLE)
    if loaded.playbook is None:
        return Examined(
            file, [error(entry.code, entry.message, entry.path) for entry in loaded.errors], FAULTY
        )
    # The document stays to the end: looking for garbage in a large one takes a third of the check.
    gc.freeze()
    try:
        diagnostics = check(loaded.playbook)
    finally:
        gc.unfreeze()
    faulty = any(diagnostic.severity == "error" for diagnostic in diagnostics)
    return Examined(file, diagnostics, FAULTY if faulty else CLEAN, loaded.playbook)


def _read(file: str) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    return Path(file).read_bytes()


def _report(one: Examined) -> str:
    if one.playbook is None:
        return readable(one)
    return markdown(report_of(one.playbook), f"{one.playbook.name} ({one.file})")


def readable(one: Examined) -> str:
    """The findings as a compiler would print them: file, place, severity, sentence, code."""
    if not one.diagnostics:
        return f"{one.file}: no problems"
    return "\n".join(
        f"{one.file}{d.path and '#' + d.path}: {d.severity}: {d.message} [{d.code}]" for d in one.diagnostics
    )
