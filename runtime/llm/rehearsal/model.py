"""The rehearsal model's door: one request in, one streamed reply out, with simulated usage."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from runtime.context.cache_model import Store, send
from runtime.context.lane_cache import marks_of
from runtime.context.measures import blocks_of
from runtime.context.models import ModelRecord, record
from runtime.context.tokens import count_tokens
from runtime.conversation.messages import AssistantMessage, ToolCall, Usage
from runtime.conversation.snapshot import canonical
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMEvent, LLMRequest, MessageComplete, TextDelta, UsageSoFar
from runtime.llm.rehearsal.choosing import choose_calls, find_arguments
from runtime.llm.rehearsal.lines import Call, author_line
from runtime.llm.rehearsal.speaking import reply, reply_to_raw
from runtime.llm.rehearsal.view import View, read_view
from runtime.llm.wire import left_out

REHEARSAL: Final = "rehearsal"
WORD_DELAY_S: Final = 0.015
SESSIONS_REMEMBERED: Final = 256

_WORDS = re.compile(r"\S+\s*|\s+")


class RehearsalLLM:
    """Not a language model: the same window always gets the same answer. It reads only what is sent."""

    provider = REHEARSAL

    def __init__(
        self,
        *,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        word_delay_s: float = WORD_DELAY_S,
    ) -> None:
        self._sleep = sleep
        self._now = now
        self._delay = word_delay_s
        self._record: ModelRecord = record(REHEARSAL)
        self._caches: OrderedDict[tuple[str, str], Store] = OrderedDict()

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The request as a Claude model would get it; nothing is sent anywhere."""
        return render_anthropic(request, self._record)

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """Settings that have no meaning here."""
        return left_out(request, self._record)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Streams the reply word by word, with small pauses."""
        message = answer(request)
        usage = self._simulated(request, message)
        yield UsageSoFar(usage.model_copy(update={"output": 0}))
        for word in _WORDS.findall(message.text):
            await self._sleep(self._delay)
            yield TextDelta(word)
        yield MessageComplete(message=message, usage=usage)

    def _simulated(self, request: LLMRequest, message: AssistantMessage) -> Usage:
        """What a provider would report, by the cache model: read, written and fresh tokens."""
        segments = request.window.segments
        key = (request.session, request.window.lane)
        points = request.cache_points if request.window.lane else ()
        billing = send(
            blocks_of(segments),
            marks_of(segments, points, self._record),
            self._caches.get(key, {}),
            self._record,
            self._now(),
        )
        self._caches[key] = billing.store
        self._caches.move_to_end(key)
        while len(self._caches) > SESSIONS_REMEMBERED:
            self._caches.popitem(last=False)
        calls = "".join(canonical(call.arguments or {}) + call.name for call in message.tool_calls)
        output = count_tokens(message.text, "dialogue", self._record)[0]
        output += count_tokens(calls, "tool_call", self._record)[0]
        return Usage(**billing.tokens.model_dump(by_alias=False), output=output)

    async def aclose(self) -> None:
        """Nothing to close."""


def answer(request: LLMRequest) -> AssistantMessage:
    """The answer to a window: an author's line, else tool calls or a transition, else words. Pure."""
    if not request.window.lane:
        prompt = "\n".join(segment.text for segment in request.window.segments)
        return AssistantMessage(text=reply_to_raw(prompt), stop="end_turn")
    view = read_view(request.window)
    may_call = view.may_call and request.tool_choice != "none"
    lines = request.stage_metadata.get(REHEARSAL)
    line = author_line(lines, view, fallback=False, may_call=may_call)
    calls = choose_calls(view) if line is None and may_call else []
    if line is None and not calls:
        line = author_line(lines, view, fallback=True, may_call=may_call)
    if isinstance(line, Call):
        calls = [line]
    elif not calls:
        return AssistantMessage(text=line if line is not None else reply(view), stop="end_turn")
    made = tuple(_made(call, view, f"r{request.call}_{number}") for number, call in enumerate(calls, start=1))
    return AssistantMessage(tool_calls=made, stop="tool_use")


def _made(call: Call, view: View, call_id: str) -> ToolCall:
    arguments = call.arguments
    if arguments is None:
        tool = view.tools.get(call.name)
        arguments = find_arguments(tool, view)[0] if tool is not None else {}
    return ToolCall(call_id=call_id, name=call.name, arguments=dict(arguments))
