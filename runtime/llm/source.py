"""Connections: which model answers a stage. Without a key it is the rehearsal model, and it says so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, assert_never

from runtime.context.models import ModelRecord, guess_provider, record, table
from runtime.context.window import ContextWindow
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.base import LLM, BadRequest, LLMRequest, NotAllowed
from runtime.llm.connection import (
    VENDORS,
    Connection,
    ConnectionSettings,
    GuardedServer,
    MakeServer,
    ModelServer,
    settings_of,
)
from runtime.llm.connections_file import NO_FILE, Api, ConnectionsFile, FileProblem, read_connections_file
from runtime.llm.openai_chat import OpenAIChatLLM
from runtime.llm.openai_responses import OpenAIResponsesLLM
from runtime.llm.rehearsal import REHEARSAL, RehearsalLLM
from runtime.llm.sdk import SdkLLM
from runtime.playbook import LLMConfig, ToolChoice

DEFAULT_MODELS: Final[Mapping[str, str]] = {name: vendor.model for name, vendor in VENDORS.items()}
"""The model of a stage that names a provider only."""
LABEL: Final = "Rehearsal (no model)"
NOTE: Final = "Fixed rules play the model's part, free and offline."
_VENDOR_OF: Final[Mapping[str, str]] = {"anthropic": "anthropic", "openai": "openai"}


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One line of the model menu. `provider` is the connection's name."""

    id: str
    provider: str
    label: str
    available: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Who answers a stage: a model over a connection, or the rehearsal, or nobody; `reason` says why not the
    model that is meant, and is empty where the rehearsal was chosen."""

    by: Literal["model", "rehearsal", "nobody"]
    """`nobody`: the connection can be used, but no model is named, and it has none of its own."""
    connection: Connection | None = None
    """The one that is meant, whether or not it can be used."""
    model: str = ""
    reason: str = ""


_REHEARSED: Final = Answer("rehearsal")


def make_server(api: Api, key: str, url: str | None) -> ModelServer:
    """The adapter that speaks this API."""
    match api:
        case "anthropic":
            return AnthropicLLM(key, url)
        case "responses":
            return OpenAIResponsesLLM(key, url)
        case "chat":
            return OpenAIChatLLM(key, url)
        case _:
            assert_never(api)


class Connections:
    """The connections that the environment and the settings file give (docs/connections.md)."""

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        *,
        file: ConnectionsFile = NO_FILE,
        rehearsal: RehearsalLLM | None = None,
        make: MakeServer = make_server,
    ) -> None:
        values = os.environ if environ is None else environ
        self.file = file
        self._rehearsal = rehearsal or RehearsalLLM()
        self._connections = {
            settings.name: _connection(settings, make) for settings in settings_of(values, file)
        }

    @classmethod
    def of(cls, path: Path, *, rehearsal: RehearsalLLM | None = None) -> Connections:
        """Those of the environment and of the settings file at that place, if there is one."""
        return cls(file=read_connections_file(path), rehearsal=rehearsal)

    def all(self) -> list[Connection]:
        """The connections, usable or not, in the order in which they are shown."""
        return list(self._connections.values())

    def named(self, name: str) -> Connection | None:
        """The connection of that name."""
        return self._connections.get(name)

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """What of the settings file cannot be used."""
        default = self.file.default
        if default is None or default in self._connections or default == REHEARSAL:
            return self.file.problems
        return (*self.file.problems, FileProblem(None, "default", "names no connection that there is"))

    # Who answers

    def get(self, config: LLMConfig, using_model: str | None = None) -> tuple[LLM, ModelRecord]:
        """The model that answers. Raises LLMError for a model that the session chose and no connection
        reaches, and for a connection that is named without a model and has none of its own.

        A document's wish that no key can fulfil is played by the rehearsal model: a playbook always plays.
        """
        answer = self.answer(config, using_model)
        if answer.by == "nobody":
            raise BadRequest(answer.reason)
        if answer.connection is None or answer.by == "rehearsal":
            if using_model and using_model != REHEARSAL:
                raise NotAllowed(answer.reason)
            return self._rehearsal, record(REHEARSAL)
        return answer.connection.llm, answer.connection.record(answer.model)

    def answer(self, config: LLMConfig, using_model: str | None = None) -> Answer:
        """Who answers a stage with these settings, and why it is the rehearsal if it is."""
        if using_model:
            return self._chosen(using_model)
        if config.provider == REHEARSAL or (config.provider is None and config.model == REHEARSAL):
            return _REHEARSED
        if config.provider is not None:
            return self._over(config.provider, config.model or "")
        if config.model:
            return self._over(self._connection_for(config.model), config.model)
        if self.file.default is not None:
            return self._over(self.file.default, "")
        return Answer("rehearsal", reason="No model is named.")

    def _chosen(self, choice: str) -> Answer:
        """`CONNECTION/MODEL`, or a model alone. A model's id may have slashes of its own."""
        if choice == REHEARSAL:
            return _REHEARSED
        name, slash, model = choice.partition("/")
        if slash and name in self._connections:
            return self._over(name, model)
        return self._over(self._connection_for(choice), choice)

    def _over(self, name: str, model: str) -> Answer:
        if name == REHEARSAL:
            return _REHEARSED
        connection = self._connections.get(name)
        if connection is None:
            what = f"called {name}" if name else f"for the model {model}"
            return Answer("rehearsal", None, model, f"This server has no connection {what}.")
        settings = connection.settings
        model = model or settings.model
        if not settings.usable:
            return Answer("rehearsal", connection, model, _unusable(settings, model))
        if not model:
            return Answer("nobody", connection, "", _NO_MODEL.format(name=name))
        return Answer("model", connection, model)

    def _connection_for(self, model: str) -> str:
        """The connection of a model that was named alone: the one whose own it is, else its vendor's, else
        the only compatible server; empty if none is meant."""
        own = [name for name, one in self._connections.items() if one.settings.model == model]
        if own:
            return own[0]
        vendor = _VENDOR_OF.get(guess_provider(model))
        if vendor is not None:
            return vendor
        compatible = [name for name, one in self._connections.items() if one.settings.api == "chat"]
        return compatible[0] if len(compatible) == 1 else ""

    # What can be chosen

    def models(self) -> list[OfferedModel]:
        """The model menu: the rehearsal, then each connection's known models."""
        return [
            OfferedModel(REHEARSAL, REHEARSAL, LABEL, True, self._rehearsal_note()),
            *(offered for one in self.all() for offered in _offered(one.settings)),
        ]

    def _rehearsal_note(self) -> str:
        if any(one.settings.usable for one in self.all()):
            return NOTE
        return f"{NOTE} To talk to a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a local server."

    def left_out(self, config: LLMConfig, tool_choice: ToolChoice = "auto") -> tuple[str, ...]:
        """The settings that the named model does not take, whether or not a key for it is here."""
        answer = self.answer(config)
        if answer.connection is None or not answer.model:
            return ()
        request = LLMRequest(
            session="", call=0, model=answer.model, window=_NOTHING, config=config, tool_choice=tool_choice
        )
        return answer.connection.llm.left_out(request)

    async def aclose(self) -> None:
        """Closes what is open in the running loop."""
        for connection in self.all():
            await connection.llm.aclose()


_NO_MODEL: Final = (
    "The connection {name} has no model of its own: name one in the stage, in the playbook or in "
    "connections.toml."
)
_NOTHING: Final = ContextWindow(
    layout="append", lane="", stage="", frame=None, segments=(), added=0, tools=(), allowed_tools=()
)


def _connection(settings: ConnectionSettings, make: MakeServer) -> Connection:
    server = make(settings.api, settings.key, settings.url)
    if isinstance(server, SdkLLM):
        server.assume(settings.facts)
    return Connection(settings, GuardedServer(server, settings.key, settings.name))


def _unusable(settings: ConnectionSettings, model: str) -> str:
    if settings.needs.isidentifier():  # a variable of the environment
        return f"{model or settings.name} needs a key: set {settings.needs} and start again."
    return f"The connection {settings.name} cannot be used. {settings.note}"


def _offered(settings: ConnectionSettings) -> Iterator[OfferedModel]:
    listed = _listed(settings)
    if settings.model and settings.model not in listed:
        yield OfferedModel(settings.model, settings.name, settings.model, settings.usable, settings.note)
    for model_id, label in listed.items():
        yield OfferedModel(model_id, settings.name, label, settings.usable, settings.note)


def _listed(settings: ConnectionSettings) -> dict[str, str]:
    """Id -> label of the models that a vendor is known to have; what another server has, it says itself."""
    vendor = VENDORS.get(settings.name)
    of_vendor = settings.api != "chat" and (settings.url is None or vendor is not None)
    provider = {"anthropic": "anthropic", "responses": "openai"}.get(settings.api)
    return {
        entry.id: entry.label
        for entry in table().records.values()
        if of_vendor and entry.provider == provider
    }
