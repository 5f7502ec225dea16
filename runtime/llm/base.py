"""The LLM protocol: one method that streams one reply. What every adapter takes, gives and raises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from runtime.context.window import ContextWindow
from runtime.conversation.messages import AssistantMessage, Usage
from runtime.conversation.segments import CachePoint
from runtime.conversation.window_fold import WINDOW_FULL
from runtime.playbook import LLMConfig, ToolChoice


@dataclass(frozen=True, slots=True)
class LLMRequest:
    """One call: the window, where to cache, and how to ask. Adapters render it by a pure mapping."""

    session: str
    call: int
    model: str
    window: ContextWindow
    cache_points: tuple[CachePoint, ...] = ()
    config: LLMConfig = field(default_factory=LLMConfig)
    tool_choice: ToolChoice = "auto"
    stage_metadata: dict[str, Any] = field(default_factory=dict)
    """The stage's `metadata`, read by the rehearsal model only (its lines)."""
    deadline_s: float = 300.0


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class UsageSoFar:
    """What the call has used up to here, if the provider says so before the end: its input, above all. It is
    what is known of a call that is cut off. A later one replaces it."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class MessageComplete:
    """The whole message; always the last event of a stream."""

    message: AssistantMessage
    usage: Usage | None = None


LLMEvent = TextDelta | UsageSoFar | MessageComplete


class LLM(Protocol):
    """A model behind one connection."""

    provider: str

    def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        """Stream one reply. Raises LLMError; closing the iterator closes the provider's stream at once."""
        ...

    def render(self, request: LLMRequest) -> dict[str, Any]:
        """The request body as it goes over the wire; pure, no secrets."""
        ...

    def left_out(self, request: LLMRequest) -> tuple[str, ...]:
        """Settings that this model refuses and that `render` leaves out."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class LLMError(Exception):
    """A call that gave no message. `message` is a sentence for a person, without keys or raw bodies."""

    retryable = False
    code = "llm_error"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after
        if retryable is not None:
            self.retryable = retryable


class RateLimited(LLMError):
    """429 with room to wait; a spent quota is `QuotaSpent`."""

    retryable = True
    code = "rate_limited"


class QuotaSpent(LLMError):
    """The account has no credit left."""

    code = "quota_spent"


class Overloaded(LLMError):
    """5xx, 529, or an overload reported inside a stream."""

    retryable = True
    code = "overloaded"


class ConnectionLost(LLMError):
    """The connection failed, timed out, or ended before the final event."""

    retryable = True
    code = "connection_lost"


class BadRequest(LLMError):
    """The provider says that the request is wrong (400, 404, 413)."""

    code = "bad_request"


class NotAllowed(LLMError):
    """401 or 403: no key, a wrong one, or no right to this model."""

    code = "not_allowed"


class ContextTooLong(BadRequest):
    """The window does not fit the model."""

    code = "context_too_long"


class WindowFull(LLMError):
    """What must be sent passes the budget, or the model's limit; nothing was sent."""

    code = WINDOW_FULL

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"This does not fit: the model would have to read about {tokens:,} tokens, and at most "
            f"{limit:,} are allowed here. A shorter message may fit."
        )


class Refused(LLMError):
    """The model refused to answer."""

    code = "refused"
