"""The request of a call as it went over the wire, rendered anew from the log, to be read and to be copied."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.context.models import ModelRecord, record
from runtime.context.window import ContextWindow
from runtime.conversation.base import Value
from runtime.conversation.events import LLMCallStarted
from runtime.conversation.segments import Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from runtime.llm.openai_chat_wire import render_chat
from runtime.llm.openai_responses_wire import render_responses
from runtime.playbook import LLMConfig, NamedToolChoice, ToolDefinition


class RenderedRequest(Value):
    """What was sent. Secrets stand as names of environment variables."""

    provider: str
    model: str
    url: str
    """Empty: nobody knows where, or nowhere (the rehearsal; `body` is what a Claude model would get)."""
    body: dict[str, Any]
    curl: str


@dataclass(frozen=True, slots=True)
class Address:
    """Where a connection sends to. `base`: empty for the vendor's own."""

    base: str = ""
    key_variable: str = ""
    """The environment variable that stands for the key; empty: none is needed."""


@dataclass(frozen=True, slots=True)
class _Api:
    render: Callable[[LLMRequest, ModelRecord], dict[str, Any]]
    base: str
    path: str
    key_header: str
    key_variable: str = ""
    headers: tuple[str, ...] = ()


_APIS: Final[Mapping[str, _Api]] = {
    "anthropic": _Api(
        render_anthropic,
        "https://api.anthropic.com",
        "/v1/messages",
        "x-api-key: {}",
        "ANTHROPIC_API_KEY",
        ("anthropic-version: 2023-06-01",),
    ),
    "openai": _Api(
        render_responses,
        "https://api.openai.com/v1",
        "/responses",
        "authorization: Bearer {}",
        "OPENAI_API_KEY",
    ),
    "openai-chat": _Api(render_chat, "", "/chat/completions", "authorization: Bearer {}"),
}
_NOWHERE: Final = _Api(render_anthropic, "", "", "")


def rendered_request(
    started: LLMCallStarted, segments: Sequence[Segment], address: Address | None = None
) -> RenderedRequest:
    """The request of that call. `segments`: its window, with texts. `address`: that of its connection; None:
    the vendor's own."""
    api = _APIS.get(started.provider, _NOWHERE)
    body = api.render(request_of(started, segments), _record(started))
    address = address or Address("", api.key_variable)
    base = (address.base or api.base).rstrip("/")
    url = base + api.path if base else ""
    return RenderedRequest(
        provider=started.provider,
        model=started.model,
        url=url,
        body=body,
        curl=_curl(url, api, address.key_variable, body) if url else "",
    )


def _record(started: LLMCallStarted) -> ModelRecord:
    """The model as the call knew it: that it takes no tools may be known of its connection only."""
    known = record(started.model, started.provider)
    return known.model_copy(update={"tools": False}) if "tools" in started.left_out else known


def request_of(started: LLMCallStarted, segments: Sequence[Segment]) -> LLMRequest:
    """The call's request, as far as rendering looks at it."""
    window = ContextWindow(
        layout=started.layout,
        lane=started.lane,
        stage=started.stage,
        frame=started.frame,
        segments=tuple(segments),
        added=len(started.added),
        tools=_tools(segments),
        allowed_tools=(),
    )
    choice = started.tool_choice
    return LLMRequest(
        session=started.session,
        call=started.call,
        model=started.model,
        window=window,
        cache_points=started.cache_points,
        config=LLMConfig.model_validate(started.settings),
        tool_choice=NamedToolChoice.model_validate(choice) if isinstance(choice, dict) else choice,
    )


def _tools(segments: Sequence[Segment]) -> tuple[ToolDefinition, ...]:
    texts = [segment.text for segment in segments if segment.kind == "tools"]
    return tuple(ToolDefinition.model_validate(tool) for text in texts for tool in json.loads(text))


def _curl(url: str, api: _Api, key_variable: str, body: dict[str, Any]) -> str:
    # Double quotes, so that the shell puts the key in; nothing else stands between them.
    key = (api.key_header.format(f"${key_variable}"),) if key_variable else ()
    headers = [f'-H "{header}"' for header in ("content-type: application/json", *key, *api.headers)]
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return " ".join(["curl", shlex.quote(url), *headers, "--data-binary", shlex.quote(data)])
