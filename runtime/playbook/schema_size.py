"""How much work a JSON Schema can be: a small one whose references fan out is a large one; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

LARGEST: Final = 20_000
"""Places of a schema, counted as often as references lead to them."""

_NAMES: Final = {"$id": "", "$anchor": "#", "$dynamicAnchor": "#"}
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def fans_out(schema: Mapping[str, Any]) -> bool:
    """Whether following every reference within the schema gives more than LARGEST places.

    A circle counts once: it goes on only as long as the checked value does.
    """
    try:
        return _Counter(schema).size(schema, frozenset()) > LARGEST
    except RecursionError:
        return True


class _Counter:
    """Counts the places of one schema; what a reference leads to is counted once and remembered."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._named = dict(_names(schema))
        self._known: dict[str, int] = {}

    def size(self, node: Any, inside: frozenset[str]) -> int:
        if isinstance(node, list):
            return min(sum(self.size(item, inside) for item in node), LARGEST + 1)
        if not isinstance(node, Mapping):
            return 0
        total = 1
        for key, value in node.items():
            is_reference = key in _REFERENCES and isinstance(value, str)
            total += self._behind(value, inside) if is_reference else self.size(value, inside)
            if total > LARGEST:
                return LARGEST + 1
        return total

    def _behind(self, reference: str, inside: frozenset[str]) -> int:
        if reference in inside:
            return 0
        if reference not in self._known:
            self._known[reference] = self.size(self._target(reference), inside | {reference})
        return self._known[reference]

    def _target(self, reference: str) -> Any:
        if reference in self._named:
            return self._named[reference]
        node: Any = self._schema
        for part in reference.partition("#")[2].split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list):
                node = node[int(name)] if name.isdecimal() and int(name) < len(node) else None
            else:
                node = node.get(name) if isinstance(node, Mapping) else None
        return node


def _names(node: Any) -> Iterator[tuple[str, Any]]:
    """What parts of the schema call themselves, as a reference would write it."""
    if isinstance(node, Mapping):
        for key, before in _NAMES.items():
            if isinstance(node.get(key), str):
                yield before + node[key], node
    values = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    for value in values:
        yield from _names(value)
