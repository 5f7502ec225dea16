"""A travel desk that calls another playbook, the pay desk, which may call a third, the bank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.playbook import Playbook
from tests.runtime.desk import DECISION, playbook, rule, says, stage

CARD: dict[str, Any] = {
    "name": "card",
    "description": "Charge a card",
    "parameters": {"type": "object", "properties": {"sum": {"type": "integer"}}},
    "implementation": {"type": "mock", "responses": [{"result": {"paid": True}}]},
    "saveAs": "receipt",
}
TRIP: dict[str, Any] = {
    "name": "trip",
    "description": "Find a trip",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
    "implementation": {"type": "mock", "responses": [{"result": {"price": 90}}]},
    "saveAs": "trip",
}
TAKING_PART = ("Bike desk", "User")
"""Who takes part in a session of the travel desk while no agent is open."""
PAYER = {"name": "Payer", "playbook": "pay-desk", "description": "Takes the money"}
BANK = {"name": "Bank", "playbook": "bank"}


def travel(*extra: dict[str, Any], **more: Any) -> Playbook:
    """Two stages; the model or the word "pay" calls the payer."""
    transitions = [
        rule("t-pay", "plan", "agent:Payer", DECISION, mode="call", data={"currency": "EUR"}),
        rule("t-word", "plan", "agent:Payer", says("pay", source="user"), mode="call"),
        *extra,
    ]
    stages = [stage("plan", tools=[TRIP]), stage("done")]
    variables = [{"name": "trip", "default": None}, {"name": "secret", "default": "of the desk"}]
    return playbook(
        stages,
        transitions,
        id="travel",
        globalSystemPrompt="You plan trips.",
        variables=variables,
        **{"agents": [PAYER], **more},
    )


def pay_desk(*extra: dict[str, Any], **more: Any) -> Playbook:
    """Asks for a card, charges it, and returns when the model says so."""
    transitions = [
        rule("t-check", "ask", "plan", DECISION),
        rule("t-back", "*", None, DECISION, mode="return"),
        rule("t-bank", "ask", "agent:Bank", says("bank", source="user"), mode="call"),
        *extra,
    ]
    stages = [stage("ask", tools=[CARD]), stage("plan")]
    variables = [{"name": "receipt", "default": None}, {"name": "fee", "default": 2}]
    return playbook(
        stages,
        transitions,
        id="pay-desk",
        globalSystemPrompt="You take payments.",
        variables=variables,
        **{"agents": [BANK], **more},
    )


def bank(**more: Any) -> Playbook:
    """One stage that the word "done" leaves."""
    return playbook(
        [stage("vault")],
        [rule("t-out", "vault", None, says("done"), mode="return", data={"limit": 500})],
        id="bank",
        **more,
    )


def documents(**replaced: Playbook) -> Mapping[str, Playbook]:
    """By id, the playbooks that the travel desk and its agents call."""
    return {"pay-desk": replaced.get("pay_desk", pay_desk()), "bank": replaced.get("bank", bank())}
