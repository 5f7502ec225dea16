"""Plays a case with our own engine, through the import that any file of LLMRTC goes through."""

from __future__ import annotations

import json

from builder.transfer.loading import load_value
from runtime.conversation.state import ACTION_CALL
from runtime.playbook import Playbook
from runtime.playbook.engine_tools import TRANSITION_TOOL
from runtime.runner.replay.player import play as replay
from runtime.runner.replay.script import Script
from tests.llmrtc.case import Case, Json
from tests.llmrtc.functions import hook_noted, written_anew
from tests.support.replays import Replayed


def play(case: Case) -> list[Json]:
    """What our engine did in each turn, in the form of the Node script. The start counts in the first one."""
    imported = load_value(case.playbook)
    assert imported.playbook is not None, imported.errors
    playbook = written_anew(imported.playbook, case)
    turns, before = [], 0
    for count in range(1, len(case.turns) + 1):
        items = _items(case, playbook, count)
        turns.append(_turn(case, items[before:-1], items[-1]))
        before = len(items) - 1
    return turns


def _items(case: Case, playbook: Playbook, steps: int) -> list[Json]:
    """Everything reported up to the end of that step. A replay is the same each time it is played."""
    seen = Replayed()
    script = {"chat": list(case.turns[:steps]), "tools": dict(case.tools), "options": case.options}
    replay(playbook, Script.model_validate(script), seen.tell)
    return seen.items


def _turn(case: Case, items: list[Json], end: Json) -> Json:
    events = [item for item in items if item["kind"] == "event"]
    calls = [event for event in events if is_call(event)]
    moves = [event for event in events if event["type"] == "transition_triggered"]
    requests = [json.dumps(item["request"]) for item in items if item["kind"] == "call"]
    last = requests[-1] if requests else ""
    return {
        "reply": "".join(event["text"] for event in events if event["type"] == "turn_complete"),
        "failed": any(event["type"] == "turn_failed" for event in events),
        "path": [move["toStage"] for move in moves],
        "fired": [move["transition"] for move in moves],
        "tools": [_tool(event) for event in calls if event["type"] == "tool_call_complete"],
        "order": [_mark(event) for event in calls],
        "hooks": [note for event in events if (note := hook_noted(event)) is not None],
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


def is_call(event: Json) -> bool:
    """Whether it is of a call that the model made; actions of a stage are told of in the same events."""
    return event["type"].startswith("tool_call_") and not event["callId"].startswith(ACTION_CALL)


def _mark(event: Json) -> str:
    return f"{'start' if event['type'] == 'tool_call_start' else 'end'} {event['callId']}"
