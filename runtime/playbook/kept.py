"""Results kept for as long as the document they were worked out from: a document is a frozen value."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

from runtime.playbook.base import DocumentPart

P = ParamSpec("P")
R = TypeVar("R")


def kept(function: Callable[P, R]) -> Callable[P, R]:
    """A pure function of parts of a document, and of hashable values, that answers the same question about
    the same objects once. Its result must not hold the parts it was given: they would live for ever."""
    known: dict[Hashable, tuple[tuple[weakref.ref[Any], ...], R]] = {}

    @functools.wraps(function)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        parts = [arg for arg in args if isinstance(arg, DocumentPart)]
        key = (*(id(arg) if isinstance(arg, DocumentPart) else arg for arg in args), *kwargs.items())
        found = known.get(key)
        if found is not None and all(ref() is part for ref, part in zip(found[0], parts, strict=True)):
            return found[1]
        result = function(*args, **kwargs)
        refs = tuple(weakref.ref(part, lambda _: known.pop(key, None)) for part in parts)
        known[key] = (refs, result)
        return result

    return answer
