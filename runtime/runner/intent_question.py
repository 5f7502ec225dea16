"""Asks a model which intent a message has: one small request beside the turn's own."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, cast

from runtime.context.models import ModelRecord
from runtime.context.prices import price
from runtime.context.segments import SegmentMaker, tools_text
from runtime.context.window import ContextWindow
from runtime.conversation import events as ev
from runtime.conversation.windows import as_logged
from runtime.engine.draft import Draft
from runtime.engine.effects import ClassifyIntent
from runtime.engine.evaluating import milliseconds
from runtime.engine.intents import Classification
from runtime.intents.asking import TOOL, classify_tool, question, read_answer
from runtime.llm.base import LLM, ConnectionLost, LLMError, LLMRequest, MessageComplete
from runtime.llm.connection import connection_name
from runtime.playbook import LLMConfig, NamedToolChoice
from runtime.playbook.engine_tools import canonical_json
from runtime.playbook.storable import storable_text
from runtime.runner.model_call import Host
from runtime.runner.waiting import CLASSIFYING_S, TookTooLong, in_time

LONGEST_ANSWER: Final = 1_000
"""Tokens."""


@dataclass(slots=True)
class IntentQuestion:
    """One request of phase 0: in no lane, without cache points, tried once, and logged like any other."""

    host: Host
    effect: ClassifyIntent
    llm: LLM
    record: ModelRecord

    async def run(self) -> Classification:
        """The answer. Raises LLMError and TookTooLong, which the log then tells of the call."""
        task = asyncio.current_task()

        def begin(draft: Draft) -> LLMRequest:
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
            return self._begin(draft)

        request = cast(LLMRequest, await self.host.log(begin))
        began = self.host.clock.now()
        try:
            event = await in_time(self.host.clock, self._answer(request))
        except LLMError as error:
            await self._log(ev.LLMCallFailed, request, error=storable_text(error.message), code=error.code)
            raise
        except TookTooLong as error:
            await self._log(ev.LLMCallFailed, request, error=str(error), code="timeout")
            raise
        message = event.message.storable()
        passed = milliseconds(self.host.clock.now() - began)
        cost = price(event.usage, self.record)
        await self._log(
            ev.LLMCallCompleted, request, message=message, usage=event.usage, cost=cost, duration_ms=passed
        )
        return read_answer(message, self.effect.intents)

    def _begin(self, draft: Draft) -> LLMRequest:
        effect, record = self.effect, self.record
        number = draft.state.calls + 1
        request = LLMRequest(
            session=draft.state.session,
            call=number,
            model=record.id,
            window=self._window(number, draft.state.seq),
            config=self._config(),
            tool_choice=NamedToolChoice(name=TOOL) if record.forced_tool_choice else "auto",
            deadline_s=CLASSIFYING_S,
        )
        body, choice = self.llm.render(request), request.tool_choice
        draft.log(
            ev.LLMCallStarted,
            call=number,
            lane="",
            phase=0,
            stage=effect.stage,
            frame=effect.frame,
            provider=record.provider,
            connection=connection_name(self.llm),
            model=record.id,
            added=request.window.segments,
            **as_logged(draft.state.windows, "", request.window.segments),
            tool_choice=choice if isinstance(choice, str) else choice.model_dump(),
            settings=request.config.model_dump(mode="json", exclude_none=True),
            left_out=self.llm.left_out(request),
            request_digest=hashlib.sha256(canonical_json(body).encode()).hexdigest(),
            request=body if self.host.playbook.options.debug else None,
        )
        return request

    def _config(self) -> LLMConfig:
        """The stage's model with settings of its own: the answer is short, and little thought is needed."""
        given = self.effect.config
        effort = "low" if "low" in self.record.efforts else None
        return LLMConfig(provider=given.provider, model=given.model, maxTokens=LONGEST_ANSWER, effort=effort)

    def _window(self, number: int, seq: int) -> ContextWindow:
        effect, maker = self.effect, SegmentMaker(self.record)
        tool = classify_tool(effect.intents)
        tools = maker.make(f"c{number}.tools", "tools", "system", tools_text((tool,)), label="1 tool")
        asked = maker.make(
            f"c{number}.intent",
            "dialogue",
            "user",
            question(effect.text, effect.intents),
            sources=(seq,),
            frame=effect.frame,
            stage=effect.stage,
            label="which intent the message has",
        )
        return ContextWindow(
            layout="append",
            lane="",
            stage=effect.stage,
            frame=effect.frame,
            segments=(tools, asked),
            added=2,
            tools=(tool,),
            allowed_tools=(TOOL,),
        )

    async def _answer(self, request: LLMRequest) -> MessageComplete:
        async with aclosing(cast(Any, self.llm.stream(request))) as stream:
            async for event in stream:
                if isinstance(event, MessageComplete):
                    return event
        raise ConnectionLost("The model's answer ended before it was complete.")

    async def _log(self, kind: type[ev.EventBase], request: LLMRequest, **fields: Any) -> None:
        await self.host.log(lambda draft: draft.log(kind, call=request.call, **fields))
