"""The gallery's customer support, played by the rehearsal model through the real engine: the demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.context.models import ModelRecord, record
from runtime.conversation import events as ev
from runtime.llm.base import LLM
from runtime.llm.rehearsal import RehearsalLLM
from runtime.playbook import LLMConfig, Playbook
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox
from tests.runtime.context.talk import START

GALLERY = Path(__file__).parents[3] / "builder" / "transfer" / "gallery"


class OnlyRehearsal:
    """Every stage is played by the rehearsal model, without pauses."""

    def __init__(self) -> None:
        self.llm = RehearsalLLM(word_delay_s=0, now=lambda: START)

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        return self.llm, record("rehearsal")


def played(*messages: str, document: Any = None) -> tuple[list[str], list[str], Session]:
    """Replies, stages entered, and the session after these messages; nobody waits for the pauses."""
    return run_virtual(lambda: _played(document or support_desk(), *messages))


def support_desk() -> Any:
    return json.loads((GALLERY / "customer-support.json").read_text(encoding="utf-8"))


def with_two_tools_of_one_name(document: Any) -> Any:
    """Another `lookup_customer` in a second stage: the layout becomes `swap` by itself."""
    stages = {stage["id"]: stage for stage in document["stages"]}
    lookup = next(t for t in stages["authentication"]["tools"] if t["name"] == "lookup_customer")
    stages["resolution"]["tools"].append({**lookup, "description": "Looks up whom an order belongs to."})
    return document


async def _played(document: Any, *messages: str) -> tuple[list[str], list[str], Session]:
    store = MemoryStore()
    session = Session(
        Playbook.model_validate(document),
        llms=OnlyRehearsal(),
        tools=ToolBox(),
        store=store,
        clock=VirtualClock(START),
        session_id="s",
    )
    await session.start()
    for message in messages:
        await session.send(message)
    replies = [event.text for event in store.events if isinstance(event, ev.Phase2Complete)]
    stages = [event.stage for event in store.events if isinstance(event, ev.StageEntered)]
    return replies, stages, session


def test_from_greeting_to_farewell_with_an_order_and_a_refund() -> None:
    replies, stages, session = played(
        "hi",
        "where is my order 4471?",
        "ada@example.org",
        "I want a refund for 4102",
        "yes please",
        "that's all, bye",
    )
    assert stages == ["greeting", "authentication", "triage", "resolution", "refund", "farewell"]
    assert replies[2] == (
        "Order 4471 is in transit with Parcel Post and should arrive on Thursday. Is there anything else?"
    )
    assert "46 GBP" in replies[3]
    assert "R-5520" in replies[4]
    assert replies[5].startswith("Thank you, Ada.")
    assert session.state.status == "complete"


def test_something_broken_becomes_a_ticket_in_the_customers_words() -> None:
    replies, stages, session = played("My vase arrived broken", "+44 20 7946 0018")
    assert stages[-1] == "resolution"
    assert "T-3092" in replies[-1]
    assert session.state.variables["ticket"]["priority"] == "high"


def test_an_unknown_address_is_said_plainly_and_another_asked_for() -> None:
    replies, stages, _ = played("a question about my order", "nobody@example.org")
    assert stages[-1] == "authentication"
    assert replies[-1].startswith("No account with that e-mail address")


def test_who_asks_for_a_person_gets_one() -> None:
    replies, stages, session = played("let me talk to a real person")
    assert stages[-1] == "handover"
    assert "15 minutes" in replies[-1]
    assert session.state.status == "complete"


def test_the_same_messages_give_the_same_replies() -> None:
    messages = ("hello", "my parcel is late", "sam@example.com", "I don't have the number")
    assert played(*messages)[0] == played(*messages)[0]


PARCEL = ("Hi, where is my parcel? I'm ada@example.org", "4471", "and 4102?", "thanks, bye")


@pytest.mark.parametrize("swapped", ["by a conflict", "by choice"])
def test_the_layout_swap_leads_to_the_same_conversation(swapped: str) -> None:
    document = support_desk()
    if swapped == "by a conflict":
        document = with_two_tools_of_one_name(document)
    else:
        document["context"] = {**document.get("context", {}), "layout": "swap"}
    replies, stages, session = played(*PARCEL, document=document)
    assert "stage" not in {segment.kind for segment in session.state.windows.agent().segments}
    assert (replies, stages) == played(*PARCEL)[:2]
    assert replies[0].startswith("I see order 4471 of 2026-11-23")
