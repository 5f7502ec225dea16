"""The events about calls of models: what was asked, what came, what went wrong."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from runtime.conversation.event_base import EventBase
from runtime.conversation.messages import AssistantMessage, Usage
from runtime.conversation.segments import CachePoint, Prediction, Segment
from runtime.conversation.window_events import Setting


class LLMCallStarted(EventBase):
    """One request to a model. `added` is what this request appends to the segments already sent."""

    type: Literal["llm_call_started"] = "llm_call_started"
    call: int
    """Number of the call in the session, from 1."""
    lane: str
    phase: Literal[0, 1, 2] = 1
    """0: not a part of a turn's two phases (classifier, summary)."""
    stage: str
    frame: str | None = None
    provider: str
    connection: str = ""
    """The operator's name for where the request went; empty: it has none."""
    model: str
    layout: Literal["append", "swap"] = "append"
    attempt: int = 1
    added: tuple[Segment, ...] = ()
    window_of: int | None = None
    """The call of the same lane whose window this one begins like; None: it begins like none."""
    window_shared: int = 0
    """How many segments of that window it begins with."""
    window_rest: tuple[str, ...] = ()
    """Ids of the segments behind those, in order. A log that named whole windows would grow with the square
    of the conversation."""
    cache_points: tuple[CachePoint, ...] = ()
    predicted: Prediction | None = None
    empty_state: bool = False
    """True: nothing in the state changed; counts as an empty P-frame."""
    tool_choice: Any = "auto"
    settings: dict[str, Any] = Field(default_factory=dict)
    policy: dict[str, Setting] = Field(default_factory=dict)
    """What the session, the stage or the playbook set of the context policy; the rest are defaults."""
    left_out: tuple[str, ...] = ()
    """Settings that this model refuses and that were therefore not sent."""
    request_digest: str = ""
    request: dict[str, Any] | None = None
    """The body as rendered; only with `options.debug`."""


class LLMCallRetry(EventBase):
    """A try failed and another one follows after the wait."""

    type: Literal["llm_call_retry"] = "llm_call_retry"
    call: int
    attempt: int
    error: str
    status: int | None = None
    wait_ms: int = 0


class LLMCallCompleted(EventBase):
    """The model's whole message, and what it cost."""

    type: Literal["llm_call_completed"] = "llm_call_completed"
    call: int
    message: AssistantMessage
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; None is "unknown", never free."""
    first_token_ms: int | None = None
    duration_ms: int = 0


class LLMCallFailed(EventBase):
    """A call gave no message, or was cut off (`cancelled`, `superseded`, `phase1_timeout`)."""

    type: Literal["llm_call_failed"] = "llm_call_failed"
    call: int
    error: str
    code: str = "error"
    status: int | None = None
    retryable: bool = False
    shown_text: str = ""
    usage: Usage | None = None
    """Of a call that was cut off or refused: its input as the provider said, its output as counted from what
    came."""
    cost: float | None = None
    """US dollars of that usage; None is unknown."""


class TextWithdrawn(EventBase):
    """Text that a failed try had shown is taken back; the next try starts clean."""

    type: Literal["text_withdrawn"] = "text_withdrawn"
    call: int
    text: str
