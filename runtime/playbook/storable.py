"""Text that every store can keep: without U+0000, which PostgreSQL refuses, and without halves of surrogate
pairs, which are no Unicode text.

What comes from outside is made storable where it comes in (the runner's edges, results of tools and of
expressions), so that the log, the window and what is shown are the same text. Lengths stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_UNSTORABLE: Final = re.compile(r"[\x00\ud800-\udfff]")


def storable_text(text: str) -> str:
    """The text with U+FFFD for each character that cannot be stored."""
    return _UNSTORABLE.sub("\ufffd", text)


def storable(value: Any) -> Any:
    """A JSON value, or what is made of dictionaries, lists and tuples, with all its text storable."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, Mapping):
        return {storable(key): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(storable(inner) for inner in value)
    return value
