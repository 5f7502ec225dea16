"""OpenAIChatLLM: the one call, by the official SDK. What is sent, how it is read: `openai_chat_wire.py`."""

from __future__ import annotations

from typing import Any

from runtime.llm.base import LLMRequest
from runtime.llm.openai_chat_wire import PROVIDER, reader_for, render_chat
from runtime.llm.openai_sdk import OpenAISdkLLM
from runtime.llm.wire import Json, Reader


class OpenAIChatLLM(OpenAISdkLLM):
    """A model behind a server that speaks Chat Completions, such as llama.cpp, Ollama, LM Studio or vLLM."""

    provider = PROVIDER

    def render(self, request: LLMRequest) -> Json:
        """The body of the request; pure."""
        return render_chat(request, self._record(request.model))

    def _reader(self, request: LLMRequest) -> Reader:
        return reader_for(request, self._record(request.model))

    async def _open(self, client: Any, body: Json) -> Any:
        return await client.chat.completions.create(**body)
