"""What the engine wants done: the outputs of `step`. Plain values; the runner does them and feeds back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from runtime.conversation.messages import ToolCall
from runtime.engine.intents import Intent
from runtime.playbook import IntentClassifier, LLMConfig, ToolChoice, ToolDefinition


class CallModel(NamedTuple):
    """Ask the model for one message."""

    call: int
    """Number of the call in the session."""
    stage: str
    frame: str
    phase: Literal[1, 2]
    config: LLMConfig
    tool_choice: ToolChoice = "auto"
    tail: str | None = None
    """The line that says the same as `tool_choice`, for models where giving the choice would lose the cache;
    None: the choice has to be given as it is."""
    hold: int | None = 0
    """Characters of text to hold back before `ReplyBegan`; 0 shows it as it comes, None holds all of it."""
    agent: str | None = None
    raw: bool = False
    """True: a raw stage; its prompt is the whole request."""


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run one tool call and feed back its result. `roots` are the names its expressions may use."""

    call: ToolCall
    tool: ToolDefinition
    roots: Mapping[str, Any] = field(default_factory=dict)


class ClassifyIntent(NamedTuple):
    """Tell which of the intents the user's message has, and feed back `IntentsClassified` for this turn."""

    turn: int
    text: str
    intents: tuple[Intent, ...]
    classifier: IntentClassifier
    stage: str
    frame: str
    config: LLMConfig
    """The stage's model, for a classifier that asks one."""


@dataclass(frozen=True, slots=True)
class CancelModel:
    """The call in flight, or the classifying, is no longer wanted; it is to be stopped at once."""


@dataclass(frozen=True, slots=True)
class CancelTools:
    """These calls have their results already; what still runs for them is to be cancelled."""

    call_ids: tuple[str, ...]


class WakeAt(NamedTuple):
    """`Tick` is wanted at this time, unless something happens before."""

    at: datetime


Effect = CallModel | ClassifyIntent | RunTool | CancelModel | CancelTools | WakeAt
