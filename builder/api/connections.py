"""The connections to models: what there is, whether it answers, and which model a stage would get.

A key never leaves the server: of each it is said only whether it is there.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import Path
from pydantic import Field

from builder.api.errors import not_found
from builder.api.routing import routes
from builder.api.schemas import OfferedModel
from runtime import wiring
from runtime.conversation.base import Value
from runtime.llm.connection import Connection
from runtime.llm.connections_file import Api
from runtime.llm.trying import offer_of, try_connection
from runtime.playbook import LLMConfig, ToolChoice
from runtime.playbook.model_settings import merged_settings

router = routes("connections")
Name = Annotated[str, Path(alias="name")]


class ConnectionView(Value):
    """A connection as the operator set it up."""

    name: str
    api: Api
    url: str
    """Empty: the vendor's own."""
    sources: tuple[str, ...]
    """`environment`, `connections.toml`; none: nobody has set it up."""
    key_present: bool
    key_source: str
    """The variable or the file that has the key, or the variable that should; empty: none is named."""
    model: str
    """Of a stage that names only the connection; empty: none."""
    is_default: bool
    """Answers a playbook that names no model."""
    usable: bool
    """A request can be sent. Whether it is answered, a test tells."""
    note: str
    """What is missing or wrong, in a sentence; empty where nothing is."""


class FileProblemView(Value):
    """What of the settings file is not used."""

    line: int | None
    place: str
    message: str


class ConnectionsView(Value):
    """All connections, and the file that names them."""

    connections: tuple[ConnectionView, ...]
    file: str
    """Where the settings file is looked for."""
    file_found: bool
    problems: tuple[FileProblemView, ...]


class ModelList(Value):
    """What a server says that it offers; `problem` says why there is no list."""

    models: tuple[str, ...] = ()
    problem: str = ""


class ToTest(Value):
    """The model to ask for; without one the connection's own."""

    model: str | None = Field(default=None, max_length=200)


class Trial(Value):
    """What came of a test, in a sentence for a person."""

    ok: bool
    code: str
    """`ok`, `not_set_up`, or what failed: `not_allowed`, `bad_request`, `connection_lost`, …"""
    message: str
    model: str
    """The one that was asked for; empty: none was, only the server."""
    milliseconds: int
    offer: ModelList


class ToResolve(Value):
    """A stage's settings, and those of its playbook."""

    config: LLMConfig = Field(default_factory=LLMConfig)
    default: LLMConfig | None = None
    tool_choice: ToolChoice = "auto"


class Resolved(Value):
    """Who would answer such a stage on this server."""

    answers: Literal["model", "rehearsal", "nobody"]
    """`nobody`: the connection has no model of its own, and none is named."""
    connection: str
    """The one that is meant; empty if there is none of that name."""
    model: str
    reason: str
    """Why it is the rehearsal, or nobody; empty where the rehearsal was chosen."""
    left_out: tuple[str, ...]
    """Settings that the model does not support: they are not sent."""


def offered_models() -> tuple[OfferedModel, ...]:
    """The rehearsal first, then each connection's models, whether or not a key is at hand."""
    return tuple(OfferedModel(**asdict(model)) for model in wiring.connections().models())


@router.get("", response=ConnectionsView, operation_id="listConnections")
def list_connections(request: HttpRequest) -> ConnectionsView:
    """How this server reaches models. It is read when the server starts."""
    known = wiring.connections()
    return ConnectionsView(
        connections=tuple(_view(one, known.file.default) for one in known.all()),
        file=str(known.file.path or ""),
        file_found=known.file.found,
        problems=tuple(FileProblemView(**asdict(problem)) for problem in known.problems),
    )


@router.post("/resolve", response=Resolved, operation_id="resolveModel")
def resolve_model(request: HttpRequest, body: ToResolve) -> Resolved:
    """Which model a stage with these settings would get, and what it does not support of them."""
    known = wiring.connections()
    config = merged_settings(body.default, body.config)
    answer = known.answer(config)
    return Resolved(
        answers=answer.by,
        connection=answer.connection.name if answer.connection else "",
        model=answer.model,
        reason=answer.reason,
        left_out=known.left_out(config, body.tool_choice),
    )


@router.get("/{name}/models", response=ModelList, operation_id="listModels")
async def list_models(request: HttpRequest, name: Name) -> ModelList:
    """The models that the server behind the connection says it has."""
    return ModelList(**asdict(await offer_of(_find(name))))


@router.post("/{name}/test", response=Trial, operation_id="testConnection")
async def check_connection(request: HttpRequest, name: Name, body: ToTest) -> Trial:
    """Asks the server, and says in words what is wrong: the key, the model, the address, its certificate."""
    return Trial(**asdict(await try_connection(_find(name), body.model)))


def _find(name: str) -> Connection:
    connection = wiring.connections().named(name)
    if connection is None:
        raise not_found("connection")
    return connection


def _view(connection: Connection, default: str | None) -> ConnectionView:
    settings = connection.settings
    return ConnectionView(
        name=settings.name,
        api=settings.api,
        url=settings.url or "",
        sources=settings.sources,
        key_present=bool(settings.key),
        key_source=settings.key_source,
        model=settings.model,
        is_default=settings.name == default,
        usable=settings.usable,
        note=settings.note,
    )
