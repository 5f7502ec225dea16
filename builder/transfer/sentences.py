"""Conditions and transitions as sentences, in the words of the editor's graph (`playbook/labels.ts`).

They read plain documents: what they are given has the format's shape, unset fields may be absent or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Json = Mapping[str, Any]

_SPEAKER: Final = {"assistant": "assistant ", "user": "user ", "any": ""}
_OUTCOME: Final = {"any": "called", "success": "succeeded", "error": "failed"}
_UNITS: Final = (("h", 3_600_000), ("min", 60_000), ("s", 1000))


def condition_sentence(condition: Json) -> str:
    """`model decides`, `after 5 turns`, `intent ‘cancel’ ≥ 0.6` …"""
    match condition["type"]:
        case "keyword":
            return _keywords(condition)
        case "tool_call":
            happened = f"{condition.get('toolName') or '…'} {_OUTCOME[condition.get('outcome') or 'any']}"
            return f"{happened} and {condition['where']}" if condition.get("where") else happened
        case "intent":
            confidence = condition.get("confidence")
            return (
                f"intent ‘{condition.get('intent') or '…'}’ ≥ {0.6 if confidence is None else confidence:g}"
            )
        case "llm_decision":
            return "model decides"
        case "max_turns":
            count = condition["count"]
            return "after 1 turn" if count == 1 else f"after {count} turns"
        case "timeout":
            silent = condition.get("since") == "last_activity"
            return (
                f"{duration(condition['durationMs'])} of silence"
                if silent
                else (f"after {duration(condition['durationMs'])} in the stage")
            )
        case _:
            before = "before the reply: " if condition.get("when") == "before" else ""
            return before + (condition.get("expression") or "no expression yet")


def transition_sentence(transition: Json) -> str:
    """The sentence of its condition, with what is special about the way it goes."""
    sentence = condition_sentence(transition["condition"])
    mode = transition["action"].get("mode") or "goto"
    going = sentence if mode == "goto" else f"{'calls' if mode == 'call' else 'returns'} · {sentence}"
    return f"off · {going}" if transition.get("disabled") else going


def transition_title(document: Json, transition: Json) -> str:
    """`Greeting → Triage: model decides`."""
    target = None if transition["action"].get("mode") == "return" else transition["action"].get("targetStage")
    ends = f"{end_title(document, transition['from'])} → {end_title(document, target)}"
    return f"{ends}: {transition_sentence(transition)}"


def stage_title(stage: Json) -> str:
    """A stage's name for people: its name, or its id where the name is empty."""
    name: str = stage["name"].strip() or stage["id"]
    return name


def end_title(document: Json, stage_id: str | None) -> str:
    """An end of a transition for people."""
    if not stage_id:
        return "the caller"
    if stage_id == "*":
        return "any stage"
    if stage_id.startswith("agent:"):
        return f"agent {stage_id.removeprefix('agent:')}"
    stage = next((one for one in document["stages"] if one["id"] == stage_id), None)
    return stage_title(stage) if stage is not None else f"missing stage ‘{stage_id}’"


def duration(milliseconds: int) -> str:
    """`20 s`, `1.5 min`, `2 h`: in the largest unit that says it with at most one decimal, exactly."""
    name, size = next(
        ((name, size) for name, size in _UNITS if milliseconds >= size and milliseconds * 10 % size == 0),
        ("ms", 1),
    )
    return f"{milliseconds / size:g} {name}" if size > 1 else f"{milliseconds} ms"


def _keywords(condition: Json) -> str:
    keywords, match = condition.get("keywords") or (), condition.get("match") or "word"
    if not keywords:
        return "no keyword yet"
    form = {"word": "‘{}’", "substring": "‘…{}…’", "regex": "/{}/"}[match]
    verb = "matches" if match == "regex" else "says"
    quoted = ", ".join(form.format(keyword) for keyword in keywords)
    return f"{_SPEAKER[condition.get('source') or 'assistant']}{verb} {quoted}"
