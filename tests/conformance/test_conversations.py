"""The same conversations, whoever answers: the same events, valid requests, usage as it is billed."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, cast

import pytest

from builder.transfer.templates import template_agents, template_document
from runtime.conversation import events as ev
from runtime.inspector.calls import CallLog
from runtime.inspector.requests import rendered_request
from runtime.llm.sdk import SdkLLM
from runtime.playbook import Playbook
from tests.conformance.conversation import Conversation, Talk, outline
from tests.conformance.conversations import ALL, said, shown, two_calls, with_models
from tests.conformance.speakers import (
    BIG,
    KINDS,
    SMALL,
    RecordedRehearsal,
    Speaker,
    all_speaking,
    reference,
    rehearsing,
    speaking,
)
from tests.conformance.windows import BUDGET, COMPACTED, WINDOWS
from tests.runtime.desk import desk, playbook, stage
from tests.runtime.runner.play import calls, error
from tests.simulator import Simulator

EVERY = pytest.mark.parametrize("name", KINDS)


@EVERY
@pytest.mark.parametrize("conversation", [*ALL.values(), *WINDOWS.values()], ids=[*ALL, *WINDOWS])
async def test_the_events_are_the_same_and_the_requests_valid(conversation: Conversation, name: str) -> None:
    expected = await conversation.play(reference(conversation.outputs))
    talk = await played(name, conversation)
    assert outline(talk.memory.events) == outline(expected.memory.events)


async def played(name: str, conversation: Conversation) -> Talk:
    """The conversation on that adapter: no request broke a rule of its provider, and each whole answer was
    booked as it is billed."""
    async with speaking(name, conversation.outputs) as speaker:
        talk = await conversation.play(speaker)
        assert speaker.sim is not None
        await speaker.sim.idle()
        assert_valid(speaker.sim)
        assert_booked(talk, speaker.sim)
    return talk


def assert_valid(sim: Simulator) -> None:
    assert [(e.number, e.rule, e.error) for e in sim.exchanges if e.rule not in (None, "fault")] == []


def assert_booked(talk: Talk, sim: Simulator) -> None:
    """A call's last try is the one whose usage it is booked with."""
    tries = iter(sim.exchanges)
    whole = {event.call: event for event in talk.of(ev.LLMCallCompleted)}
    for started in talk.of(ev.LLMCallStarted):
        again = sum(1 for event in talk.of(ev.LLMCallRetry) if event.call == started.call)
        last = [next(tries) for _ in range(again + 1)][-1]
        event = whole.get(started.call)
        if event is not None:
            assert event.usage == last.usage
            assert event.cost == (pytest.approx(last.cost) if last.cost is not None else None)
    assert list(tries) == []


def test_the_windows_conversations_do_what_their_names_say() -> None:
    """So that no name of an artifact in them is a wrong one that every model answers with the same error."""
    heard = {name: asyncio.run(one.play(reference(one.outputs))) for name, one in WINDOWS.items()}
    results = {name: [e.error for e in talk.of(ev.ToolCallComplete)] for name, talk in heard.items()}
    wrong = {name: sum(error is not None for error in errors) for name, errors in results.items()}
    expected = {
        "an artifact that is loaded by name, twice": 1,
        "a part of an artifact, and one that there is not": 1,
        "a long error, which is no artifact": 1,
    }
    assert {name: count for name, count in wrong.items() if count} == expected
    assert not [name for name, talk in heard.items() if talk.of(ev.TurnFailed)]


# -- windows that are shortened ----------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("conversation", COMPACTED.values(), ids=COMPACTED)
async def test_a_window_that_was_shortened_is_as_valid_and_the_talk_the_same(
    conversation: Conversation, name: str
) -> None:
    expected = await conversation.play(reference(conversation.outputs))
    talk = await played(name, conversation)
    assert outline(talk.memory.events) == outline(expected.memory.events)
    assert {event.rule for event in talk.of(ev.WindowRewritten)} & {"must", "pays"}
    calls = CallLog()
    for event in talk.memory.events:
        calls.read(event)
    assert max(sum(segment.tokens for segment in calls.window(call)) for call in calls.numbers) <= BUDGET


# -- the rehearsal model -----------------------------------------------------------------------------

REHEARSED = {
    "an order and a refund": (
        "customer-support",
        ["hi", "where is my order 4471?", "ada@example.org", "I want a refund for 4102", "yes please", "bye"],
    ),
    "something broken": ("customer-support", ["My vase arrived broken", "+44 20 7946 0018"]),
    "a wish for a person": ("customer-support", ["let me talk to a real person"]),
    "an unknown address": ("customer-support", ["about my order", "nobody@example.org"]),
    "a mystery, with an agent": (
        "research-assistant",
        [
            "Why did the light go out in 1911?",
            "is that true?",
            "go on",
            "show me the page",
            "a brief, please",
            "bye",
        ],
    ),
    "a table": (
        "restaurant-booking",
        ["a table for four tomorrow at 8pm please", "Ada, +44 20 7946 0018", "yes"],
    ),
}


@EVERY
@pytest.mark.parametrize(("slug", "texts"), REHEARSED.values(), ids=REHEARSED)
async def test_what_the_rehearsal_plays_is_what_a_model_that_says_the_same_plays(
    slug: str, texts: Sequence[str], name: str
) -> None:
    document = template_document(slug)
    assert document is not None
    book = Playbook.model_validate(document)
    agents = {key: Playbook.model_validate(agent) for key, agent in template_agents(document).items()}
    speaker = rehearsing()
    rehearsal = await Conversation(book, [], until_the_end(texts), agents=agents).play(speaker)
    outputs = [_as_output(message) for message in cast(RecordedRehearsal, speaker.llms[BIG]).answers]
    talk = await played(name, Conversation(book, outputs, until_the_end(texts), agents=agents))
    assert outline(talk.memory.events) == outline(rehearsal.memory.events)


def until_the_end(texts: Sequence[str]) -> Any:
    """Says these as long as the session takes messages."""

    async def steps(talk: Talk) -> None:
        for text in texts:
            if talk.session.state.status != "complete":
                await talk.say(text)

    return steps


def _as_output(message: Any) -> dict[str, Any]:
    """What a script must say for the model to answer like this, in the same pieces."""
    made = [{"id": call.call_id, "name": call.name, "args": call.arguments} for call in message.tool_calls]
    output: dict[str, Any] = {"tool_calls": made} if made else {}
    return {**output, "chunks": re.findall(r"\S+\s*|\s+", message.text)} if message.text else output


# -- several models in one session -------------------------------------------------------------------


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("then", KINDS)
async def test_a_session_can_go_on_with_a_model_of_another_provider(first: str, then: str) -> None:
    """Ids that one provider gives the other may refuse; thinking is the first one's own."""
    odd = {**calls("stock", "functions.stock:0|x.1", kind="city"), "thinking": "A city bike."}
    outputs = [odd, {"text": "Two.", "thinking": "Two."}, two_calls(), {"text": "Done."}, {"text": "Bye."}]
    async with all_speaking(outputs) as speaker:
        talk = Talk(desk(start="pick"), speaker)
        await talk.session.start()
        await talk.session.use(model=f"{first}/{BIG}")
        await talk.say("city?")
        await talk.session.use(model=f"{then}/{SMALL}")
        await talk.say("Monday")
        await talk.session.use(model=f"{first}/{BIG}")
        await talk.say("bye")
        talk.check()
        assert speaker.sim is not None
        assert_valid(speaker.sim)
        assert [exchange.status for exchange in speaker.sim.exchanges] == [200] * 5
        stored = [call.call_id for event in talk.of(ev.LLMCallCompleted) for call in event.message.tool_calls]
        if first != "openai-chat":
            assert "A city bike." not in json.dumps(speaker.sim.bodies[2]) or first == then
    assert len(set(stored)) == 3


@EVERY
@pytest.mark.parametrize("then", KINDS)
async def test_an_interrupted_turn_leaves_a_log_that_every_provider_takes(name: str, then: str) -> None:
    outputs = [
        {**two_calls(text="Let me look."), "thinking": "Both."},
        {"chunks": ["The ", "bike"], "thinking": "hm", "hang": True},
        {"text": "Works."},
    ]
    async with all_speaking(outputs) as speaker:
        talk = Talk(desk(start="pick", llmConfig=None), speaker)
        await talk.session.start()
        await talk.session.use(model=f"{name}/{BIG}")
        await talk.say_and("city, Monday", lambda t: t.speaker.begun == 2, talk.session.stop)
        await talk.session.use(model=f"{then}/{BIG}")
        await talk.say("hello?")
        talk.check()
        assert speaker.sim is not None
        assert_valid(speaker.sim)
    assert [event.text for event in talk.of(ev.TurnComplete)] == ["Works."]


async def test_each_stages_model_is_the_one_that_is_asked() -> None:
    outputs = [{"text": "It is booked."}, {"text": "Bye."}]
    async with speaking("openai", outputs) as speaker:
        await Conversation(with_models(), outputs, said("city?", "thanks")).play(speaker)
        assert speaker.sim is not None
        assert [body["model"] for body in speaker.sim.bodies] == ["gpt-6.2-sol", "gpt-6-luna"]


@EVERY
async def test_settings_that_a_model_refuses_are_left_out_and_named_and_never_an_error(name: str) -> None:
    config = {"temperature": 0.3, "topP": 0.8, "effort": "high", "stopSequences": ["END"], "maxTokens": 4000}
    book = playbook([stage("close", llmConfig=config)])
    talk = await played(name, Conversation(book, [{"text": "Hello."}], said("hi")))
    expected = {
        "anthropic": ("temperature", "topP"),
        "openai": ("temperature", "topP", "stopSequences"),
        "openai-chat": ("effort",),
    }
    assert talk.of(ev.LLMCallStarted)[0].left_out == expected[name]


@EVERY
async def test_a_key_never_stands_in_the_log(name: str) -> None:
    secret = "sk-test-conformance"
    failing: list[dict[str, Any]] = [error(401, "authentication_error"), {"text": "ok"}]
    failing[0]["error"]["message"] = f"Incorrect API key provided: {secret}."
    talk = await played(name, Conversation(desk(), failing, said("hi", "again")))
    assert secret not in "".join(event.model_dump_json() for event in talk.memory.events)


async def test_a_refused_turn_is_taken_back_and_booked_and_the_next_one_works() -> None:
    outputs: list[dict[str, Any]] = [{"chunks": ["First ", "you"], "stop": "refusal"}, {"text": "Gladly."}]
    talk = await played("anthropic", Conversation(desk(start="close"), outputs, said("how?", "and a bike?")))
    [failed] = talk.of(ev.TurnFailed)
    assert failed.code == "refused"
    assert [event.text for event in talk.of(ev.TextWithdrawn)] == ["First you"]
    assert [event.text for event in talk.of(ev.TurnComplete)] == ["Gladly."]
    [refused] = talk.of(ev.LLMCallFailed)
    assert refused.usage is not None
    assert refused.cost > 0


async def test_a_window_with_no_room_for_an_answer_fails_the_turn_under_its_own_name() -> None:
    outputs = [{"text": "", "stop": "model_context_window_exceeded"}] * 2
    talk = await played("anthropic", Conversation(desk(start="close"), outputs, said("hi")))
    assert [event.code for event in talk.of(ev.TurnFailed)] == ["context_too_long"]


async def test_a_call_that_was_written_as_text_is_marked_in_the_log() -> None:
    outputs = [{"text": '{"name": "stock", "arguments": {"kind": "city"}}'}, {"text": "Two."}]
    talk = await played("openai-chat", Conversation(desk(start="pick"), outputs, said("city?")))
    [call] = talk.of(ev.LLMCallCompleted)[0].message.tool_calls
    assert (call.name, call.recovered) == ("stock", True)
    assert [event.text for event in talk.of(ev.TurnComplete)] == ["Two."]
    assert shown("Two.")(talk)
    assert "arguments" not in talk.shown


async def test_a_model_without_tool_calling_moves_on_by_a_choice_that_a_schema_constrains() -> None:
    chosen = {"text": '{"next": "pick", "reply": ""}'}
    answered = {"chunks": ['{"next": "answer", "re', 'ply": "Which ', 'bike?"}']}
    async with speaking("openai-chat", [chosen, answered]) as speaker:
        llm = speaker.llms[BIG]
        assert isinstance(llm, SdkLLM)
        llm.assume({"tools": False})
        entry = speaker.records[BIG].model_copy(update={"tools": False})
        talk = await Conversation(desk(), [], said("a bike")).play(Speaker({BIG: llm}, {BIG: entry}))
        assert speaker.sim is not None
        assert_valid(speaker.sim)
        bodies = speaker.sim.bodies
    assert [event.stage for event in talk.of(ev.StageEntered)] == ["greet", "pick"]
    assert talk.shown == "Which bike?"
    [call] = talk.of(ev.LLMCallCompleted)[0].message.tool_calls
    assert (call.name, call.recovered) == ("playbook_transition", True)
    enums = [b["response_format"]["json_schema"]["schema"]["properties"]["next"]["enum"] for b in bodies]
    assert enums == [["answer", "pick"], ["answer"]]
    log = CallLog().read_all(talk.memory.events)
    shown_again = [rendered_request(e, log.window(e.call)).body for e in talk.of(ev.LLMCallStarted)]
    assert shown_again == bodies
