"""A comparison as text for a terminal or a review."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from builder.changes.found import Change, Comparison, FieldChange

_SIGN: Final = {"added": "+", "removed": "-", "renamed": "~", "changed": "~", "moved": "↕"}
_LONGEST: Final = 200
_CONTEXT: Final = 2
"""Unchanged lines shown around a changed one."""


def as_text(found: Comparison) -> str:
    """One line for each part, its fields below it; the layout at the end. Ends with a line break."""
    lines = [line for change in found.changes for line in _change(change)]
    if found.layout:
        lines += ["", "Layout:", *(line for change in found.layout for line in _change(change))]
    return "\n".join(lines or ["No difference."]).lstrip("\n") + "\n"


def _change(change: Change) -> Iterator[str]:
    yield f"{_SIGN[change.kind]} {change.kind}: {change.title}{_of(change)}"
    for field in change.fields:
        yield from (f"    {line}" for line in _field(field))


def _of(change: Change) -> str:
    parts = [f" (stage {change.stage})" if change.stage is not None else ""]
    if change.was is not None:
        parts.append(f", id {change.was} → {change.id}")
    if change.places is not None:
        parts.append(f", place {change.places[0] + 1} → {change.places[1] + 1}")
    return "".join(parts)


def _field(field: FieldChange) -> Iterator[str]:
    name = field.path.lstrip("/") or "place"
    if field.lines:
        yield f"{name}:"
        yield from (f"  {line}" for line in _hunks(field))
    else:
        yield f"{name}: {_short(field.before)} → {_short(field.after)}"


def _hunks(field: FieldChange) -> Iterator[str]:
    """The changed lines with a little of what stands around them."""
    near = {
        place + offset
        for place, line in enumerate(field.lines)
        if line.sign != " "
        for offset in range(-_CONTEXT, _CONTEXT + 1)
    }
    skipped = False
    for place, line in enumerate(field.lines):
        if place in near:
            if skipped:
                yield "…"
            yield f"{line.sign} {line.text}".rstrip()
        skipped = place not in near


def _short(value: Any) -> str:
    if value is None:
        return "not set"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
