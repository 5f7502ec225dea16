"""The names an expression may use, made from a state: `vars`, `turn`, `stage`, `session`, `data`, `now`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from runtime.conversation.state import CallRecord, SessionState
from runtime.playbook import Stage
from runtime.playbook.expressions import ARTIFACTS


def roots_of(state: SessionState, stage: Stage, now: datetime, *, reply: str = "") -> dict[str, Any]:
    """Plain JSON values (and `now`, a timestamp). `reply` is the assistant's text of the turn so far.

    Where a value is an artifact, a reference stands; an expression gets the content of those that it names.
    """
    running, frame = state.running, state.frame
    return {
        "vars": state.variables,
        "turn": {
            "count": frame.turn_count if frame is not None else 0,
            "number": state.turn,
            "userMessage": running.user_text if running is not None else "",
            "assistantMessage": reply,
            "toolCalls": [_call(record) for record in running.records] if running is not None else [],
        },
        "stage": {
            "id": stage.id,
            "name": stage.name,
            "turnCount": frame.turn_count if frame is not None else 0,
            "depth": frame.depth if frame is not None else 0,
        },
        "session": {"id": state.session, "turns": state.turn, "agents": list(state.agents)},
        "data": dict(frame.data) if frame is not None else dict(state.moving.data) if state.moving else {},
        "now": now,
        ARTIFACTS: {name: artifact.content for name, artifact in state.artifacts.items()},
    }


def _call(record: CallRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "arguments": dict(record.arguments or {}),
        "success": record.success,
        "result": record.result,
        "error": record.error,
    }
