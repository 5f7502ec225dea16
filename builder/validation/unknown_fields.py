"""unknown-field: a field that the format does not know; it is kept, but it does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.names import close_match
from builder.validation.pointers import Part, pointer, readable
from runtime.playbook import DocumentPart, Playbook


def unknown_fields(playbook: Playbook) -> Iterator[Diagnostic]:
    """In document order. `$schema` is a file's mark, not a field."""
    yield from _walk(playbook, (), {})


def _walk(part: DocumentPart, place: tuple[Part, ...], owner: dict[str, str]) -> Iterator[Diagnostic]:
    for name in part.unknown_fields():
        if (place, name) != ((), "$schema"):
            yield _unknown(part, (*place, name), owner)
    for name, field in type(part).model_fields.items():
        alias = field.serialization_alias or field.alias or name
        yield from _walk_value(getattr(part, name), (*place, alias), owner)


def _walk_value(value: Any, place: tuple[Part, ...], owner: dict[str, str]) -> Iterator[Diagnostic]:
    if isinstance(value, DocumentPart):
        yield from _walk(value, place, owner)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _walk_value(item, (*place, index), owner or _owner(place, item))


def _owner(place: tuple[Part, ...], item: Any) -> dict[str, str]:
    if place == ("stages",):
        return {"stage": item.id}
    return {"transition": item.id} if place == ("transitions",) else {}


def _unknown(part: DocumentPart, place: tuple[Part, ...], owner: dict[str, str]) -> Diagnostic:
    known = [
        field.serialization_alias or field.alias or name for name, field in type(part).model_fields.items()
    ]
    meant = close_match(str(place[-1]), known)
    hint = f" Did you mean “{meant}”?" if meant else ""
    message = f"{readable(place)} is not a field of the format: it is kept, but it does nothing.{hint}"
    return warning("unknown-field", message, pointer(*place), **owner)
