"""Runs all checks over a playbook, in one order: the document's, then severity, then code."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from builder.validation.checks import CHECKS
from builder.validation.diagnostics import Diagnostic, error
from builder.validation.outline import Outline
from builder.validation.pointers import problems
from builder.validation.server import NOTHING_KNOWN, ServerFacts
from runtime.playbook import FORMAT_VERSION, Playbook

_RANK = {"error": 0, "warning": 1, "advice": 2}


def check(playbook: Playbook, server: ServerFacts = NOTHING_KNOWN) -> list[Diagnostic]:
    """Everything there is to say about the playbook; the same list every time."""
    return check_outline(Outline.of(playbook, server))


def check_outline(outline: Outline) -> list[Diagnostic]:
    """As `check`, for who needs the outline as well."""
    found = [diagnostic for one_check in CHECKS for diagnostic in one_check(outline)]
    return sorted(found, key=lambda d: (outline.position(d.path), _RANK[d.severity], d.code, d.message))


def check_document(
    document: dict[str, Any], playbook: Playbook | None = None, server: ServerFacts = NOTHING_KNOWN
) -> tuple[Diagnostic, ...]:
    """As `check`, for a document as it is stored; its faults of shape come alone."""
    version = document.get("formatVersion")
    if isinstance(version, int) and version > FORMAT_VERSION:
        message = f"The document has format version {version}; this studio reads up to {FORMAT_VERSION}."
        return (error("newer-format", message, "/formatVersion"),)
    if playbook is None:
        try:
            playbook = Playbook.model_validate(document)
        except ValidationError as failure:
            return tuple(error(p.code, p.message, p.path) for p in problems(failure, document))
    return tuple(check(playbook, server))
