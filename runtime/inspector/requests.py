"""The request of a call as it went over the wire, to be read and to be copied."""

from __future__ import annotations

import json
import shlex
from typing import Any

from runtime.conversation.base import Value


class RenderedRequest(Value):
    """What was sent. Secrets stand as names of environment variables."""

    provider: str
    model: str
    url: str
    body: dict[str, Any]
    curl: str


URLS = {
    "anthropic": "https://api.anthropic.com/v1/messages",
    "openai": "https://api.openai.com/v1/responses",
}
HEADERS = {
    "anthropic": ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"),
    "openai": ("authorization: Bearer $OPENAI_API_KEY",),
}


def rendered_request(provider: str, model: str, body: dict[str, Any]) -> RenderedRequest:
    """The request with its address and a curl line. A model without an address (rehearsal) has neither."""
    url = URLS.get(provider, "")
    return RenderedRequest(
        provider=provider, model=model, url=url, body=body, curl=_curl(url, HEADERS.get(provider, ()), body)
    )


def _curl(url: str, headers: tuple[str, ...], body: dict[str, Any]) -> str:
    if not url:
        return ""
    # Double quotes, so that the shell puts the key in; nothing else stands between them.
    named = [f'-H "{header}"' for header in ("content-type: application/json", *headers)]
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return " ".join(["curl", shlex.quote(url), *named, "--data-binary", shlex.quote(data)])
