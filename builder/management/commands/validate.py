"""`manage.py validate FILE…`: the editor's checks for files, for people and for CI."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand

from builder.transfer import UnreadableJson, load
from builder.validation import Diagnostic, check
from builder.validation.diagnostics import error

CLEAN: Final = 0
FAULTY: Final = 1
UNUSABLE: Final = 2


class Command(BaseCommand):
    help = "Checks playbook files. Exit code 1: a playbook has errors; 2: a file could not be read."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--json", action="store_true", help="one JSON object with all diagnostics")

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        results = [(file, *examine(file)) for file in files]
        if options["json"]:
            shown = [
                {"file": str(file), "diagnostics": [d.model_dump(mode="json") for d in diagnostics]}
                for file, diagnostics, _ in results
            ]
            self.stdout.write(json.dumps({"files": shown}, ensure_ascii=False, indent=2))
        else:
            for file, diagnostics, _ in results:
                self.stdout.write(readable(file, diagnostics))
        code = max(outcome for _, _, outcome in results)
        if code:
            sys.exit(code)


def examine(file: Path) -> tuple[list[Diagnostic], int]:
    """What is wrong with the file, and the exit code that this means."""
    try:
        loaded = load(file.read_bytes())
    except OSError as failure:
        return [error("unreadable-file", f"Cannot be read: {failure.strerror}.", "")], UNUSABLE
    except UnreadableJson as failure:
        return [error("bad-json", str(failure), "")], UNUSABLE
    if loaded.playbook is None:
        return [error(entry.code, entry.message, entry.path) for entry in loaded.errors], FAULTY
    diagnostics = check(loaded.playbook)
    return diagnostics, FAULTY if any(d.severity == "error" for d in diagnostics) else CLEAN


def readable(file: Path, diagnostics: list[Diagnostic]) -> str:
    """The findings as a compiler would print them: file, place, severity, sentence, code."""
    if not diagnostics:
        return f"{file}: no problems"
    return "\n".join(
        f"{file}{d.path and '#' + d.path}: {d.severity}: {d.message} [{d.code}]" for d in diagnostics
    )
