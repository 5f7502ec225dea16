"""The frames of the session socket: what a client may say and what it hears (docs/protocol.md).

Two unions told apart by `type`. Every event of the log is a server frame as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from runtime.conversation.base import Value
from runtime.conversation.events import Event
from runtime.inspector.calls import CallView
from runtime.playbook import StageContextPolicy


def _storable(value: Any) -> Any:
    """PostgreSQL takes U+0000 in no text, JSON's included; JSON has no infinite numbers, and few readers take
    a number of more than 300 digits."""
    if isinstance(value, str) and "\x00" in value:
        raise ValueError("the character U+0000 cannot be stored")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("an infinite number, or none at all, cannot be stored")
    if isinstance(value, int) and value.bit_length() > 1000:
        raise ValueError("a number of so many digits cannot be stored")
    for inner in _inside(value):
        _storable(inner)
    return value


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value.keys(), *value.values())
    return value if isinstance(value, list) else ()


def _storable_policy(policy: StageContextPolicy | None) -> StageContextPolicy | None:
    if policy is not None:
        _storable(policy.model_extra or {})
    return policy


ClientId = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=100)]


class Hello(Value):
    """Sent after each connect, and again after a gap: "I have everything up to `afterSeq`"."""

    type: Literal["hello"]
    after_seq: int = Field(default=0, ge=0)


class SendMessage(Value):
    """What the user says. The same `clientId` counts once, however often it is sent."""

    type: Literal["message"]
    client_id: ClientId
    text: Annotated[str, AfterValidator(_storable), Field(min_length=1)]
    interrupt: bool = False
    """True: stop the running turn first; false: wait for its end."""


class Stop(Value):
    """Stops the running turn; what was shown stays."""

    type: Literal["stop"]


class Retry(Value):
    """Takes the last turn up where it failed; only after a `turn_failed` that says `retryable`."""

    type: Literal["retry"]


class Fork(Value):
    """Starts a new session from an earlier turn of this one."""

    type: Literal["fork"]
    at_turn: int = Field(ge=0)


class SetVariable(Value):
    """Sets a variable of the session by hand."""

    type: Literal["set"]
    variable: Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=200)]
    value: Annotated[Any, AfterValidator(_storable)] = None


class Breakpoints(Value):
    """Where turns are to pause."""

    type: Literal["breakpoints"]
    stages: tuple[str, ...] = ()
    transitions: tuple[str, ...] = ()


class Resume(Value):
    """Goes on after a breakpoint."""

    type: Literal["resume"]


class ToolResult(Value):
    """The result of a tool that the client answers."""

    type: Literal["tool_result"]
    call_id: str
    result: Any = None
    error: str | None = None


class Approve(Value):
    """Answers a question for approval."""

    type: Literal["approve"]
    call_id: str
    approved: bool
    reason: str | None = None


class Use(Value):
    """From here on another model, layout or policy. `model`: `CONNECTION/MODEL`, a model, or `rehearsal`; the
    empty text means as the playbook says."""

    type: Literal["use"]
    model: Annotated[str | None, AfterValidator(_storable)] = Field(default=None, max_length=100)
    layout: Literal["append", "swap"] | None = None
    policy: Annotated[StageContextPolicy | None, AfterValidator(_storable_policy)] = None


class Ping(Value):
    """Answered by `pong`; tells the server that the client reads what it is sent."""

    type: Literal["ping"]


ClientFrame = Annotated[
    Hello
    | SendMessage
    | Stop
    | Retry
    | Fork
    | SetVariable
    | Breakpoints
    | Resume
    | ToolResult
    | Approve
    | Use
    | Ping,
    Field(discriminator="type"),
]


class TextDeltaFrame(Value):
    """A piece of the reply. Not stored: the whole text comes with `phase2_complete`."""

    type: Literal["text_delta"] = "text_delta"
    turn: int
    call: int
    offset: int
    """Code points of this call's shown reply before `text`."""
    text: str


class CallFrame(Value):
    """A call as it stands now: when it starts and when it ends."""

    type: Literal["call"] = "call"
    call: CallView


class RunningReply(Value):
    """The part of a reply that was shown so far."""

    turn: int
    call: int
    text: str


class Ready(Value):
    """The replay that answers `hello` is over; from here on it is live."""

    type: Literal["ready"] = "ready"
    last_seq: int
    status: Literal["new", "idle", "running", "complete"]
    running: RunningReply | None = None


class Presence(Value):
    """How many sockets look at this session."""

    type: Literal["presence"] = "presence"
    viewers: int


class ErrorFrame(Value):
    """Something could not be done; the socket stays. `retryable`: the same frame may work later."""

    type: Literal["error"] = "error"
    code: str
    message: str
    retryable: bool = False
    client_id: str | None = None
    """Of the `message` that this answers."""


class Pong(Value):
    """Answers `ping`."""

    type: Literal["pong"] = "pong"


ServerFrame = Annotated[
    Event | TextDeltaFrame | CallFrame | Ready | Presence | ErrorFrame | Pong, Field(discriminator="type")
]

CLIENT_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(ClientFrame)
"""Reads what a client sent; an unknown type or a missing field is a validation error."""

SERVER_FRAME: TypeAdapter[ServerFrame] = TypeAdapter(ServerFrame)
"""Reads or describes what the server sends."""
