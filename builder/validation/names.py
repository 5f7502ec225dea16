"""Names that were probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

MOST: Final = 400
"""Names that a mistyped one is compared with letter by letter; of more only one of the same form is found."""


def close_match(name: str, known: Iterable[str]) -> str | None:
    """The known name nearest to a mistyped one; None when none is near."""
    candidates = sorted(set(known))
    by_form = {candidate.strip().casefold(): candidate for candidate in candidates}
    same_form = by_form.get(name.strip().casefold())
    if same_form is not None:
        return same_form
    if len(candidates) > MOST:
        return None
    found = difflib.get_close_matches(name, candidates, n=1, cutoff=0.7)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """“ Did you mean …?” with a leading blank, or nothing."""
    meant = close_match(name, known)
    return f" Did you mean “{meant}”?" if meant is not None else ""
