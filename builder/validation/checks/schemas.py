"""bad-schema, loose-schema: the JSON Schemas of tools' parameters and of variables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NoReturn

import jsonschema_rs

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import remove_at
from builder.validation.outline import Outline, PlacedTool
from builder.validation.pointers import Part, pointer
from runtime.playbook.schema_size import fans_out


def check(outline: Outline) -> Iterator[Diagnostic]:
    """An empty schema is fine: the tool takes no arguments."""
    for placed in outline.tools:
        yield from _parameters(placed)
    for index, variable in enumerate(outline.playbook.variables):
        problem = problem_of(variable.schema_ or {})
        if problem is not None:
            where, words = problem
            path = pointer("variables", index, "schema", *where)
            yield error(
                "bad-schema", f"The schema of the variable “{variable.name}” is not valid: {words}.", path
            )


def problem_of(schema: dict[str, Any]) -> tuple[tuple[Part, ...], str] | None:
    """Where the schema is wrong, and why; None for a valid one. Never fetches what it refers to."""
    return _problem_of(json.dumps(schema)) if schema else None


@lru_cache(maxsize=2048)
def _problem_of(text: str) -> tuple[tuple[Part, ...], str] | None:
    schema = json.loads(text)
    if fans_out(schema):
        return (), "its references fan out too far: a check would take for ever"
    try:
        jsonschema_rs.Draft202012Validator(
            schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as failure:
        where = tuple(getattr(failure, "instance_path", ()))
        return where, _words(schema, where, str(getattr(failure, "message", failure)))
    return None


def _parameters(placed: PlacedTool) -> Iterator[Diagnostic]:
    schema, base = placed.tool.parameters, f"{placed.path}/parameters"
    tool = f"The parameters of the tool “{placed.tool.name}”"
    problem = problem_of(schema)
    if problem is not None:
        where, words = problem
        yield error(
            "bad-schema", f"{tool} are not valid: {words}.", base + pointer(*where), stage=placed.stage_id
        )
    elif schema and schema.get("type") != "object":
        message = f"{tool} must be an object: models pass arguments by name."
        yield error("bad-schema", message, base, stage=placed.stage_id)
    else:
        for where, words in _loose(schema):
            path = base + pointer(*where)
            fix = (
                remove_at("Don't require it", path, schema["required"][where[1]])
                if where[0] == "required"
                else None
            )
            yield warning("loose-schema", f"{tool}: {words}.", path, stage=placed.stage_id, fix=fix)


def _loose(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, Any], str]]:
    """What is valid, and what some providers refuse or models misread all the same."""
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    for index, name in enumerate(schema.get("required", ())):
        if name not in properties:
            yield ("required", index), f"“{name}” is required but not described"
    for name, inner in properties.items():
        if any(character.isspace() for character in name):
            yield ("properties", name), f"the name “{name}” contains a blank"
        if isinstance(inner, dict) and inner.get("type") == "array" and "items" not in inner:
            yield ("properties", name), f"“{name}” is a list of nobody knows what: say so in “items”"


def _words(schema: Any, where: tuple[Part, ...], message: str) -> str:
    value: Any = schema
    for part in where:
        value = value[part]  # the validator found its way there
    if where and where[-1] == "type":
        return f"“{value}” is no JSON type"
    if where and where[-1] == "pattern":
        return f"“{value}” is no regular expression"
    return message[:200].rstrip(".")


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"references to {uri} are not followed")
