"""Who answers in a conversation: the adapters, on the vendors' packages, with the simulator behind them, or
the test double that all of them are compared with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx2

from runtime.context.models import ModelRecord, record
from runtime.conversation.messages import AssistantMessage
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.base import LLM, LLMEvent, LLMRequest
from runtime.llm.openai_chat import OpenAIChatLLM
from runtime.llm.openai_responses import OpenAIResponsesLLM
from runtime.llm.rehearsal import REHEARSAL, RehearsalLLM
from runtime.llm.rehearsal.model import answer
from runtime.llm.scripted import ScriptedLLM
from runtime.llm.sdk import SdkLLM
from runtime.playbook import LLMConfig
from tests.simulator import Simulator

KEY: Final = "sk-test-conformance"
BIG: Final = "big"
SMALL: Final = "small"
"""Names that a conversation's playbook gives its models; each adapter has two real ones for them."""

Output = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """One adapter and its two models."""

    adapter: type[SdkLLM]
    models: Mapping[str, str]
    path: str = ""


KINDS: Final = {
    "anthropic": Kind(AnthropicLLM, {BIG: "claude-opus-5", SMALL: "claude-haiku-4-5"}),
    "openai": Kind(OpenAIResponsesLLM, {BIG: "gpt-6.2-sol", SMALL: "gpt-6-luna"}, "/v1"),
    "openai-chat": Kind(OpenAIChatLLM, {BIG: "llama", SMALL: "qwen"}, "/v1"),
}


@dataclass(slots=True)
class Speaker:
    """Gives each stage its model, as connections do."""

    llms: Mapping[str, LLM]
    records: Mapping[str, ModelRecord]
    """By the name that a playbook gives a model; the first one for any other name."""
    sim: Simulator | None = None

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        """The model of a stage, or the one that the session chose."""
        name = using_model or config.model or BIG
        name = name if name in self.llms else next(iter(self.llms))
        return self.llms[name], self.records[name]

    @property
    def begun(self) -> int:
        """How many answers have begun."""
        if self.sim is not None:
            return sum(1 for exchange in self.sim.exchanges if exchange.began_at is not None)
        double = self.llms[BIG]
        return len(double.requests) if isinstance(double, ScriptedLLM) else 0


def simulator() -> Simulator:
    """A simulator that knows all models of `KINDS`."""
    sim = Simulator()
    for name in KINDS["openai-chat"].models.values():
        sim.profiles.add_local(name)
    return sim


def reference(outputs: Sequence[Output]) -> Speaker:
    """The test double: what the script says, without a wire."""
    llm = ScriptedLLM(outputs)
    model = record("claude-sonnet-5")
    return Speaker({BIG: llm, SMALL: llm}, {BIG: model, SMALL: model})


class RecordedRehearsal(RehearsalLLM):
    """The rehearsal model, without its pauses; keeps what it answered, also to calls that were cut off."""

    def __init__(self) -> None:
        super().__init__(word_delay_s=0)
        self.answers: list[AssistantMessage] = []

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Answers, and keeps the whole answer."""
        self.answers.append(answer(request))
        async with aclosing(cast(Any, super().stream(request))) as events:
            async for event in events:
                yield event


def rehearsing() -> Speaker:
    """The rehearsal model for every stage."""
    return Speaker({BIG: RecordedRehearsal()}, {BIG: record(REHEARSAL)})


@asynccontextmanager
async def speaking(name: str, outputs: Sequence[Output] = ()) -> AsyncIterator[Speaker]:
    """The models of one adapter; the simulator behind them has the script."""
    async with all_speaking(outputs) as speaker:
        llms = {role: speaker.llms[f"{name}/{role}"] for role in (BIG, SMALL)}
        records = {role: speaker.records[f"{name}/{role}"] for role in (BIG, SMALL)}
        yield Speaker(llms, records, speaker.sim)


@asynccontextmanager
async def all_speaking(outputs: Sequence[Output] = ()) -> AsyncIterator[Speaker]:
    """The models of all adapters, by `ADAPTER/big` and `ADAPTER/small`, behind one simulator."""
    sim = simulator()
    sim.script(*outputs)
    async with httpx2.AsyncClient(transport=sim.transport()) as client:
        made = {
            name: kind.adapter(KEY, f"http://simulator{kind.path}", http_client=client)
            for name, kind in KINDS.items()
        }
        llms: dict[str, LLM] = {}
        records: dict[str, ModelRecord] = {}
        for name, kind in KINDS.items():
            for role, model in kind.models.items():
                llms[f"{name}/{role}"] = made[name]
                records[f"{name}/{role}"] = record(model, kind.adapter.provider)
        yield Speaker(llms, records, sim)
        for llm in made.values():
            await llm.aclose()
