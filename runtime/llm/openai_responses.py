"""OpenAIResponsesLLM: the one call, by the official SDK. What is sent, how it is read:
`openai_responses_wire.py`."""

from __future__ import annotations

from typing import Any

from runtime.llm.base import LLMRequest
from runtime.llm.openai_responses_wire import PROVIDER, ResponseReader, render_responses
from runtime.llm.openai_sdk import OpenAISdkLLM
from runtime.llm.wire import Json, Reader


class OpenAIResponsesLLM(OpenAISdkLLM):
    """OpenAI's models, by the Responses API. Nothing of the conversation is stored there."""

    provider = PROVIDER

    def render(self, request: LLMRequest) -> Json:
        """The body of the request; pure."""
        return render_responses(request, self._record(request.model))

    def _reader(self, request: LLMRequest) -> Reader:
        return ResponseReader()

    async def _open(self, client: Any, body: Json) -> Any:
        return await client.responses.create(**body)
