"""What every event of a session's log has."""

from __future__ import annotations

from datetime import datetime

from runtime.conversation.base import Value


class EventBase(Value):
    """What every event has. `turn` is 0 before the first turn."""

    seq: int = 0
    at: datetime
    session: str
    turn: int = 0
