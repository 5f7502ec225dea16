"""What the two adapters on OpenAI's package share: its client, and what its errors mean."""

from __future__ import annotations

from typing import Any

from runtime.llm.base import LLMError
from runtime.llm.errors import provider_error, retry_after_seconds
from runtime.llm.sdk import SdkLLM, words_of


class OpenAISdkLLM(SdkLLM):
    """A model behind the `openai` package. The base URL ends in `/v1`."""

    package = "openai"
    default_url = "https://api.openai.com/v1"

    def _make_client(self, sdk: Any, **options: Any) -> Any:
        client = sdk.AsyncOpenAI(**options)
        if self.url != self.default_url:
            # The package takes these two from the environment; another server must not learn them.
            client.organization = client.project = None
        return client

    def _translated(self, error: Any) -> LLMError:
        """An error inside a stream has no status: its code or type tells what happened."""
        status = getattr(error, "status_code", None)
        headers = error.response.headers if status is not None else {}
        kind = error.code or error.type
        return provider_error(kind, status, words_of(error), retry_after_seconds(headers))
