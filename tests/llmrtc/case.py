"""A case: one playbook and one script for both engines, and where they are known to differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
FIELDS = ("reply", "failed", "path", "fired", "tools", "hooks", "found", "stage")


@dataclass(frozen=True)
class Case:
    """`playbook` is LLMRTC's own JSON, with the names of functions (functions.py) where it has functions;
    `turns` are steps of our replay scripts."""

    name: str
    playbook: Json
    turns: Sequence[Json]
    tools: Mapping[str, Json] = field(default_factory=dict)
    options: Json = field(default_factory=dict)
    mode: Literal["execute", "stream"] = "execute"
    """`executeTurn` or `streamTurn` there; with us there is one way."""
    look_for: Sequence[str] = ()
    """Texts that are looked for in the last request of each turn."""
    in_order: bool = False
    """Compare also in which order calls begin and end."""
    difference: str | None = None
    """Id of the intended difference (docs/llmrtc-differences.md) that this case shows; None: they agree."""
    differs: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """"turn.field" -> (what LLMRTC does, what we do), turns counted from 0. All other fields are equal."""

    def as_json(self) -> Json:
        """What the Node script reads."""
        return {
            "playbook": self.playbook,
            "turns": list(self.turns),
            "tools": dict(self.tools),
            "options": self.options,
            "mode": self.mode,
            "look_for": list(self.look_for),
        }


def compared(case: Case, theirs: Sequence[Json], ours: Sequence[Json]) -> dict[str, tuple[Any, Any]]:
    """Every field in which the two differ, as `Case.differs` has it. The order of results counts only where a
    case asks for it: a call that is refused has its result at once."""
    fields = (*FIELDS, "order") if case.in_order else FIELDS
    return {
        f"{turn}.{name}": (their[name], our[name])
        for turn, (their, our) in enumerate(zip(map(_by_call, theirs), map(_by_call, ours), strict=True))
        for name in fields
        if their[name] != our[name]
    }


def _by_call(turn: Json) -> Json:
    return {**turn, "tools": sorted(turn["tools"], key=lambda call: str(call["id"]))}


# -- short ways to write LLMRTC's JSON ------------------------------------------------------------------


def playbook(*stages: Json, rules: Sequence[Json] = (), **more: Any) -> Json:
    """A playbook that begins in its first stage."""
    return {
        "id": "case",
        "name": "Case",
        "initialStage": stages[0]["id"],
        "stages": list(stages),
        "transitions": list(rules),
        **more,
    }


def stage(name: str, *tools: Json, **more: Any) -> Json:
    return {
        "id": name,
        "name": name.title(),
        "systemPrompt": f"You are at desk {name}.",
        "tools": list(tools),
        **more,
    }


def rule(name: str, start: str, condition: Json, target: str, *, priority: int = 0, **action: Any) -> Json:
    return {
        "id": name,
        "from": start,
        "condition": condition,
        "action": {"targetStage": target, **action},
        "priority": priority,
    }


def tool_named(name: str, *required: str, **more: Any) -> Json:
    """A tool whose parameters are texts; those of `required` must be given."""
    properties: Json = {parameter: {"type": "string"} for parameter in required}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "parameters": parameters, **more}


def keyword(*words: str) -> Json:
    return {"type": "keyword", "keywords": list(words)}


def after_turns(count: int) -> Json:
    return {"type": "max_turns", "count": count}


def called(name: str) -> Json:
    return {"type": "tool_call", "toolName": name}


def decision() -> Json:
    return {"type": "llm_decision"}


def intent(name: str, confidence: float | None = None) -> Json:
    needed = {} if confidence is None else {"confidence": confidence}
    return {"type": "intent", "intent": name, **needed}


def custom(function: str) -> Json:
    return {"type": "custom", "function": function}
