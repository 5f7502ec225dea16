"""Talk: what the user, the model and the tools say, in no provider's own form."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from runtime.conversation.base import Value

StopReason = str
"""`end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `refusal`, `pause_turn`, `context_window_exceeded`,
or a provider's own word, passed on as it is."""


class ToolCall(Value):
    """A call the model asks for. `arguments` is None where the raw text did not parse: never execute it."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None = None
    raw: str | None = None
    """The argument text as it came, kept only where it did not parse."""
    recovered: bool = False
    """The model wrote the call as text, or as a choice that a schema constrained, instead of calling."""


class ReplayBlock(Value):
    """A block that the provider wants back verbatim (thinking, reasoning items) and nobody else may read."""

    provider: str
    position: int = 0
    """Index among the blocks of its message: thinking comes before text, text before calls."""
    text: str = ""
    """What a person may read of it; may be empty."""
    block: dict[str, Any] = Field(default_factory=dict)


class AssistantMessage(Value):
    """One message of the model: text, tool calls, and what must be sent back unread."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    replay: tuple[ReplayBlock, ...] = ()
    stop: StopReason | None = None


class ToolMessage(Value):
    """The one result of a tool call."""

    call_id: str
    tool_name: str
    success: bool
    result: Any = None
    error: str | None = None
    duration_ms: int = 0


class Usage(Value):
    """Tokens of one call in disjoint parts: total input = fresh + write5m + write1h + read."""

    fresh: int = 0
    write5m: int = 0
    write1h: int = 0
    read: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.fresh + self.write5m + self.write1h + self.read

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            fresh=self.fresh + other.fresh,
            write5m=self.write5m + other.write5m,
            write1h=self.write1h + other.write1h,
            read=self.read + other.read,
            output=self.output + other.output,
        )


Role = Literal["user", "assistant", "system"]
