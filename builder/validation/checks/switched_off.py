"""disabled-custom: an imported rule whose function could not come along waits to be written."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import CustomCondition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A rule that somebody switched off on purpose has an expression, and is left alone."""
    for index, rule in enumerate(outline.playbook.transitions):
        condition = rule.condition
        if rule.disabled and isinstance(condition, CustomCondition) and not condition.expression.strip():
            message = f"Transition “{rule.id}” is switched off and has no expression: write its rule first."
            path = pointer("transitions", index, "condition", "expression")
            yield warning("disabled-custom", message, path, transition=rule.id)
