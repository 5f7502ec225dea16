"""The rehearsal model in playbooks that call: what was handed over, what came back, what was loaded."""

from __future__ import annotations

from typing import Any

from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.llm.base import LLM
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import LLMConfig, Playbook
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox
from tests.runtime.context.talk import START, decision
from tests.runtime.llm.test_gallery_rehearsal import OnlyRehearsal
from tests.runtime.runner.play import error

Json = dict[str, Any]
PAGE: Json = {"pages": [{"text": "It was the cat. " * 40}]}
READ: Json = {
    "name": "read",
    "description": "Reads a source",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "mock", "responses": [{"result": PAGE}]},
    "saveAs": "source",
}


def go(target: str, **more: Any) -> Json:
    return {"name": "playbook_transition", "arguments": {"targetStage": target, **more}}


def book(desk: list[Json], look: list[Json], **more: Any) -> Json:
    """A desk that calls a stage, or an agent, with these lines for the rehearsal."""
    stages = [
        {"id": "desk", "name": "Desk", "systemPrompt": "Help.", "metadata": {"rehearsal": desk}},
        {
            "id": "look",
            "name": "Look",
            "systemPrompt": "Look.",
            "tools": [READ],
            "metadata": {"rehearsal": look},
        },
    ]
    rules = [
        {
            **decision("t-look", "desk", "look", "To be looked up"),
            "action": {"targetStage": "look", "mode": "call"},
        },
        {**decision("t-back", "look", "desk", "Looked up"), "action": {"mode": "return"}},
    ]
    return {
        "id": "b", "name": "B", "stages": stages, "transitions": rules, "initialStage": "desk",
        "variables": [{"name": "source"}], **more,
    }  # fmt: skip


class OneIsBroken(OnlyRehearsal):
    """Every stage is played by the rehearsal model, but those of the model `broken`: that one fails."""

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        if config.model == "broken":
            return ScriptedLLM([error(401, "authentication_error")]), record("rehearsal")
        return super().get(config, using_model)


def replies(document: Json, *messages: str, agents: dict[str, Json] | None = None) -> list[str]:
    """What is said to these messages; no turn may fail."""
    return run_virtual(lambda: _replies(document, agents or {}, messages))


async def _replies(document: Json, agents: dict[str, Json], messages: tuple[str, ...]) -> list[str]:
    store = MemoryStore()
    session = Session(
        Playbook.model_validate(document),
        agents={name: Playbook.model_validate(agent) for name, agent in agents.items()},
        llms=OneIsBroken(),
        tools=ToolBox(),
        store=store,
        clock=VirtualClock(START),
        session_id="s",
    )
    await session.start()
    for message in messages:
        await session.send(message)
    assert not [event for event in store.events if isinstance(event, ev.TurnFailed)]
    return [event.text for event in store.events if isinstance(event, ev.TurnComplete)]


ASK = {"when": "*", "call": go("look", data={"question": "{user}", "about": {"who": "{user}", "page": 3}})}
TOLD = {"when": {"back": "Look"}, "say": "{returned.answer}"}


def test_what_a_stage_is_given_can_be_spoken_of_and_what_it_gives_back_as_well() -> None:
    answer = {
        "when": {"called": False},
        "call": go("return", data={"answer": "{data.question} {data.about.who}: no."}),
    }
    assert replies(book([ASK, TOLD], [answer]), "Cats?") == ["Cats? Cats?: no."]


def test_arguments_inside_arguments_are_filled_and_a_call_that_lacks_one_is_passed_over() -> None:
    lacking = {"when": {"called": False}, "call": go("return", data={"answer": {"of": "{data.nobody}"}})}
    answer = {"when": {"called": False}, "call": go("return", data={"answer": "page {data.about.page}"})}
    assert replies(book([ASK, TOLD], [lacking, answer]), "Cats?") == ["page 3"]


def test_a_line_for_what_came_back_holds_for_one_reply_only() -> None:
    answer = {"when": {"called": False}, "call": go("return", data={"answer": "no."})}
    quiet = {"when": {"user": "thanks"}, "say": "Welcome."}
    assert replies(book([TOLD, quiet, ASK], [answer]), "Cats?", "thanks") == ["no.", "Welcome."]


def test_known_looks_into_what_was_given_and_given_back() -> None:
    knows = {
        "when": {"known": "data.question", "called": False},
        "call": go("return", data={"answer": "known"}),
    }
    told = {"when": {"known": "returned.answer"}, "say": "It was {returned.answer}."}
    assert replies(book([ASK, told], [knows]), "Cats?") == ["It was known."]


CLERK: Json = {
    "id": "clerk",
    "name": "Clerk",
    "stages": [
        {
            "id": "a",
            "name": "A",
            "systemPrompt": "Answer.",
            "metadata": {"rehearsal": [{"when": "*", "call": go("return", data={"answer": "Stamped."})}]},
        }
    ],
    "transitions": [{**decision("t", "a", "a", "Done"), "action": {"mode": "return"}}],
    "initialStage": "a",
}


def calling_a_clerk() -> Json:
    ask = {"when": "*", "call": go("agent:Clerk")}
    told = {"when": {"back": "Clerk"}, "say": "The clerk: {returned.answer}"}
    failed = {"when": {"back": "Clerk"}, "say": "No clerk: {returned.error}"}
    rule = {**decision("t", "desk", "desk", "Ask"), "action": {"targetStage": "agent:Clerk", "mode": "call"}}
    lines = {"rehearsal": [told, failed, ask]}
    desk = {"id": "desk", "name": "Desk", "systemPrompt": "Help.", "metadata": lines}
    agents = [{"name": "Clerk", "playbook": "clerk"}]
    return {
        "id": "b", "name": "B", "stages": [desk], "transitions": [rule], "initialStage": "desk",
        "agents": agents,
    }  # fmt: skip


def test_an_agent_is_named_without_its_number() -> None:
    assert replies(calling_a_clerk(), "hi", agents={"clerk": CLERK}) == ["The clerk: Stamped."]


def test_an_agent_that_failed_gives_its_error_in_words() -> None:
    broken = {**CLERK, "defaultLLMConfig": {"model": "broken"}}
    [reply] = replies(calling_a_clerk(), "hi", agents={"clerk": broken})
    assert reply.startswith("No clerk: ")
    assert len(reply) > len("No clerk: "), "the reason"


def test_what_was_loaded_can_be_quoted() -> None:
    read = {"when": {"called": False}, "call": "read"}
    back = {"when": {"called": True}, "call": go("return")}
    load = {"when": "page", "call": {"name": "LoadArtifact", "arguments": {"name": "source"}}}
    quote = {"when": "page", "say": "{loaded.pages.0.text}"}
    found = {"when": {"back": "Look"}, "say": "Found."}
    said = replies(book([load, quote, found, ASK], [read, back]), "Cats?", "the page")
    assert said == ["Found.", PAGE["pages"][0]["text"]]


def test_nothing_loaded_is_nothing_to_quote() -> None:
    quote = {"when": "page", "say": "{loaded.pages.0.text}"}
    assert replies(book([quote, {"say": "There is none."}], []), "the page") == ["There is none."]
