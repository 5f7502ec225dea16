"""The seven kinds of condition a transition can have; a union told apart by `type`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from runtime.playbook.base import DocumentPart, Milliseconds, Real, ToolName, Whole


class KeywordCondition(DocumentPart):
    """True when one of the keywords occurs in the text; case-folded, at Unicode word boundaries."""

    type: Literal["keyword"] = "keyword"
    keywords: tuple[str, ...] = ()
    match: Literal["word", "substring", "regex"] = "word"
    source: Literal["assistant", "user", "any"] = "assistant"


class ToolCallCondition(DocumentPart):
    """True when that tool was called in this turn, with that outcome."""

    type: Literal["tool_call"] = "tool_call"
    tool_name: ToolName
    outcome: Literal["any", "success", "error"] = "any"
    where: str | None = None
    """CEL over `arguments` and `result`; absent means always true."""


class IntentCondition(DocumentPart):
    """True when the classifier gives the user's message that intent with at least that confidence."""

    type: Literal["intent"] = "intent"
    intent: str
    confidence: Real = Field(default=0.6, ge=0, le=1)
    examples: tuple[str, ...] = ()
    description: str | None = None


class LLMDecisionCondition(DocumentPart):
    """True when the model called `playbook_transition` with this transition's target."""

    type: Literal["llm_decision"] = "llm_decision"
    description: str | None = None


class MaxTurnsCondition(DocumentPart):
    """True when at least `count` turns were completed in the stage."""

    type: Literal["max_turns"] = "max_turns"
    count: Whole = Field(ge=1)


class TimeoutCondition(DocumentPart):
    """True when the time has passed, whether or not anybody types."""

    type: Literal["timeout"] = "timeout"
    duration_ms: Milliseconds = Field(ge=1)
    since: Literal["stage_entered", "last_activity"] = "stage_entered"


class CustomCondition(DocumentPart):
    """True when the CEL expression is true."""

    type: Literal["custom"] = "custom"
    expression: str = ""
    when: Literal["after", "before"] = "after"


Condition = Annotated[
    KeywordCondition
    | ToolCallCondition
    | IntentCondition
    | LLMDecisionCondition
    | MaxTurnsCondition
    | TimeoutCondition
    | CustomCondition,
    Field(discriminator="type"),
]
