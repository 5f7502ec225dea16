"""Makes any value a tool returns a plain JSON value, readable and bounded; says where something was lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from runtime.playbook.storable import storable_text

NO_RESULT: Final = "(no result)"
MAX_CHARACTERS: Final = 5_000_000
"""Characters of one text; longer ones are cut, and say so."""
MAX_DEPTH: Final = 50
MAX_ITEMS: Final = 100_000
"""Values of one result in all."""
_MAX_DIGITS: Final = 300


def well_formed(value: Any) -> Any:
    """`value` as JSON has it. None and empty text become an explicit "(no result)"."""
    if value is None or value == "":
        return NO_RESULT
    return _Cleaner().clean(value, 0)


class _Cleaner:
    """Cleans one result, counting its values and knowing what it is inside of."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS
        self._inside: set[int] = set()

    def clean(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            return "(shortened: too many values)"
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _text(value)
        if isinstance(value, int | float | Decimal):
            return _number(value)
        if isinstance(value, Mapping | list | tuple | Set):
            return self._container(value, depth)
        return _other(value)

    def _container(self, value: Any, depth: int) -> Any:
        if id(value) in self._inside:
            return "(not representable: the value holds itself)"
        if depth >= MAX_DEPTH:
            return "(shortened: nested too deeply)"
        self._inside.add(id(value))
        try:
            if isinstance(value, Mapping):
                return self._mapping(value, depth)
            items = sorted(value, key=repr) if isinstance(value, Set) else value
            return [self.clean(item, depth + 1) for item in items[: self._left + 1]]
        finally:
            self._inside.discard(id(value))

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            name = _text(key) if isinstance(key, str) else str(self.clean(key, depth + 1))[:1000]
            while name in cleaned:
                name += "'"
            cleaned[name] = self.clean(item, depth + 1)
            if self._left < 0:
                break
        return cleaned


def _number(value: float | Decimal) -> Any:
    if isinstance(value, Enum):
        return _number(value.value)
    if isinstance(value, int):
        return value if value.bit_length() <= _MAX_DIGITS * 3 else f"(a number of {value.bit_length()} bits)"
    if isinstance(value, float):
        return value if math.isfinite(value) else f"({value}: not a number that can be written)"
    return format(value, "f") if value.is_finite() and abs(value.adjusted()) < _MAX_DIGITS else str(value)


def _text(value: str) -> str:
    clean = storable_text(value)
    if len(clean) <= MAX_CHARACTERS:
        return clean
    return f"{clean[:MAX_CHARACTERS]}… (shortened: {len(clean)} characters in all)"


def _other(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} s"
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return well_formed(value.value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"(binary, {len(bytes(value))} bytes)"
    return f"(not representable: {type(value).__name__})"
