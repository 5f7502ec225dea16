"""`manage.py export`: a saved playbook, or any playbook file, in its canonical form."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from builder.models import SavedPlaybook
from builder.transfer import UnreadableJson, export, load


class Command(BaseCommand):
    help = "Prints a playbook as a file: fixed key order, no secrets, the same bytes every time."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("playbook", nargs="?", metavar="ID", help="id of a saved playbook")
        source.add_argument("--file", type=Path, help="a playbook file to bring into canonical form")
        parser.add_argument("--version", type=int, dest="number", help="a version of it instead of the draft")
        parser.add_argument("--output", type=Path, help="write there instead of to the terminal")

    # Django's own option of that name prints Django's version.
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        file, output = options["file"], options["output"]
        document = from_file(file) if file else from_database(options["playbook"], options["number"])
        data = export(document)
        if output:
            write(output, data)
        else:
            sys.stdout.buffer.write(data)


def write(output: Path, data: bytes) -> None:
    """Raises CommandError where nothing can be written."""
    try:
        output.write_bytes(data)
    except OSError as failure:
        raise CommandError(f"{output} cannot be written: {failure.strerror}.", returncode=2) from None


def from_file(file: Path) -> dict[str, Any]:
    """The document of a file. Raises CommandError for one that cannot be used."""
    try:
        loaded = load(file.read_bytes())
    except OSError as failure:
        raise CommandError(f"{file} cannot be read: {failure.strerror}.", returncode=2) from None
    except UnreadableJson as failure:
        raise CommandError(f"{file}: {failure}", returncode=2) from None
    if loaded.document is None:
        raise CommandError("\n".join(f"{file}#{e.path}: {e.message}" for e in loaded.errors))
    return loaded.document


def from_database(playbook: str, number: int | None) -> dict[str, Any]:
    """The draft or a version of a saved playbook. Raises CommandError for an unknown one."""
    try:
        row = SavedPlaybook.objects.filter(pk=UUID(playbook), deleted_at__isnull=True).first()
    except ValueError:
        row = None
    if row is None:
        raise CommandError(f"There is no playbook with the id {playbook}.")
    if number is None:
        document: dict[str, Any] = row.document
        return document
    version = row.versions.filter(number=number).first()
    if version is None:
        raise CommandError(f"“{row.name}” has no version {number}.")
    kept: dict[str, Any] = version.document
    return kept
