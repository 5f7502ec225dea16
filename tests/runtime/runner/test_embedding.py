"""`Session.open`: a playbook in any asyncio program, with defaults for everything but the playbook."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runtime import Session
from runtime.conversation import events as ev
from runtime.conversation.events import EVENT, Event
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import Playbook
from runtime.playbook.errors import InvalidPlaybook
from runtime.runner.clock import SystemClock
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Delta
from runtime.runner.talk import NoReply
from runtime.runner.virtual_time import VirtualClock
from runtime.tools import ToolBox, ToolFailed
from tests.runtime.runner.play import NoChance, OneModel, in_virtual_time
from tests.support.replays import asks, tool

LOOK = {
    "name": "look",
    "description": "Looks.",
    "parameters": {"type": "object", "properties": {"what": {"type": "string"}}},
}
DOCUMENT: dict[str, Any] = {
    "id": "shop",
    "name": "Shop",
    "initialStage": "front",
    "stages": [
        {"id": "front", "name": "Front", "systemPrompt": "Help.", "tools": [LOOK], "timeoutMs": 60_000},
        {"id": "back", "name": "Back", "systemPrompt": "Say goodbye."},
    ],
    "transitions": [
        {
            "id": "bye",
            "from": "front",
            "condition": {"type": "keyword", "keywords": ["goodbye"]},
            "action": {"targetStage": "back"},
        }
    ],
}


def says(*texts: str) -> ScriptedLLM:
    return ScriptedLLM([{"text": text} for text in texts])


@in_virtual_time
async def test_a_playbook_file_answers() -> None:
    async with Session.open(DOCUMENT, llm=says("Hello.")) as session:
        assert await session.ask("Hi") == "Hello."


async def test_a_path_and_a_document_are_as_good_as_a_playbook(tmp_path: Path) -> None:
    file = tmp_path / "shop.json"
    file.write_text(json.dumps(DOCUMENT), "utf-8")
    for given in (file, str(file), DOCUMENT):
        async with Session.open(given, llm=says("Hello.")) as session:
            assert session.playbook.id == "shop"
            assert await session.ask("Hi") == "Hello."


async def test_a_playbook_that_cannot_run_is_refused_with_its_place() -> None:
    broken = {**DOCUMENT, "initialStage": "nowhere"}
    with pytest.raises(InvalidPlaybook) as refused:
        Session.open(broken)
    assert refused.value.problems[0].path == "/initialStage"


async def test_without_a_model_and_a_key_the_rehearsal_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    heard: list[Event | Delta] = []
    session = Session.open(DOCUMENT)
    session.on(heard.append)
    async with session:
        assert await session.ask("Hi")
    assert {item.model for item in heard if isinstance(item, ev.LLMCallStarted)} == {"rehearsal"}


@in_virtual_time
async def test_stream_gives_the_text_as_it_comes_and_the_events_of_the_turn() -> None:
    llm = ScriptedLLM([{"chunks": ["Good", "bye", "."]}])
    document = {**DOCUMENT, "stages": [{**stage, "tools": []} for stage in DOCUMENT["stages"]]}
    async with Session.open(document, llm=llm) as session:
        items = [item async for item in session.stream("Hi")]
    assert [item.text for item in items if isinstance(item, Delta)] == ["Good", "bye", "."]
    types = [item.type for item in items if not isinstance(item, Delta)]
    assert types[0] == "turn_started"
    assert types[-1] == "turn_complete"
    assert "transition_triggered" in types


@in_virtual_time
async def test_leaving_a_stream_early_does_not_stop_the_turn() -> None:
    async with Session.open(DOCUMENT, llm=says("One.", "Two.")) as session:
        async for _ in session.stream("Hi"):
            break
        assert await session.ask("And?") == "Two."
        assert session.state.turn == 2


@in_virtual_time
async def test_a_turn_that_fails_says_why_and_can_be_taken_up_again() -> None:
    refused = {"error": {"type": "invalid_request_error", "status": 400, "message": "no"}}
    store = MemoryStore()
    llm = ScriptedLLM([refused, {"text": "Hello."}])
    async with Session.open(DOCUMENT, llm=llm, store=store) as session:
        with pytest.raises(NoReply) as failed:
            await session.ask("Hi")
        assert str(failed.value)
        await session.retry()
        assert [event.text for event in store.events if isinstance(event, ev.TurnComplete)] == ["Hello."]


def stage_of(session: Session) -> str:
    return session.state.frames[-1].stage


@in_virtual_time
async def test_python_functions_are_the_tools_of_the_same_name() -> None:
    async def look(what: str) -> dict[str, Any]:
        await asyncio.sleep(1)
        return {"found": what}

    llm = ScriptedLLM([asks(tool("c1", "look", what="red")), {"text": "Yes."}])
    results: list[ev.ToolCallComplete] = []
    async with Session.open(DOCUMENT, llm=llm, tools={"look": look}) as session:
        session.on(lambda item: results.append(item) if isinstance(item, ev.ToolCallComplete) else None)
        assert await session.ask("Red?") == "Yes."
    assert results[0].result == {"found": "red"}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolFailed("The shop is closed."), "The shop is closed."),
        (RuntimeError("/home/me"), "The tool failed inside (RuntimeError)."),
    ],
)
async def test_what_a_function_raises_is_an_error_result_without_secrets(error: Exception, told: str) -> None:
    def look(what: str) -> None:
        raise error

    llm = ScriptedLLM([asks(tool("c1", "look", what="red")), {"text": "No."}])
    store = MemoryStore()
    async with Session.open(DOCUMENT, llm=llm, tools={"look": look}, store=store) as session:
        assert await session.ask("Red?") == "No."
        (result,) = [event for event in store.events if isinstance(event, ev.ToolCallComplete)]
    assert (result.success, result.error) == (False, told)


async def test_a_function_for_no_tool_of_the_playbook_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="'loook'"):
        Session.open(DOCUMENT, tools={"loook": print})


@in_virtual_time
async def test_timers_fire_while_nobody_says_anything() -> None:
    clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with Session.open(DOCUMENT, llm=says("Hello."), clock=clock) as session:
        await session.ask("Hi")
        await asyncio.sleep(59)
        assert stage_of(session) == "front"
        await asyncio.sleep(2)
        assert stage_of(session) == "back"


@in_virtual_time
async def test_a_listener_looks_up_the_whole_transition_and_both_stages() -> None:
    seen: list[tuple[str, str, str]] = []
    session = Session.open(DOCUMENT, llm=says("Goodbye."))

    def hear(item: Event | Delta) -> None:
        if isinstance(item, ev.TransitionTriggered) and item.transition and item.to_stage:
            rule = session.transition(item.transition)
            stages = session.stage(item.from_stage), session.stage(item.to_stage)
            seen.append((rule.condition.type, stages[0].name, stages[1].system_prompt))

    session.on(hear)
    async with session:
        await session.ask("Hi")
    assert seen == [("keyword", "Front", "Say goodbye.")]


async def test_looking_up_what_is_not_there_names_it() -> None:
    session = Session.open(DOCUMENT)
    with pytest.raises(LookupError, match="cellar"):
        session.stage("cellar")
    with pytest.raises(LookupError, match="jump"):
        session.transition("jump")


@in_virtual_time
async def test_a_session_goes_on_from_its_stored_events() -> None:
    store = MemoryStore()
    async with Session.open(DOCUMENT, llm=says("Noted."), store=store, session_id="s1") as session:
        await session.ask("The word is amber.")
    stored = [event.model_dump_json() for event in store.events]

    llm = says("Amber.")
    events = [EVENT.validate_json(line) for line in stored]
    async with Session.open(DOCUMENT, llm=llm, events=events, session_id="s1") as again:
        assert await again.ask("Which word?") == "Amber."
        assert again.state.turn == 2
    assert "amber" in str(llm.render(llm.requests[0]))


@in_virtual_time
async def test_two_who_ask_at_once_get_their_own_replies() -> None:
    async with Session.open(DOCUMENT, llm=says("One.", "Two.", "Three.")) as session:
        replies = await asyncio.gather(*(session.ask(text) for text in ("1", "2", "3")))
    assert replies == ["One.", "Two.", "Three."]


@in_virtual_time
async def test_leaving_the_block_leaves_nothing_running() -> None:
    before = asyncio.all_tasks()
    async with Session.open(DOCUMENT, llm=ScriptedLLM([{"hang": True}])) as session:
        waiting = asyncio.create_task(session.send("Hi"))
        await asyncio.sleep(0.1)
        waiting.cancel()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() - before - {waiting} == set()


@in_virtual_time
async def test_a_session_made_by_its_constructor_is_a_context_manager_as_well() -> None:
    session = Session(
        Playbook.model_validate(DOCUMENT),
        llms=OneModel(says("Hello.")),
        tools=ToolBox(),
        store=MemoryStore(),
        clock=SystemClock(),
        session_id="s",
        rng=NoChance(),
    )
    async with session as same:
        assert same is session
        assert await session.ask("Hi") == "Hello."


@in_virtual_time
async def test_a_listener_that_raises_is_logged_and_the_others_hear_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[Event | Delta] = []

    def broken(item: object) -> None:
        raise RuntimeError("no")

    session = Session.open(DOCUMENT, llm=says("Hello."))
    session.on(broken)
    unsubscribe = session.on(heard.append)
    with caplog.at_level(logging.ERROR):
        async with session:
            assert await session.ask("Hi") == "Hello."
            unsubscribe()
            count = len(heard)
            await session.set("x", 1)
    assert len(heard) == count > 0
    assert "a listener of session" in caplog.text
