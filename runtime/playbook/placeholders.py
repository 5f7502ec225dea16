"""Placeholders in an author's text: `{$name}`, `{expression}`, `{{` and `}}`, and a final `|message`.

Only the author's text is read for placeholders; what they are filled with is never read again. What is no
valid expression stays as it stands (JSON examples in prompts are common) and is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from runtime.playbook.expressions import (
    ARTIFACTS,
    MAX_LENGTH,
    ROOTS,
    ExpressionError,
    compile_expression,
    with_contents,
)

_SECRET = re.compile(r"\{\{secret\.[A-Za-z0-9_]+\}\}")
_LIKE_SECRET = re.compile(r"\{secret\.[A-Za-z0-9_]+\}")
"""No expression, and as good as a secret's reference if its braces were doubled."""
_VARIABLE = re.compile(r"^\$([A-Za-z_][A-Za-z0-9_]*)$")
_WHOLE_VARIABLE = re.compile(r"""^(?:\$|vars\.)([A-Za-z_]\w*)$|^vars\[["']([^"']+)["']\]$""", re.ASCII)
_BRACE = re.compile(r"[{}]")
_IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_MESSAGE: Final = "|message"
_MOST_UNCLOSED: Final = 500
"""Braces without an end, after which a text is taken as no template any more: reading stays linear."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A text with its placeholders filled."""

    text: str
    unresolved: tuple[str, ...] = ()
    """Placeholders that were left as they stand, in order."""
    messages: tuple[str, ...] = ()
    """Values of `|message` placeholders, in order: each is a message of its own."""
    artifacts: tuple[str, ...] = ()
    """Names of the artifacts that the text only refers to: they are to be loaded."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder of a text: the source between the braces, and where it stands (code points)."""

    source: str
    start: int
    end: int
    own_message: bool


def placeholders(text: str) -> tuple[Placeholder, ...]:
    """The placeholders of `text`, whether or not they can be filled. Used by validation as well."""
    return tuple(part for part in _cut(text) if isinstance(part, Placeholder))


def is_literal(text: str) -> bool:
    """Whether the text reaches the model as it stands, whatever the session's values are."""
    return without_escapes(text) == text and not any(map(_can_be_filled, placeholders(text)))


def as_literal(text: str) -> str:
    """The text written so that it reaches the model as it stands: its braces doubled."""
    written, position = [], 0
    while position < len(text):
        kept = _SECRET.match(text, position) or _LIKE_SECRET.match(text, position)
        end = kept.end() if kept is not None else position + 1
        piece = text[position:end]
        written.append(piece * 2 if kept is None and piece in "{}" else piece)
        position = end
    return "".join(written)


def without_escapes(text: str) -> str:
    """The text with single braces for doubled ones, its placeholders as they are written."""
    return "".join(text[p.start : p.end] if isinstance(p, Placeholder) else p for p in _cut(text))


def _can_be_filled(placeholder: Placeholder) -> bool:
    if _VARIABLE.match(placeholder.source):
        return True
    try:
        compile_expression(placeholder.source)
    except ExpressionError:
        return False
    return True


def expression_of(placeholder: Placeholder) -> str:
    """The CEL expression that a placeholder stands for: `$n` is `vars["n"]`."""
    variable = _VARIABLE.match(placeholder.source)
    return f'vars["{variable.group(1)}"]' if variable is not None else placeholder.source


def names_in_scope(variables: Iterable[str]) -> frozenset[str]:
    """The names a placeholder may use: the roots, and declared variables that are identifiers."""
    return frozenset(ROOTS) | {name for name in variables if _IDENTIFIER.match(name)}


def resolve(
    text: str, roots: Mapping[str, Any], declared: Iterable[str] = (), *, refer: bool = False
) -> Resolved:
    """Fill the placeholders of `text`; bare names of `declared` variables are bound unless they are roots.

    With `refer` a placeholder that names a variable which is an artifact becomes `[artifact NAME]`; without,
    its content.
    """
    if "{" not in text and "}" not in text:
        return Resolved(text)
    names = names_in_scope(declared)
    variables = roots.get("vars") or {}
    values = {name: variables.get(name) for name in names if name not in ROOTS} | dict(roots)
    written: list[str] = []
    unresolved: list[str] = []
    messages: list[str] = []
    artifacts: list[str] = []
    for part in _cut(text):
        if isinstance(part, str):
            written.append(part)
            continue
        if refer and (artifact := _artifact(part, values)) is not None:
            artifacts.append(artifact)
            written.append("" if part.own_message else f"[artifact {artifact}]")
            continue
        filled = _fill(part, values, names)
        if filled is None:
            unresolved.append(text[part.start : part.end])
            written.append(text[part.start : part.end])
        elif part.own_message:
            messages.append(filled)
        else:
            written.append(filled)
    return Resolved("".join(written), tuple(unresolved), tuple(messages), tuple(artifacts))


def _artifact(placeholder: Placeholder, values: Mapping[str, Any]) -> str | None:
    """The artifact that the variable is which the placeholder names, if it is one."""
    variable = _WHOLE_VARIABLE.match(placeholder.source)
    if variable is not None:
        value = (values.get("vars") or {}).get(variable.group(1) or variable.group(2))
    else:
        value = values.get(placeholder.source) if _IDENTIFIER.match(placeholder.source) else None
    name = value.get("$artifact") if isinstance(value, Mapping) and len(value) == 1 else None
    known = values.get(ARTIFACTS) or {}
    return name if isinstance(name, str) and name in known and not name.startswith("_") else None


def _fill(placeholder: Placeholder, values: Mapping[str, Any], names: frozenset[str]) -> str | None:
    variable = _VARIABLE.match(placeholder.source)
    if variable is not None:
        known = values.get("vars") or {}
        if (name := variable.group(1)) not in known:
            return None
        return as_text(with_contents(known[name], values.get(ARTIFACTS) or {}, (), depth=1))
    try:
        outcome = compile_expression(placeholder.source, names).evaluate(values)
    except ExpressionError:
        return None
    return as_text(outcome.value) if outcome.error is None else None


def as_text(value: Any) -> str:
    """A value as the model reads it: text as it is, everything else as JSON, null as nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


@lru_cache(maxsize=256)
def _cut(text: str) -> tuple[str | Placeholder, ...]:
    """The pieces of a text. The same few prompts are resolved at every entry of their stages."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[str | Placeholder]:
    """The text cut into literal pieces and placeholders, in order."""
    position = start = unclosed = 0
    while position < len(text):
        secret = _SECRET.match(text, position)
        if secret is not None:
            position = secret.end()
        elif text.startswith(("{{", "}}"), position):
            yield text[start:position] + text[position]
            position = start = position + 2
        elif text[position] == "{" and unclosed < _MOST_UNCLOSED:
            end = _closing(text, position)
            if end is None:
                unclosed += 1
                position += 1
                continue
            yield text[start:position]
            yield _placeholder(text, position, end)
            position = start = end
        else:
            following = _BRACE.search(text, position + 1)
            position = following.start() if following is not None else len(text)
    yield text[start:]


def _placeholder(text: str, start: int, end: int) -> Placeholder:
    inner = text[start + 1 : end - 1].strip()
    own_message = inner.endswith(_MESSAGE)
    return Placeholder(inner.removesuffix(_MESSAGE).strip(), start, end, own_message)


def _closing(text: str, start: int) -> int | None:
    """Where the placeholder that opens at `start` ends: the matching brace outside of quotes, or None.

    Looks no further than the longest expression can be, so that a text full of braces stays linear.
    """
    depth = 0
    quote = ""
    position = start
    limit = min(len(text), start + MAX_LENGTH + 100)
    while position < limit:
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None
