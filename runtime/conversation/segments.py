"""Segments: the pieces that a context window is made of, and the cache points between them (context.md)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from runtime.conversation.base import Value
from runtime.conversation.messages import Role

SegmentKind = Literal[
    "tools",
    "base",
    "stage",
    "state",
    "dialogue",
    "thinking",
    "tool_call",
    "tool_result",
    "summary",
    "artifact",
    "injected",
    "tail",
]


class Replaced(Value):
    """What a segment stands for, when it stands for something longer."""

    what: str
    tokens: int
    rule: str
    """One of the rules of `window_rewritten`, e.g. `return`, `pays`, `must`."""
    segments: tuple[str, ...] = ()
    """Ids of the segments it replaced; their texts stay in the log."""


class Segment(Value):
    """One piece of a window, fixed byte for byte once it was sent."""

    id: str
    """Stable: the same piece has the same id in every window it stands in."""
    kind: SegmentKind
    role: Role
    text: str
    """What the model reads; for `tools`, `tool_call` and `tool_result` the canonical JSON of it."""
    tokens: int
    counted: str = "estimate"
    """How `tokens` was counted: `estimate`, `o200k`, `calibrated`, `exact`."""
    hash: str
    """Hex digest of kind, role, text and meta; the key under which the text is stored."""
    sources: tuple[int, ...] = ()
    """The `seq`s of the events it comes from."""
    frame: str | None = None
    stage: str | None = None
    label: str = ""
    """A few words for a person: stage name, tool name, variable names."""
    meta: dict[str, Any] = Field(default_factory=dict)
    """What the adapter needs beside the text: `callId`, `toolName`, `success`, `arguments`, replay block."""
    replaced: Replaced | None = None


class CachePoint(Value):
    """A place where the provider is asked to cache the prefix up to and including that segment."""

    segment: str
    ttl: Literal["5m", "1h"]
    number: int = 1
    """1-based, in window order: what the inspector prints on the pin."""
    reason: str = ""
    """In words: `base`, `frame start`, `previous tail`, `tail`."""


class Prediction(Value):
    """What the cache model expects to be billed, in tokens."""

    read: int = 0
    write5m: int = 0
    write1h: int = 0
    fresh: int = 0
