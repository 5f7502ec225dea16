"""The gallery's first playbook, played without a key: every way through it that it promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from builder.transfer.templates import FIRST, template_document
from runtime import Session
from runtime.conversation.events import StageEntered, ToolCallComplete, TransitionTriggered, TurnFailed
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.source import Connections
from runtime.playbook import Playbook
from runtime.runner.memory import MemoryStore
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox


@dataclass
class Played:
    """What a conversation left behind."""

    stages: list[str] = field(default_factory=list)
    rules: list[str | None] = field(default_factory=list)
    tools: list[tuple[str, bool]] = field(default_factory=list)
    status: str = ""


def play(*said: str) -> Played:
    """Says the lines one after the other to the rehearsal model, in a time of its own."""
    playbook = Playbook.model_validate(template_document(FIRST))
    store = MemoryStore()

    async def talk() -> str:
        clock = VirtualClock(datetime(2026, 11, 30, 9, tzinfo=UTC))
        model = RehearsalLLM(sleep=clock.sleep, now=clock.now)
        session = Session(
            playbook,
            llms=Connections({}, rehearsal=model),
            tools=ToolBox(),
            store=store,
            clock=clock,
            session_id="played",
        )
        await session.start()
        for line in said:
            await session.send(line)
        return session.state.status

    played = Played(status=run_virtual(talk))
    for event in store.events:
        assert not isinstance(event, TurnFailed), event
        if isinstance(event, StageEntered):
            played.stages.append(event.stage)
        elif isinstance(event, TransitionTriggered):
            played.rules.append(event.transition)
        elif isinstance(event, ToolCallComplete) and event.tool_name != "playbook_transition":
            played.tools.append((event.tool_name, event.success))
    return played


def test_one_message_can_lead_from_the_greeting_to_the_answer() -> None:
    played = play("Where is order 4471? I'm ada@example.org", "that's all, thanks")
    assert played.stages == ["greeting", "authentication", "triage", "resolution", "farewell"]
    assert played.tools == [("lookup_customer", True), ("find_order", True)]
    assert played.status == "complete"


def test_a_refund_is_checked_confirmed_and_paid_once() -> None:
    played = play("Hello", "I want a refund", "ada@example.org", "4102", "yes please", "bye")
    assert played.stages == ["greeting", "authentication", "triage", "refund", "farewell"]
    assert played.tools == [("lookup_customer", True), ("check_refund", True), ("issue_refund", True)]
    assert played.status == "complete"


def test_a_refund_that_the_payment_provider_refuses_goes_to_a_person() -> None:
    played = play("refund please, ada@example.org", "4471", "yes")
    assert played.rules[-1] == "t-refund-failed"
    assert played.stages[-1] == "handover"
    assert played.status == "complete"


def test_three_turns_without_an_account_go_to_a_person() -> None:
    played = play("Hello", "nobody@example.net", "no@example.net", "none@example.net")
    assert played.tools == [("lookup_customer", False)] * 3
    assert played.rules[-1] == "t-not-found"
    assert played.status == "complete"


def test_a_broken_item_becomes_a_ticket() -> None:
    played = play("my vase arrived broken, ada@example.org", "4102", "it is broken", "no, thanks")
    assert ("create_ticket", True) in played.tools
    assert played.stages[-1] == "farewell"


@pytest.mark.parametrize("before", [(), ("Hello",), ("Where is my parcel? ada@example.org",)])
def test_whoever_asks_for_a_person_gets_one_at_any_time(before: tuple[str, ...]) -> None:
    played = play(*before, "I want to talk to a human")
    assert (played.rules[-1], played.stages[-1]) == ("t-person", "handover")


def test_a_question_about_another_order_leads_out_of_the_refund_and_back() -> None:
    played = play("refund please, ada@example.org", "where is order 4471", "I want my money back for 2877")
    assert played.stages[-3:] == ["refund", "resolution", "refund"]
