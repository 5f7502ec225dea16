"""Requests for the adapters' tests, made of the windows that a session really sends."""

from __future__ import annotations

from typing import Any

from runtime.context.window import ContextWindow
from runtime.llm.base import LLMRequest
from runtime.playbook import LLMConfig
from tests.runtime.context.talk import Talk


def request_of(talk: Talk, window: ContextWindow | None = None, **more: Any) -> LLMRequest:
    """The request for the talk's last window, with the points that were planned for it."""
    config = LLMConfig.model_validate(more.pop("config", {}))
    return LLMRequest(
        session="s",
        call=talk.state.calls,
        model=talk.model.id,
        window=window or talk.windows[-1],
        cache_points=talk.plans[-1].points,
        config=config,
        **more,
    )


def simple_request(text: str = "hi", **more: Any) -> LLMRequest:
    talk = Talk().start("pick").turn(text)
    talk.ask()
    return request_of(talk, **more)
