"""SessionState: what a session is at one point of its log. A fold over the events, never changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from runtime.conversation.appendlist import AppendList
from runtime.conversation.events import Event
from runtime.conversation.messages import ToolCall
from runtime.conversation.windows import Windows


@dataclass(frozen=True, slots=True)
class Frame:
    """One visit to a stage on the call stack; the last of `SessionState.frames` is the current one."""

    id: str
    depth: int
    stage: str
    visit: int
    entered_at: datetime
    entered_seq: int
    prompt: str
    """The stage's prompt with placeholders filled at entry."""
    data: Mapping[str, Any] = field(default_factory=dict)
    turn_count: int = 0
    last_activity: datetime | None = None
    caller: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact as the state knows it: its text is elsewhere, by hash."""

    name: str
    summary: str
    kind: str
    length: int
    hash: str
    loaded_in: str | None = None


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """The turn in progress. Fields used by the engine alone are the engine's to add."""

    number: int
    cause: str
    started_at: datetime
    started_seq: int
    phase: Literal[0, 1, 2] = 0
    phase1_started_at: datetime | None = None
    call: int | None = None
    """Number of the LLM call in flight."""
    pending: tuple[ToolCall, ...] = ()
    """Tool calls that have no result yet."""
    tool_calls: int = 0
    transitions: int = 0


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything a session is: a pure function of its log."""

    session: str
    seq: int = 0
    status: Literal["new", "idle", "running", "complete"] = "new"
    turn: int = 0
    """Number of the last turn that started."""
    calls: int = 0
    """Number of the last LLM call that started."""
    visits: int = 0
    frames: tuple[Frame, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    artifacts: Mapping[str, ArtifactRef] = field(default_factory=dict)
    entries: AppendList[Event] = field(default_factory=AppendList)
    """The events that windows are made of: user_message, llm_call_completed, tool_call_complete,
    stage_entered, frame_pushed, frame_popped, transition_triggered (for clearHistory), turn_interrupted,
    artifact_*, state_changed is not among them: state frames compare values."""
    running: RunningTurn | None = None
    windows: Windows = field(default_factory=Windows)
    using_model: str | None = None
    using_layout: Literal["append", "swap"] | None = None

    @property
    def frame(self) -> Frame | None:
        """The current frame, or None before the session started."""
        return self.frames[-1] if self.frames else None
