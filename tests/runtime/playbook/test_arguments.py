"""Arguments against a tool's schema: checked before anything runs, nothing fetched, linear patterns."""

from __future__ import annotations

import time
from typing import Any

import pytest

from runtime.playbook.arguments import argument_error

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["city", "cargo"]},
        "n": {"type": "integer"},
        "code": {"type": "string", "pattern": "^(a+)+$"},
    },
    "required": ["kind"],
}


def test_fitting_arguments_are_no_problem() -> None:
    assert argument_error(SCHEMA, {"kind": "city", "n": 2}) is None


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({}, '"kind" is a required property'),
        ({"kind": "race"}, "/kind"),
        ({"kind": "city", "n": "two"}, "/n"),
        (None, "not valid JSON"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(arguments: dict[str, Any] | None, part: str) -> None:
    assert part in (argument_error(SCHEMA, arguments) or "")


@pytest.mark.parametrize("reference", ["http://127.0.0.1:1/x", "file:///etc/passwd"])
def test_references_to_elsewhere_are_never_followed(reference: str) -> None:
    assert "not followed" in (argument_error({"$ref": reference}, {}) or "")


@pytest.mark.parametrize("schema", [{"type": 5}, {"properties": {"a": {"pattern": "(?=x)"}}}])
def test_a_schema_that_cannot_be_used_makes_an_error_and_no_crash(schema: dict[str, Any]) -> None:
    assert "not a usable JSON Schema" in (argument_error(schema, {"a": "x"}) or "")


def test_a_pattern_made_to_hang_does_not() -> None:
    began = time.process_time()
    assert argument_error(SCHEMA, {"kind": "city", "code": "a" * 50 + "!"}) is not None
    assert time.process_time() - began < 2


def test_a_schema_whose_references_fan_out_is_refused_before_anything_is_checked() -> None:
    parts: dict[str, Any] = {"l0": {"type": "object"}}
    for number in range(1, 60):
        parts[f"l{number}"] = {"allOf": [{"$ref": f"#/$defs/l{number - 1}"}] * 2}
    schema = {"type": "object", "$ref": "#/$defs/l59", "$defs": parts}
    assert "fan out" in (argument_error(schema, {}) or "")


def test_a_schema_may_go_in_circles_and_use_a_part_often() -> None:
    part = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {**{f"p{n}": {"$ref": "#/$defs/part"} for n in range(300)}, "child": {"$ref": "#"}},
        "$defs": {"part": part},
    }
    assert argument_error(schema, {"child": {"child": {"p7": "x"}}}) is None
    assert argument_error(schema, {"child": {"child": {"p7": 7}}}) is not None
