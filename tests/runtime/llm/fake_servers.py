"""Adapters without a network: what a connection talks to in tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from runtime.conversation.messages import AssistantMessage
from runtime.llm.base import LLMError, LLMEvent, LLMRequest, MessageComplete
from runtime.llm.connection import Connection, ConnectionSettings, GuardedServer
from runtime.llm.connections_file import Api


@dataclass
class FakeServer:
    """Offers `models`; fails with `failure` at whatever it is asked."""

    api: Api = "chat"
    key: str = ""
    url: str | None = None
    models: list[str] = field(default_factory=list)
    failure: LLMError | None = None
    asked: list[str | None] = field(default_factory=list)

    provider: str = field(init=False)

    def __post_init__(self) -> None:
        self.provider = {"responses": "openai", "chat": "openai-chat"}.get(self.api, "anthropic")

    async def list_models(self) -> list[str]:
        self._fail()
        return self.models

    async def check(self, model: str | None) -> None:
        self.asked.append(model)
        self._fail()

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        self._fail()
        yield MessageComplete(AssistantMessage(text="Hello."))

    def render(self, request: LLMRequest) -> dict[str, Any]:
        return {"model": request.model}

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        return ("temperature",) if request.config.temperature is not None else ()

    async def aclose(self) -> None:
        pass

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure


def make_fake(api: Api, key: str, url: str | None) -> FakeServer:
    """For `Connections(make=…)`."""
    return FakeServer(api, key, url)


def connection_to(server: FakeServer, name: str = "local", model: str = "") -> Connection:
    """A connection that can be used, to that server."""
    settings = ConnectionSettings(name, server.api, server.url or "http://127.0.0.1:1/v1", model, server.key)
    return Connection(settings, GuardedServer(server, server.key, name))
