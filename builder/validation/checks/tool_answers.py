"""tool-not-implemented: a tool that nothing answers."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline, PlacedTool
from runtime.playbook import MockImplementation


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A mock without responses answers nothing either."""
    for placed in outline.tools:
        implementation = placed.tool.implementation
        if implementation is None:
            yield _unanswered(placed, "has no implementation: it answers “not implemented”")
        elif isinstance(implementation, MockImplementation) and not implementation.responses:
            yield _unanswered(placed, "is a mock without responses")


def _unanswered(placed: PlacedTool, why: str) -> Diagnostic:
    message = f"The tool “{placed.tool.name}” {why}."
    return warning("tool-not-implemented", message, placed.path, stage=placed.stage_id)
