"""Errors about documents. They say what the author can do, and where, by JSON pointers into the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class PlaybookError(Exception):
    """Something is wrong with a document or what it refers to. `message` is a sentence for a person."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault. `path` is a JSON pointer into the document."""

    path: str
    message: str
    code: str


class InvalidPlaybook(PlaybookError):
    """A document that cannot be used as it is; `problems` has at least one entry, in document order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(
            problems[0].message if len(problems) == 1 else f"{len(problems)} faults in the playbook"
        )
        self.problems = tuple(problems)


class UnknownTool(PlaybookError):
    """A tool that nothing defines."""
