"""The model of a replay: says the outputs of the step that is played, renders as the chosen wire would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, cast

from runtime.context.models import ModelRecord, record
from runtime.llm.base import LLMEvent, LLMRequest, TextDelta
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import LLMConfig
from runtime.runner.replay.script import ModelOutput

ANTHROPIC: Final = "anthropic"
DEFAULT_MODEL: Final = "claude-sonnet-5"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asked: the request as a value, and as it would go over the wire."""

    request: LLMRequest
    body: dict[str, Any]


class PlayedLLM(ScriptedLLM):
    """A scripted model that the player feeds step by step, and that can be held at a piece of its text."""

    def __init__(self) -> None:
        super().__init__(provider=ANTHROPIC)
        self.asked: dict[int, Asked] = {}
        """Call number -> what it asked."""
        self.unused = 0
        """Outputs of earlier steps that no call consumed."""
        self._hold_at: int | None = None
        self._chunks = 0
        self._held = asyncio.Event()

    def supply(self, outputs: Sequence[ModelOutput]) -> None:
        """The next turn's outputs; what is left of the last one's is counted as unused."""
        self.unused += len(self.outputs)
        self.outputs[:] = [output.as_output() for output in outputs]
        self._chunks = 0

    async def reached(self, chunk: int) -> None:
        """Returns when piece number `chunk` of this turn's text has been streamed; nothing comes after it."""
        self._hold_at = chunk
        self._held.clear()
        await self._held.wait()

    def release(self) -> None:
        """From here on text is not held."""
        self._hold_at = None

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The body; kept for the report of this call."""
        body = super().render(request)
        self.asked[request.call] = Asked(request, body)
        return body

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Streams the next output at its pace, up to the piece at which it is held."""
        pace = self.outputs[0].get("pace_ms", 0.0) / 1000 if self.outputs else 0.0
        async with aclosing(cast(Any, super().stream(request))) as events:
            async for event in events:
                if pace and isinstance(event, TextDelta):
                    await asyncio.sleep(pace)
                yield event
                if isinstance(event, TextDelta):
                    await self._count()

    async def _count(self) -> None:
        self._chunks += 1
        if self._chunks == self._hold_at:
            self._held.set()
            await asyncio.Event().wait()


class PlayedSource:
    """Gives the same scripted model to every stage, with the record of the model that the stage names."""

    def __init__(self, llm: PlayedLLM, model: str = DEFAULT_MODEL) -> None:
        self._llm, self._model = llm, model

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[PlayedLLM, ModelRecord]:
        """`model` is for stages that name none."""
        return self._llm, record(using_model or config.model or self._model)
