"""What an expression reads, told from its text: `vars.total > 1` reads `("vars", "total")`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from runtime.playbook.expressions import ROOTS, tokens

_ROOTS: Final = frozenset({*ROOTS, "arguments", "result"})
Path = tuple[str, ...]


@lru_cache(maxsize=4096)
def references(source: str) -> tuple[Path, ...]:
    """The roots and fields an expression reads, in order: `vars.a.b` and `vars["a"].b` alike. What follows a
    computed index is left out."""
    return tuple(path for path, _ in _read(source))


@lru_cache(maxsize=4096)
def tested(source: str) -> frozenset[Path]:
    """Those that it only asks for with `has(…)`."""
    return frozenset(path for path, asked in _read(source) if asked)


def _read(source: str) -> Iterator[tuple[Path, bool]]:
    words = [(kind, text) for kind, text in tokens(source) if kind != "comment" and not text.isspace()]
    for index, (kind, text) in enumerate(words):
        before = words[index - 1][1] if index else ""
        if kind == "name" and text in _ROOTS and before != ".":
            asked = before == "(" and index > 1 and words[index - 2][1] == "has"
            yield (text, *_fields(words[index + 1 : index + 16])), asked


def _fields(words: list[tuple[str, str]]) -> Iterator[str]:
    while len(words) > 1:
        if words[0][1] == "." and words[1][0] == "name" and (len(words) < 3 or words[2][1] != "("):
            yield words[1][1]
            words = words[2:]
        elif words[0][1] == "[" and words[1][0] == "string" and len(words) > 2 and words[2][1] == "]":
            name = _plain(words[1][1])
            if name is None:
                return
            yield name
            words = words[3:]
        else:
            return


def _plain(literal: str) -> str | None:
    """The text of a simple string literal."""
    try:
        value = json.loads('"' + literal[1:-1].replace('"', '\\"') + '"') if literal[0] in "\"'" else None
    except ValueError:
        return None
    return value if isinstance(value, str) else None
