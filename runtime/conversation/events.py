"""The events of a session's log: names and payloads (engine.md, "Events").

The log is the only truth: append-only, `seq` gapless from 1. State is a fold over it. `text_delta` is not an
event: it passes by on the socket and is not stored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from runtime.conversation.call_events import (
    LLMCallCompleted,
    LLMCallFailed,
    LLMCallRetry,
    LLMCallStarted,
    TextWithdrawn,
)
from runtime.conversation.event_base import EventBase
from runtime.conversation.messages import ToolCall, ToolMessage, Usage
from runtime.conversation.window_events import (
    CachePlanned,
    CompactionPlanned,
    SummaryWritten,
    WindowRewritten,
)
from runtime.playbook import StageContextPolicy


class SessionStarted(EventBase):
    """The session begins: its playbook, its variables' defaults, and the data it was started with."""

    type: Literal["session_started"] = "session_started"
    playbook: str
    playbook_digest: str = ""
    variables: dict[str, Any] = Field(default_factory=dict)
    data: dict[str, Any] | None = None
    agents: tuple[str, ...] = ()
    """Who takes part from the beginning: the playbook, by its name, and the human."""


class UserMessageEvent(EventBase):
    """What the user said, or (`injected`) what a transition put into the conversation in the user's role."""

    type: Literal["user_message"] = "user_message"
    text: str
    client_id: str | None = None
    injected: bool = False


class TurnStarted(EventBase):
    """A turn begins, and why: a message, or a stage that speaks by itself."""

    type: Literal["turn_started"] = "turn_started"
    cause: Literal["message", "start", "speak_on_enter", "timer", "retry", "raw"] = "message"
    stage: str


class Phase1Start(EventBase):
    """The stage may call tools; nothing that the model says is shown yet."""

    type: Literal["phase1_start"] = "phase1_start"
    stage: str


class Phase1Complete(EventBase):
    """No more tools are called in this phase, and why."""

    type: Literal["phase1_complete"] = "phase1_complete"
    stage: str
    tool_calls: int = 0
    reason: Literal["text", "transition", "limit", "timeout", "stopped"] = "text"


class Phase2Start(EventBase):
    """From here on text is shown."""

    type: Literal["phase2_start"] = "phase2_start"
    stage: str


class Phase2Complete(EventBase):
    """The reply as it was shown."""

    type: Literal["phase2_complete"] = "phase2_complete"
    stage: str
    text: str


class ToolCallStart(EventBase):
    """A tool is run. Of a call that was refused there is only the result."""

    type: Literal["tool_call_start"] = "tool_call_start"
    call_id: str
    name: str
    arguments: dict[str, Any] | None = None


class ToolCallComplete(EventBase):
    """The one result of a tool call; `error` is what the model is told instead of a result."""

    type: Literal["tool_call_complete"] = "tool_call_complete"
    call_id: str
    tool_name: str
    success: bool
    result: Any = None
    error: str | None = None
    duration_ms: int = 0
    artifact: str | None = None
    """Name of the artifact that the result became, because it is long; `result` only refers to it then."""

    def message(self) -> ToolMessage:
        """The result as a message."""
        return ToolMessage(**{name: getattr(self, name) for name in ToolMessage.model_fields})


class IntentClassified(EventBase):
    """What the user's message was taken for, before the stage's intent rules were looked at."""

    type: Literal["intent_classified"] = "intent_classified"
    intent: str | None = None
    """The likeliest intent; None if nothing speaks for any."""
    confidence: float = 0.0
    """Estimated probability, 0 to 1, that this is what the user wants."""
    classifier: str
    """`keyword`, `embedding`, `llm`."""
    scores: dict[str, float] = Field(default_factory=dict)
    error: str | None = None
    """Why there is no answer: no rule fires on it, and the turn goes on."""


class TransitionEvaluated(EventBase):
    """One rule that was looked at: the answer to "why did it not fire?"."""

    type: Literal["transition_evaluated"] = "transition_evaluated"
    transition: str
    verdict: bool
    seen: Any = None
    """The value the rule saw: text matched against, count, tools called."""
    reason: str = ""


class TransitionTriggered(EventBase):
    """The conversation moves on; its actions and the entry follow."""

    type: Literal["transition_triggered"] = "transition_triggered"
    transition: str | None = None
    """None for a move that no rule made (a frame that ends at its limit)."""
    from_stage: str
    to_stage: str | None = None
    mode: Literal["goto", "call", "return"] = "goto"
    reason: str = ""
    data: dict[str, Any] | None = None
    clear_history: bool = False
    summary: str | None = None
    """What the model says was done, with a `return` it asked for."""


class TransitionRefused(EventBase):
    """A rule fired, or the model asked, and it was not done, for this reason."""

    type: Literal["transition_refused"] = "transition_refused"
    transition: str | None = None
    target_stage: str | None = None
    reason: str


class ToolChoiceUnmet(EventBase):
    """A stage that demands a tool call got none, asked twice."""

    type: Literal["tool_choice_unmet"] = "tool_choice_unmet"
    stage: str
    tool_choice: Any


class StageExited(EventBase):
    """A visit ends, after its `onExit`."""

    type: Literal["stage_exited"] = "stage_exited"
    stage: str
    frame: str


class StageEntered(EventBase):
    """A visit begins: the stage's prompt with its placeholders filled, once, for this visit."""

    type: Literal["stage_entered"] = "stage_entered"
    stage: str
    frame: str
    visit: int
    """Number of the visit in the session, from 1."""
    prompt: str
    data: dict[str, Any] | None = None
    descriptions: dict[str, str] = Field(default_factory=dict)
    """Of the targets that the model may name, where they had placeholders: filled, once, for this visit."""
    unresolved: tuple[str, ...] = ()
    """Placeholders that were left as they stand."""


class FramePushed(EventBase):
    """A stage is called: a frame on top of its caller's."""

    type: Literal["frame_pushed"] = "frame_pushed"
    frame: str
    depth: int
    caller: str
    stage: str
    agent: str | None = None
    """Whose frame it is, as `Name(agent N)`; None: the session's own playbook. A call of an agent is a frame
    of another one than its caller's."""
    playbook: str | None = None
    """Id of the agent's document."""
    variables: dict[str, Any] | None = None
    """What the agent's variables begin as, where the frame is the agent's first."""


class FramePopped(EventBase):
    """A called frame ends; its value is merged into the caller's data."""

    type: Literal["frame_popped"] = "frame_popped"
    frame: str
    stage: str
    value: Any = None
    """What the caller gets. Of an agent that failed: `{"error": a sentence}`."""
    summary: str | None = None
    reason: str = "return"
    """`return`, `failed`, or the limit or end that it came to."""


class StateChanged(EventBase):
    """Variables were set or deleted, by `cause`."""

    type: Literal["state_changed"] = "state_changed"
    set: dict[str, Any] = Field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    cause: str = ""
    """`tool:NAME`, `on_enter`, `on_exit`, `user`, `return`."""


class ArtifactSaved(EventBase):
    """A value is kept under a name, `length` code points as text; one of that name before is replaced."""

    type: Literal["artifact_saved"] = "artifact_saved"
    name: str
    summary: str
    kind: str = "text"
    """`text`, `list`, `object`, `number` or `boolean`."""
    length: int = 0
    hash: str = ""
    content: Any = None
    """The value itself. A database keeps it apart, by hash, and clients are not sent it."""


class ArtifactLoaded(EventBase):
    """An artifact's text comes into the window of a frame: without `length` all of it, or head and tail."""

    type: Literal["artifact_loaded"] = "artifact_loaded"
    name: str
    frame: str
    offset: int = 0
    length: int | None = None


class ArtifactUnloaded(EventBase):
    """An artifact's text leaves the window of a frame."""

    type: Literal["artifact_unloaded"] = "artifact_unloaded"
    name: str
    frame: str


class TurnComplete(EventBase):
    """The turn is over: what it showed, used and cost."""

    type: Literal["turn_complete"] = "turn_complete"
    stage: str
    text: str = ""
    usage: Usage | None = None
    cost: float | None = None


class TurnInterrupted(EventBase):
    """The turn was ended before its time; `shown_text` is that of the call that was cut off."""

    type: Literal["turn_interrupted"] = "turn_interrupted"
    stage: str
    shown_text: str = ""
    reason: Literal["stop", "interrupt", "process_died", "timeout"] = "stop"


class TurnFailed(EventBase):
    """The turn ended without a reply."""

    type: Literal["turn_failed"] = "turn_failed"
    stage: str
    code: str
    message: str
    """A sentence for the person; never a provider's raw error body."""
    retryable: bool = True


class ApprovalRequested(EventBase):
    """A tool call waits for a person's word."""

    type: Literal["approval_requested"] = "approval_requested"
    call_id: str
    name: str
    arguments: dict[str, Any] | None = None


class ApprovalAnswered(EventBase):
    """A person allowed a tool call, or did not."""

    type: Literal["approval_answered"] = "approval_answered"
    call_id: str
    approved: bool
    reason: str | None = None


class SessionUsing(EventBase):
    """From here on the session uses another model (empty: the playbook's), layout or policy."""

    type: Literal["session_using"] = "session_using"
    model: str | None = None
    layout: Literal["append", "swap"] | None = None
    policy: StageContextPolicy | None = None


class SessionComplete(EventBase):
    """The session is over and takes no more messages."""

    type: Literal["session_complete"] = "session_complete"
    stage: str
    value: Any = None
    reason: str = "end_stage"


Event = Annotated[
    SessionStarted
    | UserMessageEvent
    | TurnStarted
    | Phase1Start
    | Phase1Complete
    | Phase2Start
    | Phase2Complete
    | ToolCallStart
    | ToolCallComplete
    | LLMCallStarted
    | LLMCallRetry
    | LLMCallCompleted
    | LLMCallFailed
    | TextWithdrawn
    | IntentClassified
    | TransitionEvaluated
    | TransitionTriggered
    | TransitionRefused
    | ToolChoiceUnmet
    | StageExited
    | StageEntered
    | FramePushed
    | FramePopped
    | StateChanged
    | ArtifactSaved
    | ArtifactLoaded
    | ArtifactUnloaded
    | CompactionPlanned
    | WindowRewritten
    | SummaryWritten
    | CachePlanned
    | TurnComplete
    | TurnInterrupted
    | TurnFailed
    | ApprovalRequested
    | ApprovalAnswered
    | SessionUsing
    | SessionComplete,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads any event from its stored form; an unknown type or field is a validation error."""

__all__ = [
    "EVENT",
    "CachePlanned",
    "CompactionPlanned",
    "Event",
    "EventBase",
    "LLMCallCompleted",
    "LLMCallFailed",
    "LLMCallRetry",
    "LLMCallStarted",
    "SummaryWritten",
    "TextWithdrawn",
    "ToolCall",
    "WindowRewritten",
]
