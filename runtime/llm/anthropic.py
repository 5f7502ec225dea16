"""AnthropicLLM: the one call, by the official SDK. What is sent, how it is read: `anthropic_wire.py`."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from runtime.context.models import ModelRecord, record
from runtime.llm.anthropic_wire import MessageReader, left_out, render_anthropic
from runtime.llm.base import (
    ConnectionLost,
    LLMError,
    LLMEvent,
    LLMRequest,
    MessageComplete,
    Refused,
    TextDelta,
    UsageSoFar,
)
from runtime.llm.errors import provider_error, retry_after_seconds

DEFAULT_URL: Final = "https://api.anthropic.com"
CONNECT_S: Final = 5.0
IDLE_S: Final = 60.0
"""Longest silence inside a stream; the whole call's deadline is the runner's."""


class AnthropicLLM:
    """Claude models. One client per event loop, made when it is first needed; retries are the runner's."""

    provider = "anthropic"

    def __init__(self, api_key: str, base_url: str | None = None, *, idle_s: float = IDLE_S) -> None:
        self._key = api_key
        self.url = (base_url or DEFAULT_URL).rstrip("/")
        self._idle_s = idle_s
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The body of the request; pure."""
        return render_anthropic(request, self._record(request))

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """Settings that this model refuses."""
        return left_out(request, self._record(request))

    def _record(self, request: LLMRequest) -> ModelRecord:
        return record(request.model, self.provider)

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Streams one reply. Raises LLMError; leaving the iterator closes the connection at once."""
        sdk = await _load("anthropic")
        transport = await _load("httpx2")
        reader = MessageReader()
        body = self.render(request)
        body.pop("stream")
        try:
            async with await self._client(sdk, transport).messages.create(stream=True, **body) as events:
                async for event in events:
                    text = reader.feed(event.to_dict())
                    if text:
                        yield TextDelta(text)
                    elif event.type == "message_start" and (usage := reader.usage()) is not None:
                        yield UsageSoFar(usage)
        except sdk.APIError as error:
            raise _translated(error) from None
        except transport.HTTPError as error:
            raise ConnectionLost("The connection to the model was lost.") from error
        yield _complete(reader)

    def _client(self, sdk: Any, transport: Any) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = sdk.AsyncAnthropic(
                api_key=self._key,
                base_url=self.url,
                max_retries=0,
                timeout=transport.Timeout(self._idle_s, connect=CONNECT_S),
            )
        return self._clients[loop]

    async def aclose(self) -> None:
        """Closes the client of the running loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


async def _load(name: str) -> Any:
    """The vendor's package, imported beside the loop: the first import takes seconds."""
    return await asyncio.to_thread(importlib.import_module, name)


def _translated(error: Any) -> LLMError:
    """From the SDK's error to ours. Inside a stream the status is 200; only the type tells what happened."""
    status = getattr(error, "status_code", None)
    if status is None:
        return ConnectionLost("The connection to the model was lost.")
    headers = error.response.headers if status != 200 else {}
    return provider_error(getattr(error, "type", None), status, error.message, retry_after_seconds(headers))


def _complete(reader: MessageReader) -> MessageComplete:
    if not reader.finished:
        raise ConnectionLost("The model's answer ended before it was complete.")
    message = reader.message()
    if message.stop == "refusal" and not message.text.strip() and not message.tool_calls:
        raise Refused("The model refused to answer.")
    return MessageComplete(message=message, usage=reader.usage())
