"""The part of the state that the model is told: variables, agents, artifacts, call stack; as plain JSON.

Rule: what leaves here is a deep copy, and names that start with `_` are private and never leave.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from runtime.conversation.state import SessionState

HUMAN: Final = "User"
"""The human among those who take part."""
Snapshot = Mapping[str, Any]
"""`variables`, `agents`, `artifacts` (name -> summary), `call_stack` (stage ids of the agent's own frames,
outermost first)."""


def snapshot(state: SessionState) -> dict[str, Any]:
    """What the model may know of the state now. Values are copied deeply, so a later change shows."""
    return {
        "variables": {
            str(name): plain(value) for name, value in state.variables.items() if not is_private(str(name))
        },
        "agents": list(state.agents),
        "artifacts": {
            name: ref.told for name, ref in state.artifacts.items() if ref.is_listed and not is_private(name)
        },
        "call_stack": [frame.stage for frame in state.own_frames],
    }


def is_private(name: str) -> bool:
    """Names starting with an underscore are never sent to a model."""
    return name.startswith("_")


def plain(value: Any) -> Any:
    """A deep copy as plain JSON; what JSON does not know becomes its text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(item) for item in value]
    return str(value)


def canonical(value: Any) -> str:
    """One text per value: sorted keys, no blanks, non-ASCII characters as they are. 1 and true differ."""
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
