"""The API's description: what the frontend's types are made of."""

from __future__ import annotations

from typing import Any

import pytest

from builder.api import api
from builder.api.openapi import openapi_document
from runtime.conversation.base import Value


@pytest.fixture(scope="module")
def described() -> Any:
    return openapi_document()


def test_every_operation_speaks_the_json_names() -> None:
    operations = [
        operation
        for bound in api._get_bound_routers()
        for view in bound.path_operations.values()
        for operation in view.operations
    ]
    assert len(operations) > 15
    assert [operation.path for operation in operations if not operation.by_alias] == []


def test_reserved_words_keep_their_names(described: Any) -> None:
    schemas = described["components"]["schemas"]
    assert "from" in schemas["Transition"]["properties"]
    assert "schema" in schemas["Variable"]["properties"]
    assert "defaultLLMConfig" in schemas["Playbook"]["properties"]
    assert "llmConfig" in schemas["Stage"]["properties"]


def test_a_document_has_one_description(described: Any) -> None:
    names = described["components"]["schemas"]
    assert [name for name in names if name.endswith(("-Input", "-Output", "__1"))] == []
    assert names["Playbook"]["required"] == ["id", "name", "stages", "initialStage"]


def test_two_models_of_the_api_never_share_a_name() -> None:
    """Of two with one name only one would be described."""
    models = [model for model in subclasses(Value) if not model.__module__.startswith("tests.")]
    names = [model.__name__ for model in models]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def subclasses(kind: type[Any]) -> list[type[Any]]:
    return [found for sub in kind.__subclasses__() for found in (sub, *subclasses(sub))]


def test_unions_are_told_apart_by_a_required_literal(described: Any) -> None:
    schemas = described["components"]["schemas"]
    for union in ("Event", "ClientFrame", "ServerFrame"):
        for member in schemas[union]["oneOf"]:
            schema = schemas[member["$ref"].rsplit("/", 1)[1]]
            assert "const" in schema["properties"]["type"], schema
            assert "type" in schema["required"]


def test_every_reference_leads_somewhere(described: Any) -> None:
    schemas = described["components"]["schemas"]
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                found.append(value["$ref"])
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    collect(described)
    assert {ref.rsplit("/", 1)[1] for ref in found} <= set(schemas)


def test_every_operation_describes_its_errors(described: Any) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert "default" in operation["responses"], (method, path)
