"""The request of a call, rendered anew: the same bytes for every API, with an address and no key."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from runtime.conversation.events import LLMCallStarted
from runtime.inspector.requests import Address, rendered_request
from runtime.llm.connections_file import Api
from runtime.llm.source import make_server
from tests.runtime.llm.requests import simple_request

APIS: tuple[Api, ...] = ("anthropic", "responses", "chat")


SEGMENTS = simple_request().window.segments


def started(provider: str) -> LLMCallStarted:
    return LLMCallStarted(
        seq=1,
        at=datetime(2026, 11, 30, tzinfo=UTC),
        session="s",
        turn=1,
        call=1,
        lane="main",
        stage="a",
        provider=provider,
        model="some-model",
        added=SEGMENTS,
    )


@pytest.mark.parametrize("api", APIS)
def test_the_request_is_what_the_adapter_would_send(api: Api) -> None:
    llm = make_server(api, "", "http://127.0.0.1:1")
    sent = llm.render(replace(simple_request(), model="some-model"))
    shown = rendered_request(started(llm.provider), SEGMENTS, Address("http://h.example/x/", "TEAM_KEY"))
    assert shown.body == sent
    words = shlex.split(shown.curl)
    assert words[1] == shown.url
    assert shown.url.startswith("http://h.example/x/")
    assert "$TEAM_KEY" in shown.curl


def test_a_server_without_a_key_gets_none_in_the_line() -> None:
    shown = rendered_request(started("openai-chat"), SEGMENTS, Address("http://127.0.0.1:8080/v1"))
    assert shown.url == "http://127.0.0.1:8080/v1/chat/completions"
    assert "authorization" not in shown.curl.lower()


def test_a_compatible_server_that_nobody_knows_any_more_has_no_address() -> None:
    shown = rendered_request(started("openai-chat"), SEGMENTS)
    assert (shown.url, shown.curl) == ("", "")
    assert shown.body["model"] == "some-model"
