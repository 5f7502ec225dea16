"""The OpenAPI document: the API's own, with the socket's frames, and tidied for the code generators."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from builder.api.errors import ErrorBody
from runtime.conversation.events import EVENT
from runtime.inspector.frames import CLIENT_FRAME, SERVER_FRAME
from runtime.playbook import Playbook

_REF: Final = "#/components/schemas/{model}"
_SOCKET: Final[tuple[tuple[str, TypeAdapter[Any], JsonSchemaMode], ...]] = (
    ("Event", EVENT, "serialization"),
    ("ClientFrame", CLIENT_FRAME, "validation"),
    ("ServerFrame", SERVER_FRAME, "serialization"),
    ("Playbook", TypeAdapter(Playbook), "validation"),
)
"""Unions that no address takes or answers, by the name of their component; and, last, the document.

A stored document leaves out what is at its default: wherever it appears, those fields are optional.
"""


def openapi_document() -> dict[str, Any]:
    """OpenAPI 3.1 of the whole API, the same at every call."""
    from builder.api import api  # the routes import this package's other modules

    document: dict[str, Any] = dict(api.get_openapi_schema())
    schemas = document["components"]["schemas"]
    for name, adapter, mode in _SOCKET:
        schemas.update(_definitions(name, adapter, mode))
    schemas.update(_definitions("ErrorBody", TypeAdapter(ErrorBody), "serialization"))
    document["components"]["schemas"] = {name: schemas[name] for name in sorted(schemas)}
    document.pop("servers", None)
    _describe_errors(document)
    result: dict[str, Any] = tidied(document)
    return result


def tidied(schema: Any) -> Any:
    """The schema without noise (generated titles, “more fields allowed”), each union's tag required."""
    if isinstance(schema, list):
        return [tidied(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        key: _tidied_member(key, item) for key, item in schema.items() if not _is_noise(key, item, schema)
    }
    _require_tags(result)
    return result


def _definitions(name: str, adapter: TypeAdapter[Any], mode: JsonSchemaMode) -> dict[str, Any]:
    schema = adapter.json_schema(mode=mode, ref_template=_REF)
    definitions: dict[str, Any] = schema.pop("$defs", {})
    if "$ref" not in schema:
        definitions[name] = schema
    return definitions


def _describe_errors(document: dict[str, Any]) -> None:
    answer = {
        "description": "An error",
        "content": {"application/json": {"schema": {"$ref": _REF.format(model="ErrorBody")}}},
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"] = {str(status): told for status, told in operation["responses"].items()}
            operation["responses"].setdefault("default", answer)


def _tidied_member(key: str, item: Any) -> Any:
    """A property may be called `title` or `default`: the names in `properties` are no keywords."""
    if key == "properties" and isinstance(item, dict):
        return {name: tidied(schema) for name, schema in item.items()}
    return item if key in ("default", "const", "enum", "example") else tidied(item)


def _is_noise(key: str, item: Any, schema: dict[str, Any]) -> bool:
    if key == "title":
        return isinstance(item, str) and "version" not in schema
    return key == "additionalProperties" and item is True and "properties" in schema


def _require_tags(schema: dict[str, Any]) -> None:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    tag = properties.get("type")
    if isinstance(tag, dict) and "const" in tag:
        required = schema.get("required", [])
        schema["required"] = required if "type" in required else ["type", *required]
        schema["properties"] = {**properties, "type": {k: v for k, v in tag.items() if k != "default"}}
