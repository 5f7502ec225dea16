"""Brings documents of older formats up to today's: one pure function per number.

A change of format is a number, a function here and a test with an old file (tests/builder/transfer/formats).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from builder.transfer.report import ReportEntry
from runtime.playbook import FORMAT_VERSION

Json = dict[str, Any]
Upgrade = Callable[[Json], tuple[Json, Iterable[ReportEntry]]]
"""From a document to one of the next format, and what it could not carry over. Changes nothing in place."""

UPGRADES: Mapping[int, Upgrade] = {}
"""From the format of that number to the next. Version 1 is the first."""


def upgrade(
    document: Json, upgrades: Mapping[int, Upgrade] = UPGRADES, newest: int = FORMAT_VERSION
) -> tuple[Json, list[ReportEntry]]:
    """The document in the newest format, step by step; an error entry for a version that cannot be read."""
    refused = version_refused(document, upgrades, newest)
    if refused is not None:
        return document, [refused]
    version = document.get("formatVersion", newest)
    report: list[ReportEntry] = []
    for number in range(version, newest):
        document, entries = upgrades[number](document)
        document = {**document, "formatVersion": number + 1}
        report += entries
    return document, report


def version_refused(
    document: Mapping[str, Any], upgrades: Mapping[int, Upgrade] = UPGRADES, newest: int = FORMAT_VERSION
) -> ReportEntry | None:
    """Why a document of that format version cannot be read; None where it can."""
    refusal = _refusal(document.get("formatVersion", newest), upgrades, newest)
    if refusal is None:
        return None
    return ReportEntry(level="error", path="/formatVersion", code=refusal[0], message=refusal[1])


def _refusal(version: Any, upgrades: Mapping[int, Upgrade], newest: int) -> tuple[str, str] | None:
    if not isinstance(version, int) or isinstance(version, bool):
        return (
            "bad-format-version",
            f"formatVersion must be a whole number; this studio writes {newest}.",
        )
    if version > newest:
        return (
            "newer-format",
            f"The file has format version {version}; this studio reads up to {newest}.",
        )
    if any(number not in upgrades for number in range(version, newest)):
        return (
            "unknown-format",
            f"There was never a format version {version}; the first is {min(upgrades, default=newest)}.",
        )
    return None
