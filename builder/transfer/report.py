"""What an import did: one entry for everything that was changed, filled in, kept aside or refused."""

from __future__ import annotations

from typing import Literal

from runtime.conversation.base import Value


class ReportEntry(Value):
    """`error`: why nothing came in; `warning`: look at this; `info`: done, nothing lost."""

    level: Literal["error", "warning", "info"]
    path: str
    """JSON pointer into the file as it was read."""
    code: str
    message: str
    kept_as: str | None = None
    """Where the author finds what could not be read as it stood: a pointer into the document."""
