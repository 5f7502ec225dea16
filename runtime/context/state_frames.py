"""State frames: the whole state now and then (I-frame), only the changes in between (P-frame).

Rule: pure data. `apply_frame` over an I-frame and the P-frames after it gives the real state, for any edits.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.conversation.snapshot import Snapshot, canonical


@dataclass(frozen=True, slots=True)
class FullState:
    """An I-frame: all keys."""

    number: int
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the model reads."""
        return f"State {self.number} ({digest(self.body)}), complete: {canonical(self.body)}"


@dataclass(frozen=True, slots=True)
class StateDelta:
    """A P-frame: what changed since its base; keys without a change are left out.

    Its base is the frame numbered one less: where that one left the window, an I-frame is due.
    """

    number: int
    base: str
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the model reads."""
        return (
            f"State {self.number}, changes to state {self.number - 1} ({self.base}): {canonical(self.body)}"
        )


StateFrame = FullState | StateDelta
_FRAME: Final = re.compile(
    r"State (?P<number>\d+)(?: \(\w+\), complete|, changes to state \d+ \((?P<base>\w+)\)): "
)


def next_frame(
    base: Snapshot | None,
    now: Snapshot,
    *,
    number: int,
    since_full: int,
    interval: int,
    compression: bool,
    changed: int | None = None,
) -> StateFrame | None:
    """The state frame that the next request adds; None where nothing changed (an empty P-frame).

    `base` is the state as the model knows it, None before the first frame and where it left the window.
    `since_full` counts the P-frames since the last I-frame; `changed` is how many characters they have, if an
    I-frame that is longer than they are is to wait: it would cost more than it repeats. Without
    `compression` every frame is an I-frame.
    """
    full = FullState(number=number, body=dict(now))
    if base is None or not compression:
        return full
    if canonical(base) == canonical(now):
        return None
    delta = StateDelta(number=number, base=digest(base), body=changes(base, now))
    is_due = since_full >= interval and (changed is None or len(full.text) <= changed)
    if is_due or len(delta.text) > len(full.text):
        return full
    return delta if canonical(apply_frame(base, delta)) == canonical(now) else full


def changes(base: Snapshot, now: Snapshot) -> dict[str, Any]:
    """The body of a P-frame from `base` to `now`, compared by canonical JSON: 1 and true differ."""
    body: dict[str, Any] = {}
    _variable_changes(body, base["variables"], now["variables"])
    _agent_changes(body, base["agents"], now["agents"])
    _artifact_changes(body, base["artifacts"], now["artifacts"])
    if base["call_stack"] != now["call_stack"]:
        body["call_stack"] = now["call_stack"]
    return body


def _variable_changes(body: dict[str, Any], base: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    new = {name: value for name, value in now.items() if name not in base}
    changed = {
        name: value
        for name, value in now.items()
        if name in base and canonical(base[name]) != canonical(value)
    }
    _put(
        body,
        new_variables=new,
        changed_variables=changed,
        deleted_variables=[n for n in base if n not in now],
    )


def _agent_changes(body: dict[str, Any], base: list[str], now: list[str]) -> None:
    _put(
        body,
        new_agents=[agent for agent in now if agent not in base],
        deleted_agents=[agent for agent in base if agent not in now],
    )


def _artifact_changes(body: dict[str, Any], base: Mapping[str, str], now: Mapping[str, str]) -> None:
    """An artifact whose summary changed is listed as new."""
    new = {name: summary for name, summary in now.items() if base.get(name) != summary}
    _put(body, new_artifacts=new, deleted_artifacts=[name for name in base if name not in now])


def _put(body: dict[str, Any], **found: Any) -> None:
    for name, value in found.items():
        if value:
            body[name] = sorted(value) if name.startswith("deleted_") else value


def apply_frame(base: Snapshot | None, frame: StateFrame) -> dict[str, Any]:
    """The state after `frame`. A P-frame without a base is a ValueError."""
    if isinstance(frame, FullState):
        return dict(frame.body)
    if base is None:
        raise ValueError("a P-frame needs its base")
    body = frame.body
    return {
        "variables": {
            **_without(base["variables"], body.get("deleted_variables", ())),
            **body.get("new_variables", {}),
            **body.get("changed_variables", {}),
        },
        "agents": [agent for agent in base["agents"] if agent not in body.get("deleted_agents", ())]
        + list(body.get("new_agents", ())),
        "artifacts": {
            **_without(base["artifacts"], body.get("deleted_artifacts", ())),
            **body.get("new_artifacts", {}),
        },
        "call_stack": body.get("call_stack", base["call_stack"]),
    }


def _without(values: Mapping[str, Any], names: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


@dataclass(frozen=True, slots=True)
class Known:
    """The state as the model knows it from the frames that it still reads."""

    base: Snapshot | None
    """None: no whole state stands there, or a frame between it and the newest is missing."""
    number: int
    """Of the newest frame."""
    since_full: int = 0
    """P-frames since the last I-frame."""


def still_known(texts: Sequence[str]) -> Known:
    """What the texts of the frames tell that stand in a window, in order, once others have left it."""
    known = Known(None, 0)
    for text in texts:
        found = _FRAME.match(text)
        if found is None:
            continue
        number, body = int(found["number"]), json.loads(text[found.end() :])
        if found["base"] is None:
            known = Known(body, number)
        elif known.base is not None and digest(known.base) == found["base"]:
            state = apply_frame(known.base, StateDelta(number=number, base=found["base"], body=body))
            known = Known(state, number, known.since_full + 1)
        else:
            known = Known(None, number)
    return known


def digest(body: Mapping[str, Any]) -> str:
    """Eight hex digits that name a whole state: what a P-frame says it builds on."""
    return hashlib.sha256(canonical(body).encode("utf-8", "replace")).hexdigest()[:8]
