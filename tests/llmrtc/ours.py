"""Plays a case with our own engine, through the import that any file of LLMRTC goes through."""

from __future__ import annotations

import json

from builder.transfer.loading import load_value
from runtime.playbook import Playbook
from runtime.playbook.engine_tools import TRANSITION_TOOL
from runtime.runner.replay.player import play as replay
from runtime.runner.replay.script import Script
from tests.llmrtc.case import Case, Json
from tests.support.replays import Replayed


def play(case: Case) -> list[Json]:
    """What our engine did in each turn, in the form of the Node script."""
    imported = load_value(case.playbook)
    assert imported.playbook is not None, imported.errors
    before = len(_items(case, imported.playbook, 0))
    turns = []
    for count in range(1, len(case.turns) + 1):
        items = _items(case, imported.playbook, count)
        turns.append(_turn(case, items[before:-1], items[-1]))
        before = len(items) - 1
    return turns


def _items(case: Case, playbook: Playbook, steps: int) -> list[Json]:
    """Everything reported up to the end of that step. A replay is the same each time it is played."""
    seen = Replayed()
    script = {"chat": list(case.turns[:steps]), "tools": dict(case.tools), "options": case.options}
    replay(playbook, Script.model_validate(script), seen.tell)
    return seen.items if steps else seen.items[:-1]


def _turn(case: Case, items: list[Json], end: Json) -> Json:
    events = [item for item in items if item["kind"] == "event"]
    moves = [event for event in events if event["type"] == "transition_triggered"]
    requests = [json.dumps(item["request"]) for item in items if item["kind"] == "call"]
    last = requests[-1] if requests else ""
    return {
        "reply": "".join(event["text"] for event in events if event["type"] == "turn_complete"),
        "failed": any(event["type"] == "turn_failed" for event in events),
        "path": [move["toStage"] for move in moves],
        "fired": [move["transition"] for move in moves],
        "tools": [_tool(event) for event in events if event["type"] == "tool_call_complete"],
        "order": [_mark(event) for event in events if event["type"].startswith("tool_call_")],
        "found": [text for text in case.look_for if text in last],
        "stage": end["stage"],
    }


def _tool(event: Json) -> Json:
    result = None if event["toolName"] == TRANSITION_TOOL else event["result"]
    return {
        "id": event["callId"],
        "name": event["toolName"],
        "success": event["success"],
        "result": result,
    }


def _mark(event: Json) -> str:
    return f"{'start' if event['type'] == 'tool_call_start' else 'end'} {event['callId']}"
