"""Documents that a command is given by a word: a file, a saved playbook (`ID`), a version of it (`ID@3`)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from builder.models import SavedPlaybook
from builder.transfer import Loaded, UnreadableJson, load

Json = dict[str, Any]
UNUSABLE = 2


def from_word(word: str) -> Json:
    """A file if there is one of that name, else a saved playbook. Raises CommandError."""
    name, _, number = word.partition("@")
    if Path(word).exists() or not _is_id(name):
        return from_file(Path(word))
    return from_database(name, int(number) if number.isdigit() else None)


def from_file(file: Path) -> Json:
    """The document of a file. Raises CommandError for one that cannot be used."""
    loaded = read(file)
    if loaded.document is None:
        raise CommandError("\n".join(f"{file}#{e.path}: {e.message}" for e in loaded.errors))
    return loaded.document


def read(file: Path) -> Loaded:
    """What a file holds, with its report; `-` is the standard input. Raises CommandError for no JSON."""
    try:
        return load(sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes())
    except OSError as failure:
        raise CommandError(f"{file} cannot be read: {failure.strerror}.", returncode=UNUSABLE) from None
    except UnreadableJson as failure:
        raise CommandError(f"{file}: {failure}", returncode=UNUSABLE) from None


def saved(playbook: str) -> SavedPlaybook:
    """The row of a playbook that is not deleted. Raises CommandError for an unknown id."""
    row = SavedPlaybook.objects.filter(pk=playbook, deleted_at=None).first() if _is_id(playbook) else None
    if row is None:
        raise CommandError(f"There is no playbook with the id {playbook}.")
    return row


def from_database(playbook: str, number: int | None) -> Json:
    """The draft or a version of a saved playbook. Raises CommandError for an unknown one."""
    row = saved(playbook)
    if number is None:
        document: Json = row.document
        return document
    version = row.versions.filter(number=number).first()
    if version is None:
        raise CommandError(f"“{row.name}” has no version {number}.")
    kept: Json = version.document
    return kept


def _is_id(word: str) -> bool:
    try:
        UUID(word)
    except ValueError:
        return False
    return True
