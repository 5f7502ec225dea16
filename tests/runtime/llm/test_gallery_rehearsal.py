"""The gallery's customer support, played by the rehearsal model through the real engine: the demo."""

from __future__ import annotations

import json
from pathlib import Path

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


def played(*messages: str) -> tuple[list[str], list[str], Session]:
    """Replies, stages entered, and the session after these messages; nobody waits for the pauses."""
    return run_virtual(lambda: _played(*messages))


async def _played(*messages: str) -> tuple[list[str], list[str], Session]:
    document = json.loads((GALLERY / "customer-support.json").read_text(encoding="utf-8"))
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
