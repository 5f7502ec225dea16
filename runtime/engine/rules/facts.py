"""What a rule may look at, and what it answers. One module per condition kind judges over these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, get_args

from runtime.conversation.artifacts import text_of
from runtime.conversation.state import CallRecord
from runtime.engine.intents import Classification

Moment = Literal["before", "phase1", "after", "timer"]
"""When rules are looked at: before the reply, after the tool loop, after the reply, in the user's silence."""
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

SEEN_LENGTH = 300
"""Characters of a text that a verdict repeats."""


class Facts(NamedTuple):
    """The inputs of every rule at one moment."""

    moment: Moment
    user_text: str
    reply: str
    calls: tuple[CallRecord, ...]
    """Tool calls of this turn that no transition was made from yet."""
    turn_count: int
    since_entered_ms: int
    """Milliseconds this visit has waited for the user."""
    since_activity_ms: int | None
    """Milliseconds since the last turn of this visit ended; None before the first."""
    roots: Callable[[], dict[str, Any]]
    classification: Classification | None = None
    """What the classifier said of the user's message; None where none was asked."""


class Verdict(NamedTuple):
    """Whether a rule holds, what it saw, and why, in words."""

    holds: bool
    seen: Any = None
    reason: str = ""


def seen_value(value: Any) -> Any:
    """A value as a verdict repeats it: the beginning of its text where it is long."""
    text = text_of(value)
    return value if len(text) <= SEEN_LENGTH else excerpt(text)


def excerpt(text: str) -> str:
    """The beginning of a text, as a verdict repeats it."""
    return text if len(text) <= SEEN_LENGTH else text[:SEEN_LENGTH] + "…"
