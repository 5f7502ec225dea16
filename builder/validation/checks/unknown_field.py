"""unknown-field: a field that the format does not know; it is kept, but it does nothing."""

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic
from builder.validation.outline import Outline
from builder.validation.unknown_fields import unknown_fields


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Also reported by the import."""
    return unknown_fields(outline.playbook)
