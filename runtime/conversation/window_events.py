"""The events about windows: what is cached, what is shortened and why, what was rewritten."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from runtime.conversation.base import Value
from runtime.conversation.event_base import EventBase
from runtime.conversation.segments import CachePoint, Prediction, Segment

RewriteRule = Literal["return", "pays", "must", "trim", "clear", "swap", "unload", "restore", "model"]


class Setting(Value):
    """A setting of the context policy as it was in force for a call."""

    value: Any
    origin: str
    """`session`, `stage`, `playbook`, or a reason in words."""


class CompactionPlanned(EventBase):
    """A decision whether to shorten the window, with its numbers; also the decision not to."""

    type: Literal["compaction_planned"] = "compaction_planned"
    lane: str
    rule: str
    """`pays`, `must`, or `trim` (messages above `historyLimit`)."""
    decision: bool
    numbers: dict[str, Any] = Field(default_factory=dict)


class WindowRewritten(EventBase):
    """Segments that were sent are replaced from here on, by that rule."""

    type: Literal["window_rewritten"] = "window_rewritten"
    lane: str
    from_segment: str
    to_segment: str
    rule: RewriteRule
    replacement: tuple[Segment, ...] = ()
    numbers: dict[str, Any] = Field(default_factory=dict)


class SummaryWritten(EventBase):
    """A model was asked for a summary in place of one by rules. It is used when that place is rewritten."""

    type: Literal["summary_written"] = "summary_written"
    call: int | None = None
    """The call that wrote it; None where none was worth its cost."""
    segment: str
    """Id of the summary segment by rules."""
    agent: str = ""
    """Whose window it stands in."""
    text: str | None = None
    error: str | None = None
    """Why there is none: the summary by rules stays."""


class CachePlanned(EventBase):
    """Where the provider is asked to cache this call's window, and what that should save."""

    type: Literal["cache_planned"] = "cache_planned"
    call: int
    points: tuple[CachePoint, ...] = ()
    predicted: Prediction | None = None
    numbers: dict[str, Any] = Field(default_factory=dict)
