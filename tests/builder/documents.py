"""Small documents to build tests on; every call gives a fresh one."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def stage(stage_id: str, **fields: Any) -> Json:
    """A stage with a prompt."""
    return {"id": stage_id, "name": stage_id.title(), "systemPrompt": f"You are in {stage_id}.", **fields}


def end(stage_id: str = "bye", **fields: Any) -> Json:
    """A stage that ends the conversation."""
    return stage(stage_id, kind="end", **fields)


def rule(rule_id: str, source: str, target: str | None, **fields: Any) -> Json:
    """A transition that the model decides."""
    return {
        "id": rule_id,
        "from": source,
        "condition": {"type": "llm_decision"},
        "action": {"targetStage": target},
        **fields,
    }


def tool(name: str, **fields: Any) -> Json:
    """A tool with a mock that always answers."""
    implementation = {"type": "mock", "responses": [{"result": "ok"}]}
    return {"name": name, "description": f"Does {name}", "implementation": implementation, **fields}


def document(stages: list[Json] | None = None, rules: list[Json] | None = None, **fields: Any) -> Json:
    """A playbook without problems: greet, then bye."""
    stages = [stage("greet"), end()] if stages is None else stages
    rules = [rule("done", "greet", "bye")] if rules is None else rules
    return {
        "formatVersion": 1,
        "id": "desk",
        "name": "Desk",
        "stages": stages,
        "transitions": rules,
        "initialStage": stages[0]["id"] if stages else "greet",
        **fields,
    }
