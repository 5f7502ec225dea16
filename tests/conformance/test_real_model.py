"""A real model on a local server plays the gallery, through both packages, if STUDIO_LOCAL_MODEL_URL is set.

What a small model says is its own affair; what is checked is that every request is taken, every answer
read, and usage booked. `STUDIO_LOCAL_MODEL` names the model; else the first one that the server lists.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from builder.transfer.templates import template_document
from runtime.context.models import record
from runtime.conversation import events as ev
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.openai_chat import OpenAIChatLLM
from runtime.llm.sdk import SdkLLM
from runtime.playbook import Playbook
from tests.conformance.conversation import Conversation
from tests.conformance.speakers import BIG, Speaker
from tests.conformance.test_conversations import REHEARSED, until_the_end

URL: Final = os.environ.get("STUDIO_LOCAL_MODEL_URL", "").rstrip("/").removesuffix("/v1")
WINDOW: Final = int(os.environ.get("STUDIO_LOCAL_MODEL_WINDOW", "8192"))
PATIENCE_S: Final = 600.0

pytestmark = [
    pytest.mark.skipif(not URL, reason="not run: STUDIO_LOCAL_MODEL_URL names no server"),
    pytest.mark.timeout(3600),
    pytest.mark.slow,
]
SDKS = pytest.mark.parametrize("sdk", ["openai", "anthropic"])


@asynccontextmanager
async def local(sdk: str) -> AsyncIterator[tuple[SdkLLM, str]]:
    """The server through that package, and its model."""
    lister = OpenAIChatLLM("", f"{URL}/v1")
    model = os.environ.get("STUDIO_LOCAL_MODEL") or (await lister.list_models())[0]
    await lister.aclose()
    llm: SdkLLM = (
        OpenAIChatLLM("", f"{URL}/v1", idle_s=PATIENCE_S)
        if sdk == "openai"
        else AnthropicLLM("", URL, idle_s=PATIENCE_S)
    )
    yield llm, model
    await llm.aclose()


def patient(slug: str) -> Playbook:
    """The gallery's playbook with short answers and much time."""
    document: dict[str, Any] = template_document(slug) or {}
    document["llmConfig"] = {"maxTokens": 160}
    document["options"] = {
        **document.get("options", {}),
        "turnTimeoutMs": 3_000_000,
        "phase1TimeoutMs": 3_000_000,
    }
    return Playbook.model_validate(document)


@SDKS
async def test_the_connection_is_found_in_order(sdk: str) -> None:
    async with local(sdk) as (llm, model):
        await llm.check(model)


@SDKS
@pytest.mark.parametrize(("slug", "texts"), REHEARSED.values(), ids=REHEARSED)
async def test_a_real_model_plays_the_gallery(sdk: str, slug: str, texts: list[str]) -> None:
    async with local(sdk) as (llm, model):
        entry = record(model, llm.provider).model_copy(update={"window": WINDOW})
        speaker = Speaker({BIG: llm}, {BIG: entry})
        talk = await Conversation(patient(slug), [], until_the_end(texts)).play(speaker)
    failed = [(event.code, event.error) for event in talk.of(ev.LLMCallFailed) if event.code != "superseded"]
    assert [code for code, _ in failed if code in ("bad_request", "not_allowed")] == [], failed
    answered = talk.of(ev.LLMCallCompleted)
    assert answered
    assert all(event.usage is not None and event.usage.input > 0 for event in answered)
    ended = [*talk.of(ev.TurnComplete), *talk.of(ev.TurnFailed)]
    assert {event.turn for event in ended} == {event.turn for event in talk.of(ev.TurnStarted)}
    lines = [
        f"{event.message.text!r} {[(c.name, c.recovered) for c in event.message.tool_calls]}"
        for event in answered
    ]
    print(f"\n{sdk} {model}: " + "\n  ".join([f"{len(failed)} failed calls {failed}", *lines]))


@SDKS
async def test_the_beginning_of_a_conversation_is_read_from_the_servers_cache(sdk: str) -> None:
    slug, texts = REHEARSED["something broken"]
    async with local(sdk) as (llm, model):
        entry = record(model, llm.provider).model_copy(update={"window": WINDOW})
        talk = await Conversation(patient(slug), [], until_the_end(texts)).play(
            Speaker({BIG: llm}, {BIG: entry})
        )
    usages = [event.usage for event in talk.of(ev.LLMCallCompleted)]
    assert len(usages) > 1
    assert all(usage.read * 2 > usage.input for usage in usages[1:]), usages
