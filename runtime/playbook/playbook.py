"""The document itself: Playbook, Stage, Transition and their settings (format version 1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from runtime.playbook.base import (
    LARGEST,
    DocumentPart,
    Flag,
    Integer,
    JsonObject,
    Milliseconds,
    PlaybookId,
    Real,
    StageId,
    ToolName,
    Whole,
)
from runtime.playbook.conditions import Condition
from runtime.playbook.policy import ContextPolicy, StageContextPolicy
from runtime.playbook.tools import ToolDefinition

IntentClassifier = Literal["auto", "keyword", "embedding", "llm"]
"""Who tells intents apart. `auto`: the embedding where its packages are installed, else the keywords."""


class LLMConfig(DocumentPart):
    """Which model, and how it is asked. What a model refuses is left out of its request."""

    provider: str | None = None
    model: str | None = None
    temperature: Real | None = Field(default=None, ge=0, le=2)
    max_tokens: Whole | None = Field(default=None, ge=1)
    top_p: Real | None = Field(default=None, ge=0, le=1)
    effort: str | None = None
    stop_sequences: tuple[str, ...] | None = None


class NamedToolChoice(DocumentPart):
    """The one tool that the stage's first request must call."""

    name: ToolName


ToolChoice = Literal["auto", "none", "required"] | NamedToolChoice


class SetAction(DocumentPart):
    """Sets variables to the values of CEL expressions, in document order."""

    set: dict[str, str]


class CallAction(DocumentPart):
    """Calls a tool; string arguments may be `$name` references."""

    call: ToolName
    arguments: JsonObject = Field(default_factory=dict)


StageAction = SetAction | CallAction


class Stage(DocumentPart):
    """A named state of the conversation with its own prompt, tools and model settings."""

    id: StageId
    name: str
    system_prompt: str
    description: str | None = None
    kind: Literal["chat", "raw", "end"] = "chat"
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = "auto"
    llm_config: LLMConfig | None = Field(default=None, alias="llmConfig")
    two_phase_execution: Flag = True
    max_turns: Whole | None = Field(default=None, ge=1)
    timeout_ms: Milliseconds | None = Field(default=None, ge=1)
    speak_on_enter: Flag = False
    context: StageContextPolicy | None = None
    on_enter: tuple[StageAction, ...] = ()
    on_exit: tuple[StageAction, ...] = ()
    metadata: JsonObject | None = None


class TransitionAction(DocumentPart):
    """Where a transition leads and what it does on the way. `return` has no target."""

    target_stage: str | None = None
    mode: Literal["goto", "call", "return"] = "goto"
    transition_message: str | None = None
    clear_history: Flag = False
    data: JsonObject | None = None


class Transition(DocumentPart):
    """A rule that moves the conversation from one stage (or any, `*`) to another."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    from_stage: str = Field(alias="from", min_length=1)
    condition: Condition
    action: TransitionAction
    priority: Whole = Field(default=0, ge=-LARGEST)
    """Higher first; equal ones in document order."""
    description: str | None = None
    disabled: Flag = False
    metadata: JsonObject | None = None


class Options(DocumentPart):
    """Limits of a run; times in milliseconds."""

    max_tool_calls_per_turn: Whole = Field(default=10, ge=0)
    phase1_timeout_ms: Milliseconds = Field(default=60_000, ge=1)
    turn_timeout_ms: Milliseconds = Field(default=300_000, ge=1)
    llm_retries: Integer = Field(default=3, ge=0, le=10)
    history_limit: Whole | None = Field(default=None, ge=1)
    """Messages kept in the `swap` layout (50 when absent); `append` is bounded by tokens instead."""
    reply_hold: Whole | None = Field(default=160, ge=0)
    """Characters of a Phase 1 text held back before it streams; None holds all of it."""
    max_transitions_per_turn: Whole = Field(default=5, ge=1)
    max_call_depth: Whole = Field(default=8, ge=1)
    intent_classifier: IntentClassifier = "auto"
    debug: Flag = False


class Variable(DocumentPart):
    """A declared variable of the session."""

    name: Annotated[str, Field(max_length=200)]
    schema_: JsonObject | None = Field(default=None, alias="schema")
    default: Any = None
    description: str | None = None


class Agent(DocumentPart):
    """Another playbook that this one may call as `agent:NAME`."""

    name: Annotated[str, Field(max_length=64)]
    playbook: PlaybookId
    description: str | None = None


class Playbook(DocumentPart):
    """Stages, transitions, tools and prompts: one JSON document."""

    format_version: Literal[1] = 1
    id: PlaybookId
    name: str
    description: str | None = None
    version: str | None = None
    stages: tuple[Stage, ...] = Field(min_length=1)
    transitions: tuple[Transition, ...] = ()
    initial_stage: StageId
    global_tools: tuple[ToolDefinition, ...] = ()
    global_system_prompt: str | None = None
    default_llm_config: LLMConfig | None = Field(default=None, alias="defaultLLMConfig")
    options: Options = Field(default_factory=Options)
    context: ContextPolicy = Field(default_factory=ContextPolicy)
    variables: tuple[Variable, ...] = ()
    agents: tuple[Agent, ...] = ()
    metadata: JsonObject | None = None

    def stage(self, stage_id: str) -> Stage | None:
        """The stage with that id, or None."""
        return next((stage for stage in self.stages if stage.id == stage_id), None)
