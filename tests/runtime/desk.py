"""The bike desk: a small playbook that the engine's and the runner's tests vary."""

from __future__ import annotations

from typing import Any

from runtime.playbook import Playbook

STOCK: dict[str, Any] = {
    "name": "stock",
    "description": "How many bikes of one kind are free today",
    "parameters": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
    "implementation": {"type": "mock", "responses": [{"result": {"free": 2}}]},
}
BOOK: dict[str, Any] = {
    "name": "book",
    "description": "Reserve one bike",
    "parameters": {
        "type": "object",
        "properties": {"kind": {"type": "string"}, "day": {"type": "string"}},
        "required": ["kind", "day"],
    },
    "implementation": {"type": "mock", "responses": [{"result": "booking 1"}]},
}


def stage(stage_id: str, **more: Any) -> dict[str, Any]:
    """A stage of the document."""
    return {"id": stage_id, "name": stage_id.title(), "systemPrompt": f"You are in {stage_id}.", **more}


def rule(
    rule_id: str, source: str, target: str | None, condition: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """A transition; `more` with `mode`, `data`, `clearHistory`, `transitionMessage` goes into its action."""
    in_action = {"mode", "data", "clearHistory", "transitionMessage"}
    action = {name: value for name, value in more.items() if name in in_action}
    rest = {name: value for name, value in more.items() if name not in in_action}
    if target is not None:
        action["targetStage"] = target
    return {"id": rule_id, "from": source, "condition": condition, "action": action, **rest}


def says(*keywords: str, source: str = "assistant", match: str = "word") -> dict[str, Any]:
    """A keyword condition."""
    return {"type": "keyword", "keywords": list(keywords), "source": source, "match": match}


DECISION: dict[str, Any] = {"type": "llm_decision"}


def playbook(
    stages: list[dict[str, Any]], transitions: list[dict[str, Any]] | None = None, **more: Any
) -> Playbook:
    """A playbook that starts in its first stage."""
    document = {
        "id": "bike-desk",
        "name": "Bike desk",
        "initialStage": stages[0]["id"],
        "stages": stages,
        "transitions": transitions or [],
        **more,
    }
    return Playbook.model_validate(document)


def desk(*extra: dict[str, Any], start: str = "greet", **more: Any) -> Playbook:
    """Greeting, choosing with two tools, goodbye; `extra` are further transitions."""
    greet = stage("greet", twoPhaseExecution=False)
    pick = stage("pick", tools=[STOCK, BOOK])
    transitions = [
        rule("t-pick", "greet", "pick", DECISION),
        rule("t-close", "pick", "close", says("booked")),
        *extra,
    ]
    return playbook([greet, pick, stage("close")], transitions, **{"initialStage": start, **more})
