"""What was sent so far: segments per agent, requests per lane. The part of the state that windows are built from.

Rule: nothing here is decided; `fold_windows` only applies what the log says was sent or rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runtime.conversation.appendlist import AppendList
from runtime.conversation.messages import Usage
from runtime.conversation.segments import CachePoint, Prediction, Segment


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request of a lane: the hashes of its window in order, and where the cache points stood."""

    call: int
    at: datetime
    window: tuple[str, ...]
    cache_points: tuple[CachePoint, ...] = ()
    predicted: Prediction | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class AgentWindow:
    """The segments an agent's requests have sent, in order, byte for byte; shared by the agent's lanes."""

    segments: AppendList[Segment] = field(default_factory=AppendList)
    upto: int = 0
    """`seq` of the last entry that has become a segment."""
    state_base: Mapping[str, Any] | None = None
    """The whole state as the model knows it after the last state frame; None before the first."""
    state_number: int = 0
    """Number of the last state frame, counted from 1, empty P-frames included."""
    since_full: int = 0
    """P-frames since the last I-frame, empty ones included."""
    replaced: Mapping[str, Segment] = field(default_factory=dict)
    """Replaced segment id -> the segment that stands for it."""


@dataclass(frozen=True, slots=True)
class Windows:
    """All agents' windows and all lanes' requests. The root agent's key is the empty string."""

    agents: Mapping[str, AgentWindow] = field(default_factory=dict)
    lanes: Mapping[str, AppendList[SentRequest]] = field(default_factory=dict)
    texts: Mapping[str, Segment] = field(default_factory=dict)
    """Every segment ever sent or replaced, by hash."""
