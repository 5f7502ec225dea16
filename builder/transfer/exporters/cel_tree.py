"""A compiled CEL expression as a tree: what CEL's own parser understood, read from its serialized form.

The form is protobuf's (varints and length-prefixed fields), the message CEL's published `cel.expr.Expr`;
macros such as `exists` are expanded to loops in it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from runtime.playbook.expressions import Expression


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: null, a truth value, a number or a text. Other literals (bytes) have the value Ellipsis."""

    value: Any


@dataclass(frozen=True, slots=True)
class Name:
    """A root, or the variable of a loop."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)`."""

    operand: Tree
    field: str
    test_only: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function, operator (`_+_`) or method of `target`."""

    function: str
    target: Tree | None
    args: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[a, b]`."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{key: value}`; None where it is no plain map."""

    entries: tuple[tuple[Tree, Tree], ...] | None


@dataclass(frozen=True, slots=True)
class Loop:
    """What a macro is: over `items`, `total` is replaced by `step` while `condition` holds."""

    variable: str
    items: Tree
    total: str
    start: Tree
    condition: Tree
    step: Tree
    result: Tree
    second_variable: str


Tree = Constant | Name | Select | Call | ListOf | MapOf | Loop
_Fields = dict[int, list[Any]]
_VARINT: Final = 0
_EIGHT: Final = 1
_BYTES: Final = 2
_FOUR: Final = 5


def tree_of(expression: Expression) -> Tree:
    """The tree of a compiled expression."""
    (checked,) = _fields(expression.checked())[2]
    (expr,) = _fields(checked)[4]
    return _tree(expr)


def names_in(tree: Tree) -> Iterator[Tree]:
    """The tree and all trees in it."""
    yield tree
    for inner in _inner(tree):
        yield from names_in(inner)


def _inner(tree: Tree) -> tuple[Tree, ...]:
    match tree:
        case Select(operand=operand):
            return (operand,)
        case Call(target=target, args=args):
            return args if target is None else (target, *args)
        case ListOf(items=items):
            return items
        case MapOf(entries=entries):
            return tuple(part for entry in entries or () for part in entry)
        case Loop():
            return (tree.items, tree.start, tree.condition, tree.step, tree.result)
        case _:
            return ()


def _tree(data: bytes) -> Tree:
    fields = _fields(data)
    for number, read in _KINDS.items():
        if number in fields:
            tree: Tree = read(_fields(fields[number][0]))
            return tree
    raise ValueError("an expression of an unknown kind")


def _constant(fields: _Fields) -> Constant:
    for number, read in _LITERALS.items():
        if number in fields:
            return Constant(read(fields[number][0]))
    return Constant(...)


def _select(fields: _Fields) -> Select:
    return Select(_tree(fields[1][0]), _text(fields, 2), bool(fields.get(3, [0])[0]))


def _call(fields: _Fields) -> Call:
    target = _tree(fields[1][0]) if 1 in fields else None
    return Call(_text(fields, 2), target, tuple(map(_tree, fields.get(3, []))))


def _list(fields: _Fields) -> ListOf:
    return ListOf(tuple(map(_tree, fields.get(1, []))))


def _map(fields: _Fields) -> MapOf:
    entries = [_fields(entry) for entry in fields.get(2, [])]
    if _text(fields, 1) or any(3 not in entry or 5 in entry for entry in entries):
        return MapOf(None)
    return MapOf(tuple((_tree(entry[3][0]), _tree(entry[4][0])) for entry in entries))


def _loop(fields: _Fields) -> Loop:
    start, condition, step, result = (_tree(fields[number][0]) for number in (4, 5, 6, 7))
    return Loop(
        variable=_text(fields, 1),
        items=_tree(fields[2][0]),
        total=_text(fields, 3),
        start=start,
        condition=condition,
        step=step,
        result=result,
        second_variable=_text(fields, 8),
    )


_KINDS: Final[dict[int, Any]] = {
    3: _constant,
    4: lambda fields: Name(_text(fields, 1)),
    5: _select,
    6: _call,
    7: _list,
    8: _map,
    9: _loop,
}
_LITERALS: Final[dict[int, Any]] = {
    1: lambda value: None,
    2: bool,
    3: lambda value: value - (1 << 64) if value >> 63 else value,
    4: int,
    5: lambda value: struct.unpack("<d", value)[0],
    6: lambda value: value.decode(),
}


def _text(fields: _Fields, number: int) -> str:
    text: str = fields[number][0].decode() if number in fields else ""
    return text


def _fields(data: bytes) -> _Fields:
    """The fields of a message by their numbers, each with its values in order."""
    found: _Fields = {}
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        value: Any
        if kind == _VARINT:
            value, position = _varint(data, position)
        else:
            length = {_EIGHT: 8, _FOUR: 4}.get(kind, 0)
            if kind == _BYTES:
                length, position = _varint(data, position)
            value, position = data[position : position + length], position + length
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
