"""Expressions of a document: CEL, compiled and checked once, evaluated over plain JSON values.

Rules: only what an author wrote is ever compiled; an error at run time is a value, never an exception; what
an expression may cost is bounded before it runs (length, number of loops, no loop inside a loop). The engine
behind it bounds time (10,000 loop steps) but not memory, so nested or many loops are refused here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from runtime.playbook.storable import storable

MAX_LENGTH: Final = 1000
"""Characters (code points) of one expression."""
MAX_LOOPS: Final = 3
"""Comprehension macros (`all`, `exists`, `exists_one`, `map`, `filter`) of one expression."""
MAX_DATA: Final = 1_000_000
"""Characters (of texts and keys; any other value counts as one) that a loop may look at in all."""
MAX_MADE: Final = 7_000_000
"""Characters (an item of a list counts as ITEM) that joins (`+`) and `map` may make in all: about 50 MB."""
ITEM: Final = 20
ROOTS: Final = ("vars", "turn", "stage", "session", "data", "now")
"""The names every expression may use; `now` is a timestamp, the others are maps."""

ARTIFACTS: Final = "$artifacts"
"""Key, beside the roots, of the contents of artifacts by name. A value `{"$artifact": name}` in the roots is
the content for an expression that mentions its key, and only for that one."""

_LOOPS: Final = frozenset(
    {"all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap"}
)
_BUILDERS: Final = frozenset({"map", "transformList", "transformMap"})
_TOKEN = re.compile(
    r"""(?P<string>[rRbB]{0,2}(?:\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))"""
    r"""|(?P<comment>//[^\n]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<other>.)""",
    re.DOTALL,
)
_WORDS = re.compile(r"\w+")
_QUOTED = re.compile(r"""["']([^"'\n]*)["']""")
_POSITION = re.compile(r"<input>:(\d+):(\d+): (.*)")


_CONTENT_DEPTH: Final = 4
"""How deep references are looked for: `turn.toolCalls[0].result`."""


class ExpressionError(Exception):
    """An expression that does not compile. `line` and `column` count from 1 within the expression."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation gave: a plain JSON value, or an error in words."""

    value: Any = None
    error: str | None = None

    @property
    def holds(self) -> bool:
        """True only for the value `true`: an error or another type is not a condition that holds."""
        return self.error is None and self.value is True


@dataclass(frozen=True, slots=True)
class _Work:
    """What an expression does that costs with the size of its data."""

    loops: int = 0
    makes: int = 0
    """Joins and loops that build lists."""


class Expression:
    """A compiled expression; safe to keep and to share."""

    def __init__(self, source: str, program: Any, names: frozenset[str], work: _Work) -> None:
        self.source = source
        self._words = frozenset(_WORDS.findall(source)) | frozenset(_QUOTED.findall(source))
        self._program = program
        self._names = names
        self._work = work

    @property
    def may_be_boolean(self) -> bool:
        """False where the type check already knows that the result is not a boolean."""
        return self._program.return_type() in (cel.Type.BOOL, cel.Type.DYN)

    def checked(self) -> bytes:
        """The expression as CEL's own message `google.protobuf.Any` of a `cel.expr.CheckedExpr`."""
        message: bytes = self._program.serialize()
        return message

    def evaluate(self, roots: Mapping[str, Any]) -> Outcome:
        """The value over `roots`; names that are absent there are null. Never raises for bad values."""
        data = {name: roots.get(name) for name in self._names if roots.get(name) is not None or name != "now"}
        if contents := roots.get(ARTIFACTS):
            data = with_contents(data, contents, self._words)
        if self._work.loops and not _fits(data):
            return Outcome(error=f"More than {MAX_DATA:,} characters of data are too much for a loop.")
        if self._work.makes and _made(data, self._work) > MAX_MADE:
            return Outcome(error="Joining or mapping values of this size would take too much memory.")
        try:
            value = self._value(data)
            if value.type() == cel.Type.ERROR:
                return Outcome(error=_words(str(value.plain_value())))
            return Outcome(value=storable(_plain(value.plain_value())))
        except (RuntimeError, ValueError, TypeError, OverflowError, MemoryError) as error:
            return Outcome(error=_words(str(error)))

    def _value(self, data: Mapping[str, Any]) -> Any:
        """CEL's whole numbers have 64 bits; a larger one anywhere in the data must not spoil all others."""
        value = self._program.eval(data=data)
        if value.type() == cel.Type.ERROR and "out of range for '" in str(value.plain_value()):
            return self._program.eval(data=_in_64_bits(data))
        return value


def with_contents(value: Any, contents: Mapping[str, Any], words: Collection[str], depth: int = 0) -> Any:
    """The value with its references replaced by contents, as far as their keys are among `words`."""
    if isinstance(value, Mapping):
        if depth and len(value) == 1 and isinstance(name := value.get("$artifact"), str):
            return contents.get(name, value)
        if depth < _CONTENT_DEPTH:
            return {
                key: with_contents(inner, contents, words, depth + 1) if key in words else inner
                for key, inner in value.items()
            }
    elif isinstance(value, list) and 0 < depth < _CONTENT_DEPTH:
        return [with_contents(inner, contents, words, depth + 1) for inner in value]
    return value


def compile_expression(source: str, names: Iterable[str] = ROOTS) -> Expression:
    """Compile and type-check `source`, in which only `names` are declared. Raises ExpressionError."""
    return _compile(source, frozenset(names))


@lru_cache(maxsize=4096)
def _compile(source: str, names: frozenset[str]) -> Expression:
    work = _check_bounds(source)
    try:
        return Expression(source, _environment(names).compile(source), names, work)
    except TypeError:  # what the binding raises for text that is no Unicode text (a lone surrogate)
        raise ExpressionError("The expression contains characters that are not valid text.") from None
    except (RuntimeError, ValueError) as error:
        raise _compile_error(str(error)) from None


@lru_cache(maxsize=256)
def _environment(names: frozenset[str]) -> Any:
    types = {name: cel.Type.TIMESTAMP if name == "now" else cel.Type.DYN for name in names}
    return cel.NewEnv(variables=types)


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """Kind (`string`, `comment`, `name`, `other`) and text of each token, whether or not it compiles."""
    return ((match.lastgroup or "other", match.group()) for match in _TOKEN.finditer(source))


def _check_bounds(source: str) -> _Work:
    """What it does that costs. Raises ExpressionError for what may cost too much."""
    if not source.strip():
        raise ExpressionError("The expression is empty.")
    if len(source) > MAX_LENGTH:
        raise ExpressionError(f"The expression is longer than {MAX_LENGTH} characters.")
    loops = makes = 0
    open_loops: list[bool] = []
    previous = before = ""
    for match in _TOKEN.finditer(source):
        if match.lastgroup in ("string", "comment") or match.group().isspace():
            continue
        word = match.group()
        makes += word == "+"
        if word == "(":
            is_loop = previous in _LOOPS and before == "."
            loops += is_loop
            makes += is_loop and previous in _BUILDERS
            _check_loops(source, match.start(), loops, is_loop and any(open_loops))
            open_loops.append(is_loop)
        elif word == ")" and open_loops:
            open_loops.pop()
        before, previous = previous, word
    return _Work(loops, makes)


def _check_loops(source: str, offset: int, loops: int, nested: bool) -> None:
    if not nested and loops <= MAX_LOOPS:
        return
    before = source[:offset]
    line, column = before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
    if nested:
        raise ExpressionError("A loop inside a loop is not allowed.", line, column)
    raise ExpressionError(f"More than {MAX_LOOPS} loops in one expression are not allowed.", line, column)


def _in_64_bits(value: Any) -> Any:
    """The value with larger whole numbers as floating-point ones, as any other reader of JSON has them."""
    if isinstance(value, Mapping):
        return {key: _in_64_bits(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_in_64_bits(inner) for inner in value]
    if isinstance(value, int) and value.bit_length() > 63:
        return float(value) if value.bit_length() < 1024 else math.inf if value > 0 else -math.inf
    return value


def _fits(data: Mapping[str, Any]) -> bool:
    """Whether all values together are small enough; looks at no more of them than it must."""
    left = MAX_DATA
    waiting: list[Any] = [data]
    while waiting and left >= 0:
        value = waiting.pop()
        if isinstance(value, str):
            left -= len(value)
        elif isinstance(value, Mapping):
            left -= sum(len(str(key)) for key in value)
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        left -= 1
    return left >= 0


def _made(data: Mapping[str, Any], work: _Work) -> int:
    """The most characters that joins and maps can make of these values: each of the heaviest one, and in a
    loop once for each item of the longest list."""
    heaviest = longest = 1
    waiting: list[Any] = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            heaviest = max(heaviest, len(value))
        elif isinstance(value, Mapping | list | tuple):
            waiting.extend(value.values() if isinstance(value, Mapping) else value)
            heaviest, longest = max(heaviest, ITEM * len(value)), max(longest, len(value))
    return work.makes * heaviest * (longest if work.loops else 1)


def _compile_error(text: str) -> ExpressionError:
    match = _POSITION.search(text)
    if match is None:
        return ExpressionError(_words(text))
    line, column, message = match.groups()
    return ExpressionError(_readable(message), int(line), int(column))


def _readable(message: str) -> str:
    message = message.replace(" (in container '')", "").removesuffix("[INVALID_ARGUMENT]").strip()
    undeclared = re.match(r"undeclared reference to '(.+)'$", message)
    if undeclared is not None:
        return f"`{undeclared.group(1)}` is not known here."
    return message.split(" expecting {")[0]


def _words(text: str) -> str:
    """The engine's message without its status code, position list and excerpt."""
    first = text.strip().splitlines()[0] if text.strip() else "The expression could not be evaluated."
    return re.sub(r"^[A-Z_]+: ", "", first)[:300]


def _plain(value: Any) -> Any:
    """The value as JSON has it: dates as ISO text, bytes as text, keys as text, no NaN.

    CEL's maps have another order in each process: here their keys are in alphabetical order.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and value not in (float("inf"), float("-inf")) else None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in sorted((str(k), v) for k, v in value.items())}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).replace("+00:00", "Z")
    return str(value)
