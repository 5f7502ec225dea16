"""The request of a call as it went over the wire, rendered anew from the log, to be read and to be copied."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from runtime.context.models import record
from runtime.context.window import ContextWindow
from runtime.conversation.base import Value
from runtime.conversation.events import LLMCallStarted
from runtime.conversation.segments import Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from runtime.playbook import LLMConfig, NamedToolChoice, ToolDefinition


class RenderedRequest(Value):
    """What was sent. Secrets stand as names of environment variables."""

    provider: str
    model: str
    url: str
    """Empty for the rehearsal model: it is sent nowhere; `body` is what a Claude model would get."""
    body: dict[str, Any]
    curl: str


URL = "https://api.anthropic.com/v1/messages"
HEADERS = ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01")


def rendered_request(started: LLMCallStarted, segments: Sequence[Segment]) -> RenderedRequest:
    """The request of that call. `segments`: its window, with texts."""
    request = request_of(started, segments)
    body = render_anthropic(request, record(started.model, started.provider))
    sent = started.provider == "anthropic"
    return RenderedRequest(
        provider=started.provider,
        model=started.model,
        url=URL if sent else "",
        body=body,
        curl=_curl(body) if sent else "",
    )


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


def _curl(body: dict[str, Any]) -> str:
    # Double quotes, so that the shell puts the key in; nothing else stands between them.
    headers = [f'-H "{header}"' for header in ("content-type: application/json", *HEADERS)]
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return " ".join(["curl", shlex.quote(URL), *headers, "--data-binary", shlex.quote(data)])
