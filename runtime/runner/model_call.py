"""One call of the model: the window is built and logged, the reply streamed; failures are retried."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, cast

from runtime.context.build import build_window
from runtime.context.cache_points import CachePlan, plan_cache_points
from runtime.context.compaction import Decision, fit_window, smaller
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy, policy_for
from runtime.context.prices import price
from runtime.context.rewrites import plan_rewrites
from runtime.context.tokens import count_tokens
from runtime.context.window import ContextWindow
from runtime.conversation import events as ev
from runtime.conversation.messages import Usage
from runtime.conversation.state import SessionState
from runtime.conversation.windows import as_logged
from runtime.engine.artifacts import unload_lost
from runtime.engine.draft import Draft
from runtime.engine.effects import CallModel
from runtime.engine.happened import Happened, ModelFailed, ModelReplied, ReplyBegan
from runtime.llm.base import (
    LLM,
    ConnectionLost,
    ContextTooLong,
    LLMError,
    LLMRequest,
    MessageComplete,
    TextDelta,
    UsageSoFar,
    WindowFull,
)
from runtime.llm.connection import connection_name
from runtime.playbook import Playbook, Stage, ToolChoice
from runtime.playbook.engine_tools import canonical_json
from runtime.playbook.storable import storable_text
from runtime.runner.ports import Clock, LLMSource, Random
from runtime.runner.retry import RetryPolicy


class Host(Protocol):
    """What a call needs of its session."""

    playbook: Playbook
    agents: Mapping[str, Playbook]
    clock: Clock
    llms: LLMSource
    rng: Random

    @property
    def state(self) -> SessionState:
        """The state now."""
        ...

    async def advance(self, happened: Happened) -> None:
        """Feed back what happened."""
        ...

    async def log(self, write: Callable[[Draft], Any]) -> Any:
        """Log events that are no step of the engine."""
        ...

    def show(self, call: int, text: str) -> None:
        """Show a piece of the reply."""
        ...

    def show_as_reply(self, call: int, text: str) -> None:
        """Show the held text of a message that is complete, if the engine takes it as the reply."""
        ...

    def withdraw(self) -> str:
        """Forget what the call has shown; the text."""
        ...


SHORTER: Final = 0.7
"""Of a window that the provider found too long: what is sent in its place."""


@dataclass(slots=True)
class _Timing:
    """When the call began and when its first text came."""

    began: datetime
    first: datetime | None = None


class ModelCall:
    """Does one CallModel effect."""

    def __init__(self, host: Host, effect: CallModel) -> None:
        self._host = host
        self._effect = effect
        self._held = ""
        self._came = ""
        self._so_far: Usage | None = None
        self._showing = effect.hold == 0
        self._shortened = False
        self._task: asyncio.Task[Any] | None = None
        self._llm: LLM
        self._record: ModelRecord

    async def run(self) -> None:
        """Call, and feed back the message or the failure. Only cancellation ends it without either."""
        self._task = asyncio.current_task()
        try:
            self._llm, self._record = self._host.llms.get(self._effect.config, self._host.state.using_model)
            request = cast(LLMRequest, await self._log(self._begin))
        except LLMError as error:
            await self._host.advance(self._failed(error))
            return
        attempt = 1
        while (failure := await self._attempt(request)) is not None:
            wait = self._retry_policy().wait(failure, attempt, self._host.rng, self._remaining())
            await self._withdraw()
            shorter = await self._shorter(request, failure, attempt + 1)
            if shorter is not None:
                request, wait = shorter, 0.0
            if wait is None:
                await self._host.advance(self._failed(failure))
                return
            await self._log_retry(failure, attempt, wait)
            await self._host.clock.sleep(wait)
            attempt += 1

    async def _log(self, write: Callable[[Draft], Any]) -> Any:
        """Log something of this call. One that was cancelled while it waited for its turn to write logs no
        more: its end is in the log already, and nothing would ever end what it begins."""

        def unless_cancelled(draft: Draft) -> Any:
            if self._task is not None and self._task.cancelling():
                raise asyncio.CancelledError
            return write(draft)

        return await self._host.log(unless_cancelled)

    async def _shorter(self, request: LLMRequest, failure: LLMError, attempt: int) -> LLMRequest | None:
        """A provider that finds the window too long is asked once more, with a shorter one."""
        if not isinstance(failure, ContextTooLong) or self._shortened or not request.window.lane:
            return None
        self._shortened = True
        tokens = int(request.window.tokens * SHORTER)
        return cast(
            LLMRequest | None, await self._log(lambda draft: self._begin_again(draft, tokens, attempt))
        )

    def _begin_again(self, draft: Draft, tokens: int, attempt: int) -> LLMRequest | None:
        """The request with a window of at most so many tokens; None if it cannot be had."""
        stage, policy = self._policy(draft)
        try:
            window = self._fitted(draft, smaller(policy, tokens))
        except WindowFull:
            return None
        request, plan = self._request(draft, stage, policy, window)
        self._log_started(draft, request, plan, policy, attempt)
        return request

    @property
    def call(self) -> int:
        """Its number in the session."""
        return self._effect.call

    def used(self) -> tuple[Usage | None, float | None]:
        """Usage and cost of this try up to now: the input as the provider said, the output as counted from
        the text that came. (None, None) while the provider has said nothing."""
        if self._so_far is None:
            return None, None
        counted, _ = count_tokens(self._came, "dialogue", self._record)
        usage = self._so_far.model_copy(update={"output": max(self._so_far.output, counted)})
        return usage, price(usage, self._record)

    def _begin(self, draft: Draft) -> LLMRequest:
        """Log what this call rewrites, adds and caches; the request."""
        stage, policy = self._policy(draft)
        planned = plan_rewrites(draft.table.playbook, draft.state, self._record, policy)
        for rewrite in planned:
            draft.log(ev.WindowRewritten, **rewrite.fields())
        if planned:
            unload_lost(draft)
        request, plan = self._request(draft, stage, policy, self._fitted(draft, policy))
        self._log_started(draft, request, plan, policy)
        return request

    def _policy(self, draft: Draft) -> tuple[Stage | None, Policy]:
        playbook, state = draft.table.playbook, draft.state
        stage = playbook.stage(self._effect.stage)
        return stage, policy_for(playbook, stage, self._record, state.using_policy, layout=state.using_layout)

    def _fitted(self, draft: Draft, policy: Policy) -> ContextWindow:
        """The window, shortened where it must be and where it pays; each decision is logged. Raises
        WindowFull, with nothing logged."""
        playbook, record, now = draft.table.playbook, self._record, draft.now
        _, tail = adapted_choice(self._effect, record)

        def rebuild(state: SessionState, longest: int | None) -> ContextWindow:
            return build_window(playbook, state, record, policy, tail=tail, now=now, longest=longest)

        fitted = fit_window(playbook, draft.state, record, policy, now, rebuild)
        if fitted.limit is not None:
            raise WindowFull(fitted.window.tokens, fitted.limit)
        for decision in fitted.decisions:
            log_decision(draft, decision)
        if any(decision.rewrite is not None for decision in fitted.decisions):
            unload_lost(draft)
        return fitted.window

    def _request(
        self, draft: Draft, stage: Stage | None, policy: Policy, window: ContextWindow
    ) -> tuple[LLMRequest, CachePlan]:
        effect, record, state = self._effect, self._record, draft.state
        choice, _ = adapted_choice(effect, record)
        last = self._ends_the_session(draft, stage)
        plan = plan_cache_points(window, state, record, policy, draft.now, last_call=last)
        request = LLMRequest(
            session=state.session,
            call=effect.call,
            model=record.id,
            window=window,
            cache_points=plan.points,
            config=effect.config,
            tool_choice=choice,
            stage_metadata=dict(stage.metadata or {}) if stage is not None else {},
            deadline_s=self._remaining(),
        )
        return request, plan

    def _ends_the_session(self, draft: Draft, stage: Stage | None) -> bool:
        """The reply of an end stage at the bottom of the stack; in Phase 1 a tool may still be called."""
        ends = stage is not None and stage.kind == "end" and self._effect.phase == 2
        return ends and draft.frame.depth == 0

    def _log_started(
        self, draft: Draft, request: LLMRequest, plan: CachePlan, policy: Policy, attempt: int = 1
    ) -> None:
        effect, window, choice = self._effect, request.window, request.tool_choice
        body = self._llm.render(request)
        draft.log(
            ev.LLMCallStarted,
            call=effect.call,
            lane=window.lane,
            phase=effect.phase,
            stage=effect.stage,
            frame=window.frame,
            provider=self._record.provider,
            connection=connection_name(self._llm),
            model=self._record.id,
            layout=window.layout,
            attempt=attempt,
            added=window.segments[-window.added :] if window.added else (),
            **as_logged(draft.state.windows, window.lane, window.segments),
            cache_points=plan.points,
            predicted=plan.predicted,
            empty_state=window.empty_state,
            tool_choice=choice if isinstance(choice, str) else choice.model_dump(),
            settings=effect.config.model_dump(mode="json", exclude_none=True),
            policy=policy.chosen(),
            left_out=self._llm.left_out(request),
            request_digest=hashlib.sha256(canonical_json(body).encode()).hexdigest(),
            request=body if draft.options.debug else None,
        )
        numbers = dict(plan.numbers)
        draft.log(
            ev.CachePlanned, call=effect.call, points=plan.points, predicted=plan.predicted, numbers=numbers
        )

    async def _attempt(self, request: LLMRequest) -> LLMError | None:
        """One try; the error if it gave no message."""
        timing = _Timing(self._host.clock.now())
        self._came, self._so_far = "", None
        try:
            async with aclosing(cast(Any, self._llm.stream(request))) as stream:
                async for event in stream:
                    if isinstance(event, TextDelta):
                        timing.first = timing.first or self._host.clock.now()
                        await self._text(storable_text(event.text))
                    elif isinstance(event, UsageSoFar):
                        self._so_far = event.usage
                    else:
                        await self._complete(event, timing)
                        return None
        except LLMError as error:
            return error
        return ConnectionLost("The model's reply ended before it was complete.")

    async def _text(self, text: str) -> None:
        if not text:
            return
        self._came += text
        if self._showing:
            self._host.show(self._effect.call, text)
            return
        self._held += text
        hold = self._effect.hold
        if hold is not None and len(self._held) > hold:
            await self._begin_reply()

    async def _begin_reply(self) -> None:
        await self._host.advance(ReplyBegan(self._effect.call, *self.used()))
        self._showing = True
        self._host.show(self._effect.call, self._held)
        self._held = ""

    async def _complete(self, event: MessageComplete, timing: _Timing) -> None:
        message = event.message.storable()
        is_reply = bool(message.text.strip()) and not message.tool_calls
        if is_reply and not self._showing:
            self._host.show_as_reply(self._effect.call, self._held or message.text)
        first = timing.first - timing.began if timing.first is not None else None
        await self._host.advance(
            ModelReplied(
                call=self._effect.call,
                message=message,
                usage=event.usage,
                cost=price(event.usage, self._record),
                first_token_ms=_milliseconds(first) if first is not None else None,
                duration_ms=_milliseconds(self._host.clock.now() - timing.began),
            )
        )

    async def _withdraw(self) -> None:
        """Text that was shown by a try that failed is taken back; the next try starts clean."""
        self._held = ""
        text = self._host.withdraw()
        if text:
            call = self._effect.call
            await self._log(lambda draft: draft.log(ev.TextWithdrawn, call=call, text=text))

    async def _log_retry(self, error: LLMError, attempt: int, wait: float) -> None:
        await self._log(
            lambda draft: draft.log(
                ev.LLMCallRetry,
                call=self._effect.call,
                attempt=attempt,
                error=storable_text(error.message),
                status=error.status,
                wait_ms=round(wait * 1000),
            )
        )

    def _failed(self, error: LLMError) -> ModelFailed:
        usage, cost = self.used()
        return ModelFailed(
            call=self._effect.call,
            error=storable_text(error.message),
            code=error.code,
            status=error.status,
            retryable=error.retryable,
            usage=usage,
            cost=cost,
        )

    def _retry_policy(self) -> RetryPolicy:
        return RetryPolicy(retries=self._host.playbook.options.llm_retries)

    def _remaining(self) -> float:
        """Seconds until the turn's deadline."""
        options, running = self._host.playbook.options, self._host.state.running
        limit = timedelta(milliseconds=options.turn_timeout_ms)
        if running is None:
            return limit.total_seconds()
        return (running.started_at + limit - self._host.clock.now()).total_seconds()


def log_decision(draft: Draft, decision: Decision) -> None:
    """The decision with its numbers, and what it rewrites."""
    draft.log(
        ev.CompactionPlanned,
        lane=decision.lane,
        rule=decision.rule,
        decision=decision.decision,
        numbers=dict(decision.numbers),
    )
    if decision.rewrite is not None:
        draft.log(ev.WindowRewritten, **decision.rewrite.fields())


def adapted_choice(effect: CallModel, record: ModelRecord) -> tuple[ToolChoice, str | None]:
    """The tool choice and the tail line for that model: the choice where it costs no cache, else the line."""
    if effect.tail is None:
        return effect.tool_choice, None
    takes_it = effect.tool_choice == "none" or record.forced_tool_choice
    if record.tool_choice_keeps_cache and takes_it:
        return effect.tool_choice, None
    return "auto", effect.tail


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)
