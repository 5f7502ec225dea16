"""What a check finds: a `Diagnostic`, pinned to its place in the document by a JSON pointer."""

from __future__ import annotations

from typing import Any, Literal

from builder.validation.fixes import Fix
from runtime.conversation.base import Value

Severity = Literal["error", "warning", "advice"]


class Diagnostic(Value):
    """A finding. An `error` keeps the playbook from running, a `warning` doesn't, `advice` is taste."""

    code: str
    severity: Severity
    message: str
    """A sentence for the author."""
    path: str
    """JSON pointer (RFC 6901) into the document; empty for the whole."""
    related: tuple[str, ...] = ()
    """Pointers to the other places that have a part in it."""
    stage: str | None = None
    """Id of the stage it belongs to, if any."""
    transition: str | None = None
    """Id of the transition it belongs to, if any."""
    fix: Fix | None = None


def error(code: str, message: str, path: str, **more: Any) -> Diagnostic:
    """A finding that keeps the playbook from running."""
    return Diagnostic(code=code, severity="error", message=message, path=path, **more)


def warning(code: str, message: str, path: str, **more: Any) -> Diagnostic:
    """A finding that is probably a mistake; the playbook runs."""
    return Diagnostic(code=code, severity="warning", message=message, path=path, **more)


def advice(code: str, message: str, path: str, **more: Any) -> Diagnostic:
    """A finding that is no mistake: the playbook could be simpler or cheaper."""
    return Diagnostic(code=code, severity="advice", message=message, path=path, **more)
