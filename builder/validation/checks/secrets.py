"""secret-in-document: a key that was typed into a header instead of being named."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from builder.validation.secret_headers import literal_secrets
from runtime.playbook import HttpImplementation


def check(outline: Outline) -> Iterator[Diagnostic]:
    """An export replaces such a value by a reference; the document on this server still has it."""
    for placed in outline.tools:
        implementation = placed.tool.implementation
        if isinstance(implementation, HttpImplementation):
            for name in literal_secrets(implementation.headers):
                path = f"{placed.path}/implementation/headers" + pointer(name)
                message = (
                    f"The header “{name}” holds a secret: write {{{{secret.NAME}}}} and set it on the server."
                )
                yield warning("secret-in-document", message, path, stage=placed.stage_id)
