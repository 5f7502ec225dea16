"""SessionState: what a session is at one point of its log. A fold over the events, never changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from runtime.conversation.artifacts import ArtifactRef
from runtime.conversation.messages import ToolCall, Usage
from runtime.conversation.windows import Windows
from runtime.playbook import StageContextPolicy

ACTION_CALL = "action:"
"""How the ids of the calls begin that `onEnter` and `onExit` make: no window shows them."""


@dataclass
class Frame:
    """One frame of the call stack with the visit it is in; the last of `SessionState.frames` is current.

    `id` stays when a `goto` moves the frame to another stage; `visit` changes.
    """

    id: str
    depth: int
    stage: str
    visit: int
    entered_at: datetime
    entered_seq: int
    prompt: str
    """The stage's prompt with placeholders filled at entry."""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    """Targets' descriptions that had placeholders, filled at entry."""
    data: Mapping[str, Any] = field(default_factory=dict)
    turn_count: int = 0
    """Turns completed in this visit: a user's message with an answer."""
    last_activity: datetime | None = None
    """End of the last turn of this visit."""
    caller: str | None = None
    agent: str | None = None
    """Whose frame it is, as `Name(agent N)`; None: the session's own playbook."""
    playbook: str | None = None
    """Id of the agent's document; None: the session's own."""
    callers_variables: Mapping[str, Any] | None = None
    """In an agent's first frame: the variables of who called it, which come back when it returns."""
    callers_artifacts: Mapping[str, ArtifactRef] | None = None
    """In an agent's first frame: the artifacts of who called it."""
    idle: timedelta = timedelta()
    """Time this visit waited for the user until `idle_since`; turns and called frames do not count."""
    idle_since: datetime | None = None
    """Since when it waits; None while a turn runs or another frame is on top."""
    refused_rules: tuple[str, ...] = ()
    """Rules that were refused in this visit: their timers do not fire again."""
    fired_rules: tuple[str, ...] = ()
    """Rules that a timer fired in this visit: what counts from its beginning falls due once."""


class CallRecord(NamedTuple):
    """A tool call of the running turn that has its result: what rules and expressions look at."""

    name: str
    arguments: Mapping[str, Any] | None
    ran: bool
    """False: refused before anything was run."""
    success: bool
    result: Any = None
    error: str | None = None


@dataclass
class RunningTurn:
    """The turn in progress."""

    number: int
    cause: str
    started_at: datetime
    started_seq: int
    phase: Literal[0, 1, 2] = 0
    phase1_started_at: datetime | None = None
    """When the turn's tool time began; it does not begin anew in the next stage of the same turn."""
    call: int | None = None
    """Number of the LLM call in flight."""
    pending: tuple[ToolCall, ...] = ()
    """Tool calls that have no result yet."""
    started: tuple[str, ...] = ()
    """Ids of the pending calls that were given to a tool."""
    tool_calls: int = 0
    """Calls of the author's tools that have a result, refused ones included; the limit counts them."""
    refused_moves: int = 0
    """Calls of the transition tool that got an error result."""
    transitions: int = 0
    """Transitions since the last user message."""
    user_text: str = ""
    records: tuple[CallRecord, ...] = ()
    spent: int = 0
    """How many of `records` stood before the last transition: no rule looks at them again."""
    requests: int = 0
    """Answers of the model in the current visit of this turn."""
    calls_here: int = 0
    """Tool calls the model asked for in the current visit of this turn."""
    closed_at: int | None = None
    """`requests` at the moment the tool loop was closed (limit, time, no text); None while it is open."""
    shown: tuple[str, ...] = ()
    """Texts that were shown, one per LLM call."""
    replied: bool = False
    """True once the reply is complete; what follows is "after"."""
    replied_stage: str = ""
    usage: Usage | None = None
    """Tokens of the turn's calls so far."""
    cost: float | None = 0.0
    """US dollars of the turn's calls so far; None once a price was not known."""


@dataclass
class Moving:
    """A transition that has been triggered and is being carried out; actions may have to be waited for."""

    transition: str | None
    mode: Literal["goto", "call", "return"]
    target: str | None
    then: Literal["reply", "after", "idle", "start"]
    """What follows: the target replies, the turn ends, or the session waits again."""
    data: Mapping[str, Any] = field(default_factory=dict)
    summary: str | None = None
    reason: str = ""
    step: Literal["exit", "enter"] = "exit"
    done: int = 0
    """Actions of this step that were carried out."""
    waiting: str | None = None
    """Id of the action's call that has no result yet."""
    waiting_since: datetime | None = None


@dataclass
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
    frames_opened: int = 0
    frames: tuple[Frame, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Those of the agent whose frame is the current one; each agent has its own."""
    agents: tuple[str, ...] = ()
    agents_called: int = 0
    artifacts: Mapping[str, ArtifactRef] = field(default_factory=dict)
    """Those of the agent whose frame is the current one, like the variables."""
    running: RunningTurn | None = None
    failed: RunningTurn | None = None
    """The last turn, if it failed, or was cut off before it showed anything, and can be retried."""
    moving: Moving | None = None
    chain: int = 0
    """Transitions since the last user message, kept for turns that follow without one."""
    client_ids: tuple[str, ...] = ()
    """The newest ids that clients gave to their messages; one sent again is ignored."""
    windows: Windows = field(default_factory=Windows)
    using_model: str | None = None
    using_layout: Literal["append", "swap"] | None = None
    using_policy: StageContextPolicy | None = None

    @property
    def frame(self) -> Frame | None:
        """The current frame, or None before the session started."""
        return self.frames[-1] if self.frames else None

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """The frames of the agent whose frame is the current one: what it and its model may know of."""
        frame = self.frame
        if frame is None or (frame.agent is None and self.agents_called == 0):
            return self.frames
        return tuple(other for other in self.frames if other.agent == frame.agent)
