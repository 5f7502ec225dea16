"""The gallery's customer support, played without a key: every way through it that it promises."""

from __future__ import annotations

import pytest

from builder.transfer.templates import FIRST
from tests.support.rehearsed import Played, rehearsed


def play(*said: str) -> Played:
    """Says the lines one after the other."""
    return rehearsed(FIRST, *said)


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
