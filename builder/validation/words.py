"""Small words that several findings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

SHOWN: Final = 8
"""Names that a sentence lists before it says how many more there are."""


def listed(names: Sequence[str]) -> str:
    """“A”, “B” and “C”; of many the first ones and the number of the others."""
    quoted = [f"“{name}”" for name in names[:SHOWN]]
    if len(names) > SHOWN:
        return f"{', '.join(quoted)} and {len(names) - SHOWN:,} more"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def counted(number: int, what: str) -> str:
    """“1 turn”, “2 turns”."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def excerpt(text: str, longest: int = 60) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
