"""Finds the values of a tool's parameters in what the user wrote, or in what is known already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import re2

from runtime.llm.rehearsal.view import View
from runtime.llm.rehearsal.words import has_words

Schema = Mapping[str, Any]

# Each begins where a run of its characters begins: tried everywhere, a long word takes its length squared.
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(r"\+?\d[\d ()/-]{6,}\d")
_NUMBER: Final = re.compile(r"(?<![\w.-])-?\d+(?:[.,]\d+)?(?![\w-])")
_TOKEN: Final = re.compile(r"(?<![\w.@+-])[\w.@+-]*\w")
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)[_-]*([A-Za-z0-9][\w-]{2,})")
_NAME: Final = re.compile(
    r"(?:my name is|i am|i'm|this is|name's|call me)\s+([^\W\d_][\w'’-]*(?:\s[A-Z][\w'’-]*)?)", re.I
)
_PLACE: Final = re.compile(r"\b(?:in|to|from|at|near|for)\s+([A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?)")
_DATE: Final = re.compile(
    r"(?i)\b(\d{4}-\d{2}-\d{2}|today|tonight|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{1,2}[./]\d{1,2}[./]\d{2,4})\b"
)
_TIME: Final = re.compile(r"(?i)\b(\d{1,2}:\d{2}(?:\s?[ap]m)?|\d{1,2}\s?[ap]m)\b")
_URL: Final = re.compile(r"https?://\S+[\w/]")
_EXAMPLE: Final = re.compile(r"(?i)(?:for example|e\.g\.|such as|like)\s+[\"'“]?([\w+-]*\w)")
_CAMEL: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FREE_WORDS: Final = (
    "summary question query text message topic description reason note comment request details"
)
FREE_TEXT: Final = frozenset(_FREE_WORDS.split())


def values_in(text: str, name: str, schema: Schema) -> list[Any]:
    """The values for that parameter that stand in the text, in order; free text is not looked for here."""
    if "const" in schema:
        return [schema["const"]]
    if isinstance(schema.get("enum"), list):
        return [value for value in schema["enum"] if has_words(text, str(value))]
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return _numbers(text, schema, whole=kind == "integer")
    if kind == "boolean":
        return []
    return list(dict.fromkeys(_strings(text, name, schema))) if kind in (None, "string") else []


def _numbers(text: str, schema: Schema, *, whole: bool) -> list[Any]:
    found = [float(match.replace(",", ".")) for match in _NUMBER.findall(text)]
    low, high = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    fitting = [value for value in found if low <= value <= high and (not whole or value.is_integer())]
    return [int(value) for value in fitting] if whole else fitting


def _strings(text: str, name: str, schema: Schema) -> list[str]:
    words = " ".join(part.lower() for part in _CAMEL.findall(name))
    form = str(schema.get("format", ""))
    if schema.get("pattern"):
        return _by_pattern(text, str(schema["pattern"]))
    if form == "email" or "mail" in words:
        return _EMAIL.findall(text)
    if "phone" in words or "mobile" in words:
        return [] if _EMAIL.search(text) else [match.strip() for match in _PHONE.findall(text)]
    if form in ("date", "date-time") or _has(words, "date", "day"):
        return _DATE.findall(text)
    if form == "time" or _has(words, "time"):
        return _TIME.findall(text)
    if form in ("uri", "url") or _has(words, "url", "link"):
        return _URL.findall(text)
    if example := _EXAMPLE.search(str(schema.get("description", ""))):
        return _by_shape(text, example.group(1))
    return _by_name(text, words)


def _by_name(text: str, words: str) -> list[str]:
    if _has(words, "id", "number", "code", "reference"):
        return [code for code in _CODE.findall(text) if not code.isalpha()]
    if _has(words, "name") and not _has(words, "product", "item", "file"):
        return _NAME.findall(text)
    if _has(words, "city", "place", "location", "destination", "town", "country"):
        return _PLACE.findall(text)
    return []


def _has(words: str, *names: str) -> bool:
    return any(name in words.split() for name in names)


def _by_pattern(text: str, pattern: str) -> list[str]:
    """Words of the text that match the whole pattern; re2, because a pattern may be anybody's."""
    try:
        compiled = re2.compile(pattern)
    except re2.error:
        return []
    return [word for word in _TOKEN.findall(text) if compiled.search(word) is not None]


def _by_shape(text: str, example: str) -> list[str]:
    """Words shaped like the example: `c_81` is a letter, a line and digits. Only for examples with digits."""
    if not any(character.isdigit() for character in example):
        return []
    shape = re.compile("".join(_class_of(part) for part in re.findall(r"\d+|[A-Za-z]+|.", example)))
    return [word for word in _TOKEN.findall(text) if shape.fullmatch(word)]


def _class_of(part: str) -> str:
    if part.isdigit():
        return r"\d+"
    return rf"[A-Za-z]{{{len(part)}}}" if part.isalpha() else re.escape(part)


def known_value(name: str, view: View) -> Any:
    """A value that an earlier result or a variable has for that name: `orderNumber`, or `customer.id` for
    `customerId`. None if there is none."""
    sources: Sequence[Any] = [*(r.value for r in reversed(view.past) if r.success), view.variables]
    parts = [part.lower() for part in _CAMEL.findall(name)]
    for source in sources:
        if isinstance(source, Mapping) and isinstance(source.get(name), (str, int, float)):
            return source[name]
    for holder in (view.variables.get("".join(parts[:-1])), *sources) if len(parts) > 1 else ():
        if isinstance(holder, Mapping) and isinstance(holder.get(parts[-1]), (str, int, float)):
            return holder[parts[-1]]
    return None
