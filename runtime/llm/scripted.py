"""ScriptedLLM: a model that says what a script says. For tests and `replay`; it waits for nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from runtime.context.models import ModelRecord, record
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import (
    ConnectionLost,
    LLMError,
    LLMEvent,
    LLMRequest,
    MessageComplete,
    TextDelta,
    UsageSoFar,
)
from runtime.llm.errors import provider_error, retry_after_seconds
from runtime.llm.wire import left_out, tool_call

Output = Mapping[str, Any]
"""`text` | `chunks` | `tool_calls` [{id, name, args | raw_args}], with `stop`, `usage`, `thinking`;
or `error` {type, status, headers, after_chunks, message}; or `hang`."""
Renderer = Callable[[LLMRequest, ModelRecord], dict[str, Any]]


class ScriptExhausted(LLMError):
    """The script has no output left for this call."""

    code = "script_exhausted"


class ScriptedLLM:
    """Gives the outputs of a list, one per call. `requests` keeps what it was asked."""

    provider = "scripted"

    def __init__(
        self,
        outputs: Sequence[Output] = (),
        *,
        renderer: Renderer = render_anthropic,
        model: ModelRecord | None = None,
        provider: str = "scripted",
    ) -> None:
        self.outputs: list[Output] = list(outputs)
        self.requests: list[LLMRequest] = []
        self.provider = provider
        self._renderer = renderer
        self._model = model

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The body that the chosen wire's adapter would send."""
        return self._renderer(request, self._record(request))

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """Settings that the model's record refuses."""
        return left_out(request, self._record(request))

    def _record(self, request: LLMRequest) -> ModelRecord:
        return self._model or record(request.model)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Streams the next output. Raises ScriptExhausted when there is none."""
        self.requests.append(request)
        if not self.outputs:
            raise ScriptExhausted(f"The script has no model output left for call {request.call}.")
        output = self.outputs.pop(0)
        error = output.get("error")
        chunks = _chunks(output)
        usage = _usage(output.get("usage"))
        if usage is not None:
            yield UsageSoFar(usage.model_copy(update={"output": 0}))
        for chunk in chunks if error is None else chunks[: error.get("after_chunks", 0)]:
            yield TextDelta(chunk)
            await asyncio.sleep(0)
        if error is not None:
            raise _scripted_error(error)
        if output.get("hang"):
            await asyncio.Event().wait()
        yield MessageComplete(message=_message(output, "".join(chunks)), usage=usage)

    async def aclose(self) -> None:
        """Nothing to close."""


def _chunks(output: Output) -> list[str]:
    if "chunks" in output:
        return [str(chunk) for chunk in output["chunks"]]
    return [output["text"]] if output.get("text") else []


def _message(output: Output, text: str) -> AssistantMessage:
    calls = tuple(_call(call) for call in output.get("tool_calls", ()))
    thinking = output.get("thinking")
    replay: tuple[ReplayBlock, ...] = ()
    if thinking:
        block = {"type": "thinking", "thinking": thinking, "signature": "scripted"}
        replay = (ReplayBlock(provider="anthropic", position=0, text=thinking, block=block),)
    stop = output.get("stop") or ("tool_use" if calls else "end_turn")
    return AssistantMessage(text=text, tool_calls=calls, replay=replay, stop=stop)


def _call(call: Mapping[str, Any]) -> ToolCall:
    if "raw_args" in call:
        return tool_call(call["id"], call["name"], call["raw_args"])
    return ToolCall(call_id=call["id"], name=call["name"], arguments=dict(call.get("args", {})))


_USAGE_NAMES = {
    "input_tokens": "fresh",
    "cache_creation_input_tokens": "write5m",
    "cache_read_input_tokens": "read",
    "output_tokens": "output",
}


def _usage(given: Mapping[str, int] | None) -> Usage | None:
    """Usage in our own names or in Anthropic's."""
    if given is None:
        return None
    return Usage.model_validate({_USAGE_NAMES.get(name, name): value for name, value in given.items()})


def _scripted_error(error: Mapping[str, Any]) -> LLMError:
    kind, status = error.get("type"), error.get("status")
    if kind is None and status is None:
        return ConnectionLost(str(error.get("message", "The connection to the model was lost.")))
    wait = retry_after_seconds({k.lower(): str(v) for k, v in error.get("headers", {}).items()})
    return provider_error(kind, status, str(error.get("message", "")), wait)
