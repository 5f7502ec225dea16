"""Every code that a check gives, with what it means; the table of `docs/validation.md` is written from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from builder.validation.diagnostics import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """What a code means, in a line; `mends`: some of its findings come with a repair of one click."""

    severity: Severity
    says: str
    mends: bool = False


CODES: Final[Mapping[str, Code]] = {
    # The document as a whole
    "newer-format": Code("error", "the document has a newer format than this studio reads"),
    "bad-playbook-id": Code("error", "the playbook's id is no file name and no part of an address"),
    "missing-name": Code("error", "a variable or an agent has no name"),
    "duplicate-id": Code("error", "two stages, transitions or tools of one stage have the same id"),
    "unknown-field": Code("warning", "a field the format does not know: kept, but it does nothing", True),
    # Where transitions come from and lead to
    "unknown-initial-stage": Code("error", "the stage to start in does not exist", True),
    "reserved-stage-id": Code(
        "error", "a stage is called `return`, `*` or `agent:…`, which mean something else"
    ),
    "blank-in-id": Code("error", "a stage's id begins or ends with a blank", True),
    "similar-id": Code("warning", "two stage ids differ only in case or blanks"),
    "unknown-stage": Code("error", "a transition starts at or leads to a stage that does not exist", True),
    "missing-target": Code("error", "a transition leads nowhere"),
    "unknown-agent": Code("error", "a transition calls an agent that the playbook does not list", True),
    "agent-not-called": Code("error", "a transition goes to an agent, which can only be called", True),
    "unused-agent": Code("warning", "no transition calls this agent", True),
    # The graph
    "unreachable-stage": Code("warning", "no path from the start leads to this stage", True),
    "dead-end": Code("warning", "nothing leads out of a stage that is not marked as an end", True),
    "no-way-to-end": Code("warning", "stages that lead only to one another: no path leads to an end"),
    "call-never-returns": Code("error", "a called stage can reach neither a return nor an end"),
    "automatic-cycle": Code("warning", "transitions that fire by themselves lead in a circle"),
    "max-turns-without-way-out": Code("warning", "`maxTurns` is set, and no transition is meant for it"),
    "timeout-without-way-out": Code("warning", "`timeoutMs` is set, and no transition is meant for it"),
    # Transitions that cannot do what they say
    "shadowed-transition": Code(
        "warning", "another transition comes first whenever this one would fire", True
    ),
    "covered-keyword": Code("warning", "a keyword contains another transition's, which comes first", True),
    "limit-comes-first": Code("warning", "the stage's own limit is reached before the transition's", True),
    "rule-from-end": Code("warning", "a transition starts at an end, where the conversation is over", True),
    "equal-priority": Code("warning", "two transitions can hold at once, and only their order decides", True),
    "message-has-keyword": Code(
        "warning",
        "a transition's message has a keyword that ends the next stage as soon as the reply repeats it",
    ),
    "disabled-custom": Code("warning", "an imported rule is switched off until its expression is written"),
    # Conditions and expressions
    "keyword-empty": Code("warning", "a keyword condition has no keywords, or an empty one", True),
    "bad-regex": Code("error", "a pattern that RE2 does not take"),
    "bad-expression": Code("error", "a CEL expression that does not compile, with its position"),
    "undeclared-variable": Code(
        "error", "an expression reads a variable that nothing declares or sets", True
    ),
    "unknown-variable": Code("warning", "a prompt has a placeholder of a variable that nothing sets", True),
    "bad-placeholder": Code(
        "warning", "braces in a prompt that are no expression: they stay as they are", True
    ),
    "unused-variable": Code("warning", "a variable that nothing sets and nothing reads", True),
    # Intents
    "unnamed-intent": Code("error", "an intent condition without the name of an intent"),
    "few-examples": Code("warning", "an intent with fewer than three examples"),
    "no-intent-description": Code("warning", "an intent without a description"),
    "shared-example": Code("warning", "the same example speaks for two intents of a stage", True),
    "overlapping-intents": Code("warning", "an example of one intent is classified as another"),
    "unused-intent": Code("warning", "every rule about this intent is switched off"),
    # Tools
    "reserved-tool-name": Code("error", "a tool has the name of one of the engine's own", True),
    "bad-tool-name": Code("error", "a tool's name that models do not take", True),
    "tool-name-conflict": Code(
        "warning", "two tools of one name differ: the cache is lost at each change", True
    ),
    "tool-not-implemented": Code("warning", "nothing answers this tool"),
    "missing-tool": Code("error", "a transition waits for a tool and does not say which"),
    "unknown-tool": Code(
        "warning", "a transition, an action or a tool choice names a tool not offered there", True
    ),
    "tool-not-offered": Code(
        "warning", "a prompt tells the model to call a tool that the stage does not have"
    ),
    "unused-tool": Code("warning", "no request ever offers this tool, and no action calls it", True),
    "bad-schema": Code("error", "a JSON Schema of a tool or variable that is not valid"),
    "loose-schema": Code("warning", "parameters that some providers refuse or models misread", True),
    "secret-in-document": Code("warning", "a header holds a secret instead of naming one"),
    "undefined-secret": Code("error", "a tool names a secret that this server does not have"),
    # Prompts and what they cost
    "empty-prompt": Code("warning", "a stage without a prompt"),
    "long-prompt": Code("warning", "a prompt of more than 4,000 tokens"),
    "volatile-prompt": Code("warning", "a clock or an id early in a prompt spoils the cache", True),
    # Advice
    "similar-prompts": Code("advice", "two stages have nearly the same prompt"),
    "one-stage-would-do": Code("advice", "two stages in a row that differ in nothing but their prompts"),
    "ping-pong": Code("advice", "two stages hand over to each other and nowhere else"),
}
"""Faults of shape (a missing field, a text where a number should be) have pydantic's names and are errors."""


def table() -> Iterator[str]:
    """The lines of a Markdown table of all codes, errors first."""
    yield "| code | severity | what it says | one click |"
    yield "|---|---|---|---|"
    for severity in ("error", "warning", "advice"):
        for name, code in CODES.items():
            if code.severity == severity:
                yield f"| `{name}` | {severity} | {code.says} | {'yes' if code.mends else ''} |"
