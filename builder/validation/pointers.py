"""JSON pointers (RFC 6901) into a document, and pydantic's errors told as places and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from runtime.playbook.errors import Problem

Part = str | int

# Fields that hold a union told apart by `type`: pydantic puts the member's tag after them into its paths.
_TAGGED_FIELDS = ("condition", "implementation")

_SENTENCES: Mapping[str, str] = {
    "missing": "{name} is missing.",
    "string_type": "{name} must be a text.",
    "int_type": "{name} must be a whole number.",
    "int_parsing": "{name} must be a whole number.",
    "int_from_float": "{name} must be a whole number.",
    "float_type": "{name} must be a number.",
    "float_parsing": "{name} must be a number.",
    "bool_type": "{name} must be true or false.",
    "bool_parsing": "{name} must be true or false.",
    "dict_type": "{name} must be an object.",
    "model_type": "{name} must be an object.",
    "model_attributes_type": "{name} must be an object.",
    "tuple_type": "{name} must be a list.",
    "list_type": "{name} must be a list.",
    "too_short": "{name} must have at least {min_length} entries, it has {actual_length}.",
    "string_too_short": "{name} must have at least {min_length} characters.",
    "string_too_long": "{name} may have at most {max_length} characters.",
    "string_pattern_mismatch": "{name} may only consist of characters that match {pattern}.",
    "literal_error": "{name} must be {expected}.",
    "union_tag_not_found": "{name} needs a “type”.",
    "union_tag_invalid": "{name} has the unknown type “{tag}”; known are {expected_tags}.",
    "greater_than_equal": "{name} must be at least {ge}.",
    "less_than_equal": "{name} must be at most {le}.",
    "extra_forbidden": "{name} is not known here.",
}


def pointer(*parts: Part) -> str:
    """The pointer to that place: `pointer("stages", 0, "a/b")` is `/stages/0/a~1b`."""
    text = "/".join(map(str, parts))
    if not parts or ("~" not in text and text.count("/") == len(parts) - 1):
        return "/" + text if parts else ""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def place(location: Sequence[Part], document: Any, missing: bool = False) -> tuple[Part, ...]:
    """Pydantic's path without the unions' tags, which are no part of the document."""
    parts: list[Part] = []
    value = document
    for index, part in enumerate(location):
        if _is_tag(part, parts, value, location[:index]):
            continue
        found, inner = _descend(value, part)
        if found or (missing and index == len(location) - 1):
            parts.append(part)
            value = inner
    return tuple(parts)


def problem_at(item: Mapping[str, Any], parts: Sequence[Part]) -> Problem:
    """One of pydantic's errors as a problem at that place."""
    return Problem(pointer(*parts), sentence(item, parts), item["type"].replace("_", "-"))


def problems(failure: ValidationError, document: Any) -> tuple[Problem, ...]:
    """All that is wrong with the document's shape, in document order as pydantic found it, once per place."""
    found: dict[str, Problem] = {}
    for item in failure.errors(include_url=False, include_input=False):
        parts = place(item["loc"], document, missing=item["type"] in ("missing", "extra_forbidden"))
        problem = problem_at(item, parts)
        found.setdefault(problem.path, problem)
    return tuple(found.values())


def sentence(item: Mapping[str, Any], parts: Iterable[Part]) -> str:
    """The error in words that name the field as an author knows it."""
    words = _SENTENCES.get(item["type"])
    name = readable(parts)
    if words is None:
        return f"{name}: {item['msg']}."
    return words.format(name=name, **item.get("ctx", {}))


def readable(parts: Iterable[Part]) -> str:
    """`transitions[0].action`; “The document” for the whole."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")
    return text or "The document"


def _is_tag(part: Part, parts: list[Part], value: Any, before: Sequence[Part]) -> bool:
    in_union = bool(parts) and parts[-1] in _TAGGED_FIELDS and bool(before) and before[-1] == parts[-1]
    return in_union and isinstance(value, dict) and value.get("type") == part


def _descend(value: Any, part: Part) -> tuple[bool, Any]:
    if isinstance(value, dict) and part in value:
        return True, value[part]
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return True, value[part]
    return False, None
