"""Brings documents of older formats up to today's: one pure function per number.

A change of format is a number, a function here and a test with an old file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from builder.transfer.report import ReportEntry
from runtime.playbook import FORMAT_VERSION

Upgrade = Callable[[dict[str, Any]], Iterable[ReportEntry]]

UPGRADES: Mapping[int, Upgrade] = {}
"""From the format of that number to the next; changes the document in place. Version 1 is the first."""


def upgrade(document: dict[str, Any]) -> list[ReportEntry]:
    """Upgrades in place, step by step; an error entry for a version that cannot be read."""
    refused = version_refused(document)
    if refused is not None:
        return [refused]
    version = document.get("formatVersion", FORMAT_VERSION)
    report: list[ReportEntry] = []
    for number in range(version, FORMAT_VERSION):
        report += UPGRADES[number](document)
        document["formatVersion"] = number + 1
    return report


def version_refused(document: Mapping[str, Any]) -> ReportEntry | None:
    """Why a document of that format version cannot be read; None where it can."""
    refusal = _refusal(document.get("formatVersion", FORMAT_VERSION))
    if refusal is None:
        return None
    return ReportEntry(level="error", path="/formatVersion", code=refusal[0], message=refusal[1])


def _refusal(version: Any) -> tuple[str, str] | None:
    if not isinstance(version, int) or isinstance(version, bool):
        return (
            "bad-format-version",
            f"formatVersion must be a whole number; this studio writes {FORMAT_VERSION}.",
        )
    if version > FORMAT_VERSION:
        return (
            "newer-format",
            f"The file has format version {version}; this studio reads up to {FORMAT_VERSION}.",
        )
    if any(number not in UPGRADES for number in range(version, FORMAT_VERSION)):
        return "unknown-format", f"There was never a format version {version}; the first is {FORMAT_VERSION}."
    return None
