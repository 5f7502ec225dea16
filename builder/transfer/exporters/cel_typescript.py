"""CEL expressions as TypeScript, written with the functions of `expressions.ts`, which behave as CEL's do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from builder.transfer.exporters.cel_tree import (
    Call,
    Constant,
    ListOf,
    Loop,
    MapOf,
    Name,
    Select,
    Tree,
    tree_of,
)
from runtime.playbook.expressions import ROOTS, ExpressionError, compile_expression

Known = Mapping[str, frozenset[str] | None]
"""Roots that there are, with the fields they have; None: any field."""

_SAFE_INTEGER: Final = 2**53
_LAZY: Final = {"_&&_": "and", "_||_": "or"}
_FUNCTIONS: Final = {
    "!_": "not",
    "_==_": "same",
    "_!=_": "differ",
    "_<_": "less",
    "_<=_": "atMost",
    "_>_": "more",
    "_>=_": "atLeast",
    "_+_": "add",
    "_-_": "subtract",
    "_*_": "multiply",
    "_/_": "divide",
    "_%_": "remainder",
    "-_": "negate",
    "_[_]": "at",
    "@in": "inside",
    "size": "size",
    "startsWith": "startsWith",
    "endsWith": "endsWith",
    "contains": "contains",
    "int": "int",
    "double": "double",
    "string": "string",
}
_TOOL_CALLS: Final = Select(Name("turn"), "toolCalls", test_only=False)
_CALL_FIELDS: Final = frozenset({"success", "result", "error"})


class Untranslatable(Exception):
    """The message says what of the expression has no counterpart."""


def typescript(source: str, known: Known) -> str:
    """An expression of `r`, which has the roots. Raises Untranslatable."""
    try:
        tree = tree_of(compile_expression(source))
    except ExpressionError as error:
        raise Untranslatable(f"it is no valid expression ({error.message})") from None
    return _Writer(known).write(tree)


class _Writer:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.totals: set[str] = set()
        self.calls: set[str] = set()

    def write(self, tree: Tree) -> str:
        match tree:
            case Constant(value=value):
                return _literal(value)
            case Name(name=name):
                return self._name(name)
            case Select():
                self._check(tree)
                function = "has" if tree.test_only else "get"
                return f"{function}({self.write(tree.operand)}, {json.dumps(tree.field)})"
            case Call():
                return self._call(tree)
            case ListOf(items=items):
                return f"[{', '.join(map(self.write, items))}]"
            case MapOf(entries=None):
                raise Untranslatable("it makes an object of a named type")
            case MapOf(entries=entries):
                pairs = (f"[{self.write(key)}, {self.write(value)}]" for key, value in entries or ())
                return f"map([{', '.join(pairs)}])"
            case Loop():
                return self._loop(tree)

    def _name(self, name: str) -> str:
        if name in ROOTS:
            if name not in self.known:
                raise Untranslatable(f"LLMRTC has nothing for “{name}”")
            return f"r.{name}"
        return f"{_total(name)}()" if name in self.totals else _variable(name)

    def _check(self, tree: Select) -> None:
        operand = tree.operand
        if tree.field in _CALL_FIELDS and self._is_call(operand):
            raise Untranslatable(f"LLMRTC tells nothing of the “{tree.field}” of a tool call")
        fields = self.known.get(operand.name) if isinstance(operand, Name) else None
        if isinstance(operand, Name) and fields is not None and tree.field not in fields:
            raise Untranslatable(f"LLMRTC has nothing for “{operand.name}.{tree.field}”")

    def _is_call(self, tree: Tree) -> bool:
        """Whether it is an item of `turn.toolCalls`."""
        if isinstance(tree, Name):
            return tree.name in self.calls
        return isinstance(tree, Call) and tree.function == "_[_]" and tree.args[0] == _TOOL_CALLS

    def _call(self, tree: Call) -> str:
        args = tree.args if tree.target is None else (tree.target, *tree.args)
        if tree.function in _LAZY:
            return f"{_LAZY[tree.function]}({', '.join(map(self._later, args))})"
        if tree.function == "_?_:_":
            return f"choose({self.write(args[0])}, {self._later(args[1])}, {self._later(args[2])})"
        if tree.function in ("@not_strictly_false", "__not_strictly_false__"):
            return f"notFalse({self._later(args[0])})"
        if tree.function not in _FUNCTIONS:
            raise Untranslatable(f"the function “{tree.function.strip('_@')}” is not translated")
        return f"{_FUNCTIONS[tree.function]}({', '.join(map(self.write, args))})"

    def _later(self, tree: Tree) -> str:
        """As a function, so that it may fail or not be asked at all. Objects need their brackets."""
        return f"() => {self.write(tree)}"

    def _loop(self, tree: Loop) -> str:
        if tree.second_variable:
            raise Untranslatable("loops with two variables are not translated")
        items, start = self.write(tree.items), self._later(tree.start)
        self.totals.add(tree.total)
        if tree.items == _TOOL_CALLS:
            self.calls.add(tree.variable)
        names = f"({_variable(tree.variable)}, {_total(tree.total)})"
        condition, step = self.write(tree.condition), self.write(tree.step)
        result = f"({_total(tree.total)}) => {self.write(tree.result)}"
        return f"fold({items}, {start}, {names} => {condition}, {names} => {step}, {result})"


def _variable(name: str) -> str:
    return "v_" + re.sub(r"\W", "_", name)


def _total(name: str) -> str:
    return "t_" + re.sub(r"\W", "_", name)


def _literal(value: object) -> str:
    if value is ...:
        raise Untranslatable("bytes are not translated")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _SAFE_INTEGER:
        raise Untranslatable(f"the number {value} is too large for JavaScript")
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
