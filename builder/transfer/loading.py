"""From the bytes of a file to a document of today's format, with a report of everything on the way."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from builder.transfer.gaps import fill_gaps
from builder.transfer.importers import importer_for
from builder.transfer.importers.llmrtc import switch_off_functions
from builder.transfer.needs import needs
from builder.transfer.reading import read_json
from builder.transfer.report import ReportEntry
from builder.transfer.upgrades import upgrade, version_refused
from builder.validation.pointers import problems
from builder.validation.unknown_fields import unknown_fields
from runtime.playbook import FORMAT_VERSION, Playbook


@dataclass(frozen=True, slots=True)
class Loaded:
    """`document` and `playbook` are None exactly if the report has an error."""

    document: dict[str, Any] | None
    playbook: Playbook | None
    report: tuple[ReportEntry, ...]

    @property
    def errors(self) -> tuple[ReportEntry, ...]:
        """Why nothing came in; empty when something did."""
        return tuple(entry for entry in self.report if entry.level == "error")


def load(data: bytes) -> Loaded:
    """Reads a file. Raises UnreadableJson when it is no JSON; everything else is in the report."""
    return load_value(read_json(data))


def load_value(value: Any) -> Loaded:
    """Reads a file that was parsed already. The value itself is left as it is."""
    refusal = _not_a_playbook(value)
    if refusal is not None:
        return Loaded(None, None, (refusal,))
    document: dict[str, Any] = copy.deepcopy(value)
    importer = importer_for(document)
    document.pop("$schema", None)
    document, report = upgrade(document)
    if importer is not None:
        report += [_read_as(importer.product), *importer.convert(document)]
    elif "formatVersion" not in value and not report:
        report.append(_assumed())
    report += switch_off_functions(document, everywhere=False)
    report += fill_gaps(document)
    return _finish(document, report)


def _read_as(product: str) -> ReportEntry:
    message = f"The file was read as a playbook of {product}: it behaves here as it did there."
    return ReportEntry(level="info", path="", code="foreign-product", message=message)


def _assumed() -> ReportEntry:
    message = f"The file has no “formatVersion”; it was read as format {FORMAT_VERSION}."
    return ReportEntry(level="info", path="", code="assumed-format", message=message)


def _finish(document: dict[str, Any], report: list[ReportEntry]) -> Loaded:
    if any(entry.level == "error" for entry in report):
        return Loaded(None, None, tuple(report))
    try:
        playbook = Playbook.model_validate(document)
    except ValidationError as failure:
        report += _shape_errors(failure, document)
        return Loaded(None, None, tuple(report))
    report += (
        ReportEntry(level="warning", path=d.path, code=d.code, message=d.message, kept_as=d.path)
        for d in unknown_fields(playbook)
    )
    report += needs(playbook)
    return Loaded(document, playbook, tuple(report))


def _shape_errors(failure: ValidationError, document: dict[str, Any]) -> Iterator[ReportEntry]:
    for problem in problems(failure, document):
        yield ReportEntry(level="error", path=problem.path, code=problem.code, message=problem.message)


def _not_a_playbook(value: Any) -> ReportEntry | None:
    if isinstance(value, list):
        return _refused(
            "not-a-playbook", f"This is a list of {len(value)} things; import one playbook at a time."
        )
    if not isinstance(value, dict):
        return _refused("not-a-playbook", "This is no playbook: a JSON object with stages was expected.")
    if "stages" in value:
        return None
    if "nodes" in value and ("edges" in value or "connections" in value):
        return _refused("foreign-format", "This file has nodes and edges: it comes from another product.")
    newer = version_refused(value)
    if newer is not None and newer.code == "newer-format":
        return newer  # what stands where stages stood is for a newer studio to say
    return _refused("not-a-playbook", "This is no playbook: it has no “stages”.", "/stages")


def _refused(code: str, message: str, path: str = "") -> ReportEntry:
    return ReportEntry(level="error", path=path, code=code, message=message)
