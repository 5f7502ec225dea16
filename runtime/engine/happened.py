"""What can happen to a session: the inputs of `step`. Plain values, whoever made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from runtime.conversation.messages import AssistantMessage, ToolMessage, Usage
from runtime.engine.intents import Classification
from runtime.playbook import StageContextPolicy


@dataclass(frozen=True, slots=True)
class Start:
    """The session begins. `digest` identifies the document that is run."""

    data: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The user said something. A `client_id` that was seen before is ignored."""

    text: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class IntentsClassified:
    """The message of turn `turn` was classified, or the classifier failed."""

    turn: int
    classification: Classification


@dataclass(frozen=True, slots=True)
class ReplyBegan:
    """The text of call `call`, held so far, is long enough to be the reply: it is about to be shown. `usage`
    and `cost`: of the call up to here, if it is cut off now."""

    call: int
    usage: Usage | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model's whole message."""

    call: int
    message: AssistantMessage
    usage: Usage | None = None
    cost: float | None = None
    """US dollars; None where the price is not known."""
    first_token_ms: int | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The call gave no message and will not be tried again. `error` is a sentence for a person."""

    call: int
    error: str
    code: str = "llm_error"
    status: int | None = None
    retryable: bool = False
    usage: Usage | None = None
    """Of its last try, as far as the provider told: a refused answer is billed as well."""
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ToolReplied:
    """The one result of a tool call."""

    message: ToolMessage


@dataclass(frozen=True, slots=True)
class Stop:
    """The running turn is to end now. `shown_text`, `usage`, `cost`: what call `call`, in flight, has shown
    and used so far."""

    reason: Literal["stop", "interrupt", "process_died", "timeout"] = "stop"
    call: int | None = None
    shown_text: str = ""
    usage: Usage | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The failed turn is to be taken up again where it failed; finished tools are not run again."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: `now` may be past a deadline or a timer. The rest as in Stop."""

    call: int | None = None
    shown_text: str = ""
    usage: Usage | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class VariableSet:
    """A person changed a variable."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Use:
    """From here on another model, layout or policy; None leaves a setting as it is. An empty model: as the
    playbook says."""

    model: str | None = None
    layout: Literal["append", "swap"] | None = None
    policy: StageContextPolicy | None = None


Happened = (
    Start
    | UserMessage
    | IntentsClassified
    | ReplyBegan
    | ModelReplied
    | ModelFailed
    | ToolReplied
    | Stop
    | Retry
    | Tick
    | VariableSet
    | Use
)
