"""Asks a model for a summary, after the reply, while the session waits for its user.

One call of phase 0: it repeats a request of its lane and is no part of the lane's history. Whatever goes
wrong, the summary by rules stays. When anything happens in the session it ends at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final, cast

from runtime.context.models import ModelRecord
from runtime.context.policy import policy_for
from runtime.context.prices import price
from runtime.context.segments import SegmentMaker
from runtime.context.summary_request import SummaryTask, summary_wanted
from runtime.context.window import ContextWindow
from runtime.conversation import events as ev
from runtime.conversation.state import SessionState
from runtime.conversation.windows import OpenCall, agent_of
from runtime.engine.draft import Draft
from runtime.engine.evaluating import milliseconds
from runtime.engine.table import tables_of
from runtime.llm.base import LLM, ConnectionLost, LLMError, LLMRequest, MessageComplete
from runtime.llm.connection import connection_name
from runtime.playbook.engine_tools import canonical_json, union_tools
from runtime.playbook.storable import storable_text
from runtime.runner.model_call import Host
from runtime.runner.waiting import TookTooLong, in_time

REHEARSAL: Final = "rehearsal"
LONGEST_ANSWER: Final = 2_000
"""Tokens."""
WRITING_S: Final = 60.0
"""Seconds that a summary may take."""

logger = logging.getLogger(__name__)


class SummaryCalls:
    """The summary call of one session; there is at most one at a time."""

    def __init__(self, host: Host, spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]) -> None:
        self._host, self._spawn = host, spawn
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a call may be in flight."""
        return self._task is not None and not self._task.done()

    @property
    def must_end(self) -> bool:
        """Whether a call has to end before anything happens: one in flight, or one that stands open in the
        log of a process that is gone."""
        return self.running or _open_call(self._host.state) is not None

    def begin(self) -> None:
        """The session is at rest: ask, if there is something to ask for."""
        state = self._host.state
        if self.running or state.status != "idle" or state.frame is None:
            return
        if any(agent.segments for agent in state.windows.agents.values()) and self._asks():
            self._task = self._spawn(self._run())

    def end(self, draft: Draft) -> None:
        """Something happens: what is in flight is given up."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        opened = _open_call(draft.state)
        if opened is not None:
            error = "The session went on before the summary was written."
            draft.log(ev.LLMCallFailed, call=opened.call, error=error, code="superseded")

    def _asks(self) -> bool:
        """Whether the policy asks for summaries by a model at all: without a look at the window."""
        playbook, using = self._host.playbook, self._host.state.using_policy
        stages = [stage.context for stage in playbook.stages]
        return any(
            policy is not None and policy.summaries == "llm" for policy in (playbook.context, using, *stages)
        )

    async def _run(self) -> None:
        try:
            while await self._one():
                pass
        except Exception:
            logger.exception("a summary call failed inside")

    async def _one(self) -> bool:
        """One summary; False if none is wanted."""
        found = self._wanted()
        if found is None:
            return False
        llm, record, task = found
        if not task.pays:
            words = "It would cost more than it saves: {cost} against {saves}, in input tokens."
            await self._written(task, None, error=words.format(**task.numbers))
            return True
        request = cast(
            LLMRequest, await self._host.log(lambda draft: self._log_started(draft, llm, record, task))
        )
        began = self._host.clock.now()
        try:
            event = await in_time(self._host.clock, _answer(llm, request), WRITING_S)
        except Exception as error:
            await self._failed(task, request, error)
            return True
        passed = milliseconds(self._host.clock.now() - began)
        await self._host.log(lambda draft: self._log_completed(draft, request, event, record, passed))
        text, problem = _text_of(event)
        await self._written(task, text, call=request.call, error=problem)
        return True

    def _wanted(self) -> tuple[LLM, ModelRecord, SummaryTask] | None:
        state = self._host.state
        table = tables_of(self._host.playbook, self._host.agents).current(state)
        frame = state.frame
        if frame is None or frame.stage not in table.rows:
            return None
        row = table.rows[frame.stage]
        try:
            llm, record = self._host.llms.get(row.config, state.using_model)
        except LLMError:
            return None
        if record.provider == REHEARSAL:  # nobody is there to write one
            return None
        policy = policy_for(table.playbook, row.stage, record, state.using_policy, layout=state.using_layout)
        task = summary_wanted(state, record, policy)
        return None if task is None else (llm, record, task)

    def _log_started(self, draft: Draft, llm: LLM, record: ModelRecord, task: SummaryTask) -> LLMRequest:
        """Logged only while the session still waits: a call that was given up meanwhile does not begin."""
        if self._task is None or self._task.cancelling() or draft.state.running is not None:
            raise asyncio.CancelledError
        call, row = draft.state.calls + 1, draft.row
        instruction = task.instruction(SegmentMaker(record), call)
        window = ContextWindow(
            layout="append",
            lane=task.lane,
            stage=row.stage.id,
            frame=draft.frame.id,
            segments=(*task.base.window, instruction),
            added=1,
            tools=union_tools(draft.table.playbook),
            allowed_tools=(),
            sent=task.base.window,
        )
        request = LLMRequest(
            session=draft.state.session,
            call=call,
            model=record.id,
            window=window,
            cache_points=task.base.cache_points,
            config=row.config.model_copy(update={"max_tokens": LONGEST_ANSWER}),
            tool_choice="none" if record.tool_choice_keeps_cache else "auto",
        )
        body = llm.render(request)
        draft.log(
            ev.LLMCallStarted,
            call=call,
            lane=task.lane,
            phase=0,
            stage=row.stage.id,
            frame=draft.frame.id,
            provider=record.provider,
            connection=connection_name(llm),
            model=record.id,
            added=(instruction,),
            window_of=task.base.call,
            window_shared=len(task.base.window),
            window_rest=(instruction.id,),
            cache_points=task.base.cache_points,
            tool_choice=request.tool_choice,
            settings=request.config.model_dump(mode="json", exclude_none=True),
            left_out=llm.left_out(request),
            request_digest=hashlib.sha256(canonical_json(body).encode()).hexdigest(),
            request=body if draft.options.debug else None,
        )
        return request

    def _log_completed(
        self, draft: Draft, request: LLMRequest, event: MessageComplete, record: ModelRecord, passed: int
    ) -> None:
        opened = draft.state.windows.open_call
        if opened is None or opened.call != request.call:
            return  # it was given up meanwhile
        draft.log(
            ev.LLMCallCompleted,
            call=request.call,
            message=event.message.storable(),
            usage=event.usage,
            cost=price(event.usage, record),
            duration_ms=passed,
        )

    async def _failed(self, task: SummaryTask, request: LLMRequest, error: Exception) -> None:
        code, sentence = _why(error)
        await self._host.log(
            lambda draft: draft.log(ev.LLMCallFailed, call=request.call, error=sentence, code=code)
        )
        await self._written(task, None, call=request.call, error=sentence)

    async def _written(
        self, task: SummaryTask, text: str | None, *, call: int | None = None, error: str | None = None
    ) -> None:
        agent, segment = agent_of(task.lane), task.by_rules.id
        await self._host.log(
            lambda draft: draft.log(
                ev.SummaryWritten, call=call, segment=segment, agent=agent, text=text, error=error
            )
        )


def _open_call(state: SessionState) -> OpenCall | None:
    """The summary call that stands open in the log; a classifier's has no lane."""
    opened = state.windows.open_call
    return opened if opened is not None and opened.phase == 0 and opened.lane else None


def _why(error: Exception) -> tuple[str, str]:
    """Code and sentence of what went wrong."""
    if isinstance(error, LLMError):
        return error.code, storable_text(error.message)
    if isinstance(error, TookTooLong):
        return "timeout", storable_text(str(error))
    logger.error("a summary call failed inside", exc_info=error)
    return "internal", f"Something went wrong while the summary was written ({type(error).__name__})."


async def _answer(llm: LLM, request: LLMRequest) -> MessageComplete:
    async with aclosing(cast(Any, llm.stream(request))) as stream:
        async for event in stream:
            if isinstance(event, MessageComplete):
                return event
    raise ConnectionLost("The model's answer ended before it was complete.")


def _text_of(event: MessageComplete) -> tuple[str | None, str | None]:
    """The text, or why it is no summary."""
    message = event.message.storable()
    if message.stop == "max_tokens":
        return None, "The summary was cut off: it is too long."
    if not message.text.strip():
        return None, "The model wrote no summary."
    return message.text, None
