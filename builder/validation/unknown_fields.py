"""unknown-field: a field that the format does not know; it is kept, but it does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import rename_at
from builder.validation.names import close_match
from builder.validation.pointers import Part, pointer, readable
from runtime.playbook import DocumentPart, Playbook


def unknown_fields(playbook: Playbook) -> Iterator[Diagnostic]:
    """In document order. `$schema` is a file's mark, not a field."""
    yield from _walk(playbook, (), {})


def _walk(part: DocumentPart, place: tuple[Part, ...], owner: dict[str, str]) -> Iterator[Diagnostic]:
    if part.__pydantic_extra__:
        for name in part.unknown_fields():
            if (place, name) != ((), "$schema"):
                yield _unknown(part, (*place, name), owner)
    values = part.__dict__
    for name, alias in _holding(type(part)):
        value = values[name]
        if value and isinstance(value, DocumentPart | tuple):
            yield from _walk_value(value, (*place, alias), owner)


@cache
def _holding(kind: type[DocumentPart]) -> tuple[tuple[str, str], ...]:
    """The fields that other parts can stand in, by both names."""
    fields = kind.model_fields
    return tuple(
        (name, alias) for name, alias in _aliases(kind).items() if _may_hold(fields[name].annotation)
    )


def _may_hold(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, DocumentPart):
        return True
    return any(_may_hold(inner) for inner in get_args(annotation))


@cache
def _aliases(kind: type[DocumentPart]) -> dict[str, str]:
    """The fields' names in Python and in JSON."""
    fields = kind.model_fields.items()
    return {name: field.serialization_alias or field.alias or name for name, field in fields}


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
    known = list(_aliases(type(part)).values())
    meant = close_match(str(place[-1]), known)
    hint = f" Did you mean “{meant}”?" if meant else ""
    message = f"{readable(place)} is not a field of the format: it is kept, but it does nothing.{hint}"
    free = meant is not None and meant not in _given(part)
    fix = rename_at(f"Make it “{meant}”", pointer(*place), meant) if meant and free else None
    return warning("unknown-field", message, pointer(*place), fix=fix, **owner)


def _given(part: DocumentPart) -> set[str]:
    """The JSON names of the fields that were given."""
    aliases = _aliases(type(part))
    return {aliases[name] for name in part.model_fields_set if name in aliases}
