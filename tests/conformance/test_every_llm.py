"""What every model adapter must do, whoever is behind it: one suite for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import pytest

from runtime.llm.base import LLM, LLMEvent, LLMRequest, MessageComplete, TextDelta, UsageSoFar
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.scripted import ScriptedLLM
from tests.runtime.llm.adapters import ADAPTERS, KEY, simulator
from tests.runtime.llm.adapters import connected as on_the_simulator
from tests.runtime.llm.requests import simple_request
from tests.simulator import say


@asynccontextmanager
async def connected(name: str) -> AsyncIterator[tuple[LLM, LLMRequest]]:
    """A model of that kind that answers a request of its own with a text."""
    if name in ADAPTERS:
        sim = simulator()
        sim.script(say("Hel", "lo"))
        async with on_the_simulator(ADAPTERS[name], sim) as llm:
            yield llm, ADAPTERS[name].request("hello")
    elif name == "scripted":
        yield ScriptedLLM([{"chunks": ["Hel", "lo"]}]), simple_request("hello")
    else:
        yield RehearsalLLM(word_delay_s=0), simple_request("hello")


EVERY = pytest.mark.parametrize("name", [*ADAPTERS, "scripted", "rehearsal"])


async def events_of(llm: LLM, request: LLMRequest) -> list[LLMEvent]:
    return [event async for event in llm.stream(request)]


@EVERY
async def test_a_stream_ends_with_exactly_one_whole_message(name: str) -> None:
    async with connected(name) as (llm, request):
        events = await events_of(llm, request)
    assert [type(event) for event in events].count(MessageComplete) == 1
    assert isinstance(events[-1], MessageComplete)


@EVERY
async def test_the_pieces_are_the_text_of_the_message(name: str) -> None:
    async with connected(name) as (llm, request):
        events = await events_of(llm, request)
    last = cast(MessageComplete, events[-1])
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 1
    assert "".join(pieces) == last.message.text


@EVERY
async def test_rendering_changes_nothing_and_holds_no_secret(name: str) -> None:
    async with connected(name) as (llm, request):
        assert llm.render(request) == llm.render(request)
        assert isinstance(llm.left_out(request), tuple)
        assert KEY not in str(llm.render(request))


@EVERY
async def test_a_stream_can_be_left_early_and_the_model_closed(name: str) -> None:
    async with connected(name) as (llm, request):
        async with aclosing(cast(Any, llm.stream(request))) as stream:
            assert isinstance(await anext(stream), TextDelta | UsageSoFar)
        await llm.aclose()


@EVERY
async def test_it_names_its_provider(name: str) -> None:
    async with connected(name) as (llm, _):
        assert llm.provider == name
