"""secret-in-document, undefined-secret: keys that were typed in, and names of keys that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.given import canonical
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline, PlacedTool
from builder.validation.pointers import pointer
from builder.validation.secret_headers import literal_secrets
from runtime.playbook import HttpImplementation

_NAMED: Final = re.compile(r"\{\{secret\.([A-Za-z0-9_]+)\}\}")


def check(outline: Outline) -> Iterator[Diagnostic]:
    """What the server has is known only where the server checks; a file alone is not asked."""
    for placed in outline.tools:
        implementation = placed.tool.implementation
        if isinstance(implementation, HttpImplementation):
            yield from _typed_in(placed, implementation)
        if implementation is not None and outline.server.secrets is not None:
            yield from _undefined(placed, canonical(implementation), outline.server.secrets)


def _typed_in(placed: PlacedTool, implementation: HttpImplementation) -> Iterator[Diagnostic]:
    """An export replaces such a value by a reference; the document on this server still has it."""
    for name in literal_secrets(implementation.headers):
        path = f"{placed.path}/implementation/headers" + pointer(name)
        message = f"The header “{name}” holds a secret: write {{{{secret.NAME}}}} and set it on the server."
        yield warning("secret-in-document", message, path, stage=placed.stage_id)


def _undefined(placed: PlacedTool, text: str, known: frozenset[str]) -> Iterator[Diagnostic]:
    for name in dict.fromkeys(_NAMED.findall(text)):
        if name not in known:
            message = (
                f"The tool “{placed.tool.name}” uses the secret “{name}”, which this server does not have."
            )
            path = f"{placed.path}/implementation"
            yield error("undefined-secret", message + did_you_mean(name, known), path, stage=placed.stage_id)
