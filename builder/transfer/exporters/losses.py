"""Collects what an export cannot carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from builder.transfer.report import ReportEntry
from builder.validation.pointers import Part, pointer


class Losses:
    """A list of entries that grows; places are parts of a pointer into the document."""

    def __init__(self) -> None:
        self.entries: list[ReportEntry] = []

    def add(
        self,
        level: Literal["error", "warning", "info"],
        code: str,
        message: str,
        *place: Part,
        kept: str = "",
    ) -> None:
        """`kept`: where it stands in what was written, if it does."""
        self.entries.append(
            ReportEntry(level=level, path=pointer(*place), code=code, message=message, kept_as=kept or None)
        )

    def keep(self, value: Mapping[str, Any], known: Iterable[str], what: str, *place: Part) -> dict[str, Any]:
        """Only the known fields that are set; each other one that is set is an entry."""
        names = tuple(known)
        for name in value:
            if name not in names and value[name] not in (None, [], {}):
                self.add("warning", "lost-field", f"LLMRTC has no “{name}” for {what}.", *place, name)
        return {name: inner for name, inner in value.items() if name in names and inner is not None}
