"""Runs all checks over a playbook, in one order: the document's, then severity, then code."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from builder.validation.checks import CHECKS
from builder.validation.diagnostics import Diagnostic, error
from builder.validation.outline import Outline
from builder.validation.pointers import problems
from runtime.playbook import Playbook

_RANK = {"error": 0, "warning": 1, "advice": 2}


def check(playbook: Playbook) -> list[Diagnostic]:
    """Everything there is to say about the playbook; the same list every time."""
    outline = Outline.of(playbook)
    found = [diagnostic for one_check in CHECKS for diagnostic in one_check(outline)]
    return sorted(found, key=lambda d: (outline.position(d.path), _RANK[d.severity], d.code, d.message))


def check_document(document: dict[str, Any], playbook: Playbook | None = None) -> tuple[Diagnostic, ...]:
    """As `check`, for a document as it is stored; its faults of shape come alone."""
    if playbook is None:
        try:
            playbook = Playbook.model_validate(document)
        except ValidationError as failure:
            return tuple(error(p.code, p.message, p.path) for p in problems(failure, document))
    return tuple(check(playbook))
