"""`manage.py import FILE`: shows what a file holds and what became of it; saves it only when told to."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from builder import drafts
from builder.management.documents import read, saved
from builder.management.terminal import speak_utf8
from builder.models import SavedPlaybook
from builder.transfer import Loaded

REFUSED: Final = 1


class Command(BaseCommand):
    help = "Shows what a file holds and what became of it. With --save it becomes a new playbook."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the file, or - for the standard input")
        parser.add_argument("--save", action="store_true", help="save it as a new playbook")
        parser.add_argument("--into", metavar="ID", help="save it as the draft of this playbook instead")
        parser.add_argument(
            "--owner", metavar="NAME", help="whose it becomes, where there are several people"
        )
        parser.add_argument("--json", action="store_true", help="the report as one JSON object")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        speak_utf8()
        loaded = read(file)
        if not options["json"]:
            self.stdout.write(as_text(file, loaded))
        row = None
        if loaded.document is not None and options["into"]:
            row = replaced(saved(options["into"]), loaded.document, file)
        elif loaded.document is not None and options["save"]:
            row = drafts.create(owner(options["owner"]), loaded.document)
        self.stdout.write(as_json(loaded, row) if options["json"] else outcome(loaded, row))
        if loaded.document is None:
            sys.exit(REFUSED)


def replaced(row: SavedPlaybook, document: dict[str, Any], file: Path) -> SavedPlaybook:
    """The draft there was is kept as a version."""
    author = User.objects.get(pk=row.owner_id)
    try:
        drafts.replace(row, row.revision, document, f"Before the import of {file.name}", author)
    except drafts.Stale:
        raise CommandError(f"“{row.name}” was changed in the meantime. Nothing was saved.") from None
    return row


def owner(name: str | None) -> User:
    """The person of that name, or the only one there is. Raises CommandError."""
    found = User.objects.filter(username=name) if name else User.objects.all()
    people = list(found[:2])
    if len(people) == 1:
        return people[0]
    if name:
        raise CommandError(f"There is nobody with the name {name}.")
    if people:
        raise CommandError("There are several people: name one with --owner.")
    raise CommandError("There is nobody yet: run `manage.py up` first.")


def as_text(file: Path, loaded: Loaded) -> str:
    """What the file holds, and one line for each entry of the report."""
    lines = [f"{e.level}: {e.path or 'the file'}: {e.message} [{e.code}]" for e in loaded.report]
    if loaded.playbook is None:
        return "\n".join([f"{file} cannot be imported.", *lines])
    stages, rules = len(loaded.playbook.stages), len(loaded.playbook.transitions)
    return "\n".join([f"“{loaded.playbook.name}”: {stages} stages, {rules} transitions.", *lines])


def outcome(loaded: Loaded, row: SavedPlaybook | None) -> str:
    """What was saved."""
    if row is not None:
        return f"Saved as “{row.name}” ({row.pk})."
    hint = "" if loaded.document is None else " --save makes a playbook of it."
    return f"Nothing was saved.{hint}"


def as_json(loaded: Loaded, row: SavedPlaybook | None) -> str:
    """`report`, and `playbook`: the id of what was saved, or null."""
    report = [entry.model_dump(mode="json") for entry in loaded.report]
    return json.dumps(
        {"report": report, "playbook": str(row.pk) if row else None}, ensure_ascii=False, indent=2
    )
