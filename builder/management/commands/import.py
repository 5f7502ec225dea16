"""`manage.py import FILE`: shows what a file holds and what became of it; saves it only when told to."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from builder import drafts
from builder.companions import Companion, create_with, replace_with
from builder.management.documents import read, saved
from builder.management.terminal import speak_utf8
from builder.models import SavedPlaybook
from builder.transfer.companions import LoadedTogether, unloaded

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
        together = unloaded(read(file))
        if not options["json"]:
            self.stdout.write(as_text(file, together))
        row, came = stored(together, file, options)
        self.stdout.write(as_json(together, row, came) if options["json"] else outcome(together, row, came))
        if together.document is None:
            sys.exit(REFUSED)


def stored(
    together: LoadedTogether, file: Path, options: Mapping[str, Any]
) -> tuple[SavedPlaybook | None, list[Companion]]:
    """What became of it where it is to be saved, and the playbooks that came with it."""
    if together.document is None or not (options["into"] or options["save"]):
        return None, []
    if not options["into"]:
        return create_with(owner(options["owner"]), together.document, together.agents)
    row = saved(options["into"])
    author = User.objects.get(pk=row.owner_id)
    note = f"Before the import of {file.name}"
    try:
        came = replace_with(row, row.revision, together.document, together.agents, note, author)
    except drafts.Stale:
        raise CommandError(f"“{row.name}” was changed in the meantime. Nothing was saved.") from None
    return row, came


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


def as_text(file: Path, loaded: LoadedTogether) -> str:
    """What the file holds, and one line for each entry of the report."""
    lines = [f"{e.level}: {e.path or 'the file'}: {e.message} [{e.code}]" for e in loaded.report]
    if loaded.document is None:
        return "\n".join([f"{file} cannot be imported.", *lines])
    stages, rules = len(loaded.document["stages"]), len(loaded.document.get("transitions") or ())
    head = [f"“{loaded.document['name']}”: {stages} stages, {rules} transitions."]
    head += [f"In it is what it calls as an agent: “{agent['name']}”." for agent in loaded.agents.values()]
    return "\n".join([*head, *lines])


def outcome(loaded: LoadedTogether, row: SavedPlaybook | None, came: Sequence[Companion]) -> str:
    """What was saved."""
    if row is not None:
        lines = [f"Saved as “{row.name}” ({row.pk})."]
        lines += [f"It calls “{one.row.name}” ({one.row.pk}), {_how(one)}." for one in came]
        return "\n".join(lines)
    hint = "" if loaded.document is None else " --save makes a playbook of it."
    return f"Nothing was saved.{hint}"


def _how(companion: Companion) -> str:
    return "which was saved as well" if companion.created else "which was there already, unchanged"


def as_json(loaded: LoadedTogether, row: SavedPlaybook | None, came: Sequence[Companion]) -> str:
    """`report`; `playbook`: the id of what was saved, or null; `agents`: the ids of those that it calls."""
    answer = {
        "report": [entry.model_dump(mode="json") for entry in loaded.report],
        "playbook": str(row.pk) if row else None,
        "agents": [str(one.row.pk) for one in came],
    }
    return json.dumps(answer, ensure_ascii=False, indent=2)
