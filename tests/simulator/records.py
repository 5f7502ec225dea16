"""What the simulator remembers of each request, for a test's assertions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runtime.conversation.messages import Usage


@dataclass(slots=True)
class Exchange:
    """One request and what became of it. `usage` is what is billed, in tokens; None if nothing was."""

    number: int
    at: datetime
    api: str
    path: str
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """In lower case, without the key."""
    account: str = ""
    status: int = 0
    """0 while it is not answered; also when the connection was dropped before."""
    rule: str | None = None
    """The rule that the request broke, `A01` to `O14`, or `fault`."""
    error: str | None = None
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; None is unknown."""
    sent: list[Any] = field(default_factory=list)
    """The events of a stream, or the one object, as far as they went out."""
    began_at: datetime | None = None
    """When the answer began."""
    complete: bool = False
    """The whole answer went out."""
    disconnected: bool = False
    """The client left before that."""

    def as_json(self) -> dict[str, Any]:
        """As the control address shows it."""
        return {
            "number": self.number,
            "at": self.at.isoformat(),
            "api": self.api,
            "path": self.path,
            "body": self.body,
            "headers": self.headers,
            "account": self.account,
            "status": self.status,
            "rule": self.rule,
            "error": self.error,
            "usage": self.usage.model_dump() if self.usage else None,
            "cost": self.cost,
            "events": len(self.sent),
            "complete": self.complete,
            "disconnected": self.disconnected,
        }
