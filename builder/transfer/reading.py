"""Reads JSON from bytes that nobody vouches for: one value, or one sentence that says why not."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_DEPTH = 100
"""Levels of nesting. A playbook needs about ten; a hostile file could otherwise exhaust the stack."""

_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


class UnreadableJson(ValueError):
    """The bytes are no JSON that can be stored. The message is a sentence for a person."""


def read_json(data: bytes) -> Any:
    """The value in the bytes (UTF-8, with or without a byte order mark).

    Raises UnreadableJson for anything else: another encoding, NaN or infinite numbers, a key given twice,
    deeper nesting than MAX_DEPTH, characters that no database keeps (NUL, lone surrogates).
    """
    text = _decode(data)
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as failure:
        raise UnreadableJson(_explain(failure, text)) from None
    except UnreadableJson:
        raise
    except ValueError:
        raise UnreadableJson("A whole number in it has thousands of digits; that cannot be read.") from None
    _check_storable(value)
    return value


def _decode(data: bytes) -> str:
    if not data.strip():
        raise UnreadableJson("The body is empty; a JSON document was expected.")
    if data.startswith(_OTHER_ENCODINGS) or b"\x00" in data[:4]:
        raise UnreadableJson("The text is UTF-16 or UTF-32; save it as UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise UnreadableJson(f"The text is not UTF-8 (byte {failure.start}); save it as UTF-8.") from None


def _explain(failure: json.JSONDecodeError, text: str) -> str:
    if failure.pos >= len(text.rstrip()):
        return "The JSON ends too early: something is not closed."
    return f"This is not JSON: {failure.msg.lower()} at line {failure.lineno}, column {failure.colno}."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise UnreadableJson(f"The key “{key[:80]}” stands twice in one object; only one can be kept.")
        seen.add(key)
    raise AssertionError("one key stands twice")


def _refuse_constant(name: str) -> Any:
    raise UnreadableJson(f"{name} is not a JSON number.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise UnreadableJson(f"The number {text[:40]} is too large.")
    return number


def _check_storable(value: Any) -> None:
    """Walks with a list, not with calls: the depth is what is being checked."""
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise _too_deep()
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                _check_text(key)
                waiting.append((inner, depth + 1))
        elif isinstance(item, list):
            waiting.extend((inner, depth + 1) for inner in item)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise UnreadableJson("A text in it contains the character NUL (\\u0000), which cannot be stored.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnreadableJson("A text in it contains half of a character (a lone surrogate).") from None


def _too_deep() -> UnreadableJson:
    return UnreadableJson(f"It is nested more than {MAX_DEPTH} levels deep.")
