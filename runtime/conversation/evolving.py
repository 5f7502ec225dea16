"""How the values of a state change: by copies, of which every event makes several."""

from __future__ import annotations

from typing import Any, TypeVar

V = TypeVar("V")


def evolve(value: V, **changes: Any) -> V:
    """A copy of a frozen dataclass with some fields changed: `dataclasses.replace`, many times as fast.

    Only for classes without slots and without `__post_init__`: copying one dictionary is what is fast.
    """
    fields = value.__dict__.copy()
    fields.update(changes)
    if len(fields) != len(value.__dict__):
        raise TypeError(f"{type(value).__name__} has no field {next(reversed(fields))!r}")
    copy = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", fields)
    return copy
