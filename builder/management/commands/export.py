"""`manage.py export`: a saved playbook, or any playbook file, in its canonical form or in another format."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from builder.companions import with_agents
from builder.management.documents import UNUSABLE, from_database, from_file, saved
from builder.models import SavedPlaybook
from builder.transfer.exporters import BY_KEY, write


class Command(BaseCommand):
    help = "Prints a playbook as a file: fixed key order, no secrets, the same bytes every time."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("playbook", nargs="?", metavar="ID", help="id of a saved playbook")
        source.add_argument("--file", type=Path, help="a playbook file, or - for the standard input")
        parser.add_argument("--version", type=int, dest="number", help="a version of it instead of the draft")
        parser.add_argument(
            "--format", choices=list(BY_KEY), default="json", dest="key", help="what to write"
        )
        parser.add_argument("--output", type=Path, help="write there instead of to the terminal")

    # Django's own option of that name prints Django's version.
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        file, output = options["file"], options["output"]
        document = from_file(file) if file else from_database(options["playbook"], options["number"])
        if not file and options["key"] == "json":
            mine = SavedPlaybook.objects.filter(owner=saved(options["playbook"]).owner_id)
            document = with_agents(mine, document)
        written = write(document, options["key"])
        for entry in written.report:
            self.stderr.write(f"{entry.level}: {entry.path}: {entry.message} [{entry.code}]")
        if output:
            write_file(output, written.data)
        else:
            sys.stdout.buffer.write(written.data)


def write_file(output: Path, data: bytes) -> None:
    """Raises CommandError where nothing can be written."""
    try:
        output.write_bytes(data)
    except OSError as failure:
        raise CommandError(f"{output} cannot be written: {failure.strerror}.", returncode=UNUSABLE) from None
