"""ContextWindow: the ordered segments of one LLM call, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from runtime.context.measures import prefixes
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment
from runtime.playbook import ToolDefinition


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """What one request sends: all segments in order; the last `added` of them are new with this request."""

    layout: Literal["append", "swap"]
    lane: str
    stage: str
    frame: str | None
    segments: tuple[Segment, ...]
    added: int
    """How many of the last segments this request adds."""
    tools: tuple[ToolDefinition, ...]
    """The tools of the `tools` segment, in its order."""
    allowed_tools: tuple[str, ...]
    """The tools the stage may call now; the engine enforces it."""
    empty_state: bool = False
    state_snapshot: dict[str, Any] | None = None
    sent: AppendList[Segment] = field(default_factory=AppendList, compare=False, repr=False)
    """The segments before the added ones, as the session keeps them; empty where nobody said so."""

    @property
    def tokens(self) -> int:
        """Sum of the segments' counts."""
        sent = len(self.segments) - self.added
        if len(self.sent) != sent:
            return sum(segment.tokens for segment in self.segments)
        return prefixes(self.sent).total + sum(segment.tokens for segment in self.segments[sent:])
