"""AnthropicLLM: the one call, by the official SDK. What is sent, how it is read: `anthropic_wire.py`."""

from __future__ import annotations

from typing import Any, Final

from runtime.llm.anthropic_wire import MessageReader, render_anthropic
from runtime.llm.base import LLMError, LLMRequest
from runtime.llm.errors import provider_error, retry_after_seconds
from runtime.llm.sdk import SdkLLM, words_of
from runtime.llm.wire import Json, Reader

NO_ARGUMENTS: Final = ("temperature", "top_p")
"""Fields of the API that the package has no arguments for."""


class AnthropicLLM(SdkLLM):
    """Claude models, and others behind a server that speaks Anthropic's Messages API."""

    provider = "anthropic"
    package = "anthropic"
    default_url = "https://api.anthropic.com"

    def render(self, request: LLMRequest) -> Json:
        """The body of the request; pure."""
        return render_anthropic(request, self._record(request.model))

    def _reader(self, request: LLMRequest) -> Reader:
        return MessageReader()

    async def _open(self, client: Any, body: Json) -> Any:
        extra = {name: body[name] for name in NO_ARGUMENTS if name in body}
        fields = {name: value for name, value in body.items() if name not in extra}
        return await client.messages.create(**fields, extra_body=extra or None)

    def _make_client(self, sdk: Any, **options: Any) -> Any:
        return sdk.AsyncAnthropic(**options)

    def _translated(self, error: Any) -> LLMError:
        """Inside a stream the status is 200; only the type tells what happened."""
        status = getattr(error, "status_code", None)
        headers = error.response.headers if status not in (None, 200) else {}
        kind = getattr(error, "type", None)
        return provider_error(kind, status, words_of(error), retry_after_seconds(headers))
