"""Tools: what the model may call, and what answers the call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from runtime.playbook.base import DocumentPart, Integer, JsonObject, ToolName


class HttpImplementation(DocumentPart):
    """An HTTP request; values may use placeholders and `{{secret.NAME}}`."""

    type: Literal["http"] = "http"
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: str
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, Any] = Field(default_factory=dict)
    body: Any = None
    timeout_ms: Integer = Field(default=10_000, ge=1, le=300_000)
    result_path: str | None = None


class McpImplementation(DocumentPart):
    """A tool of a Model Context Protocol server that an administrator registered."""

    type: Literal["mcp"] = "mcp"
    server: str
    tool: str


class MockResponse(DocumentPart):
    """One scripted answer: the first response whose `when` holds (CEL over `arguments`, `vars`) is used."""

    when: str | None = None
    result: Any = None
    error: str | None = None
    delay_ms: Integer = Field(default=0, ge=0, le=60_000)


class MockImplementation(DocumentPart):
    """Scripted answers, for playing a playbook before its systems exist."""

    type: Literal["mock"] = "mock"
    responses: tuple[MockResponse, ...] = ()


class PythonImplementation(DocumentPart):
    """A function that the operator registered on the server under this name."""

    type: Literal["python"] = "python"
    name: str


class ExpressionImplementation(DocumentPart):
    """A CEL expression over `arguments` and the usual roots; its value is the result."""

    type: Literal["expression"] = "expression"
    expression: str


class ClientImplementation(DocumentPart):
    """Answered by the connected client."""

    type: Literal["client"] = "client"


ToolImplementation = Annotated[
    HttpImplementation
    | McpImplementation
    | MockImplementation
    | PythonImplementation
    | ExpressionImplementation
    | ClientImplementation,
    Field(discriminator="type"),
]


def _no_parameters() -> JsonObject:
    return {"type": "object", "properties": {}}


class ToolDefinition(DocumentPart):
    """A tool as the model sees it (name, description, parameters) and how it is answered."""

    name: ToolName
    description: str = ""
    parameters: JsonObject = Field(default_factory=_no_parameters)
    """A JSON Schema (draft 2020-12) of type object."""
    execution_policy: Literal["parallel", "sequential"] = "parallel"
    approval: Literal["never", "first", "always"] = "never"
    implementation: ToolImplementation | None = None
    """None: the tool answers "not implemented" as an error result, and validation says so."""
    save_as: str | None = None
    """Name of the variable that the result is stored in."""
