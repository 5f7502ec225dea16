"""The three adapters as tests use them: on the vendors' packages, against the simulator, without a port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from runtime.context.models import ModelRecord, record
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.base import LLMEvent, LLMRequest
from runtime.llm.openai_chat import OpenAIChatLLM
from runtime.llm.openai_responses import OpenAIResponsesLLM
from runtime.llm.sdk import SdkLLM
from tests.runtime.context.talk import Talk
from tests.runtime.llm.requests import request_of
from tests.simulator import Simulator

KEY: Final = "sk-test-thisisthekey"
LOCAL: Final = "llama"


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter and a model that it speaks to."""

    kind: type[SdkLLM]
    model: str
    path: str = ""
    """What its base URL has behind the server's address."""

    @property
    def record(self) -> ModelRecord:
        """What is known of the model."""
        return record(self.model, self.kind.provider)

    def request(self, text: str = "hi", **more: Any) -> LLMRequest:
        """A first request, as a session would send it."""
        talk = Talk(model=self.record).start("pick").turn(text)
        talk.ask()
        return request_of(talk, **more)


ADAPTERS: Final = {
    "anthropic": Adapter(AnthropicLLM, "claude-sonnet-5"),
    "openai": Adapter(OpenAIResponsesLLM, "gpt-6.2-sol", "/v1"),
    "openai-chat": Adapter(OpenAIChatLLM, LOCAL, "/v1"),
}


def simulator() -> Simulator:
    """A simulator that knows the models of `ADAPTERS`."""
    sim = Simulator()
    sim.profiles.add_local(LOCAL)
    return sim


@asynccontextmanager
async def connected(adapter: Adapter, sim: Simulator, **options: Any) -> AsyncIterator[SdkLLM]:
    """The adapter's model, answered by the simulator."""
    async with httpx2.AsyncClient(transport=sim.transport()) as client:
        llm = adapter.kind(KEY, f"http://simulator{adapter.path}", http_client=client, **options)
        yield llm
        await llm.aclose()


async def play(adapter: Adapter, sim: Simulator, **options: Any) -> list[LLMEvent]:
    """All events of one call."""
    request = options.pop("request", None) or adapter.request()
    async with connected(adapter, sim, **options) as llm:
        return [event async for event in llm.stream(request)]
