"""bad-placeholder, unknown-variable: braces in prompts that will not be filled. They stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import LLMDecisionCondition
from runtime.playbook.expressions import ExpressionError, compile_expression
from runtime.playbook.placeholders import Placeholder, names_in_scope, placeholders

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def check(outline: Outline) -> Iterator[Diagnostic]:
    """In prompts, in the messages of transitions, and in descriptions that the model reads."""
    playbook = outline.playbook
    for stage in playbook.stages:
        path = outline.stage_path(stage, "systemPrompt")
        yield from _text(outline, stage.system_prompt, path, stage=stage.id)
    for index, rule in enumerate(playbook.transitions):
        path = pointer("transitions", index, "action", "transitionMessage")
        yield from _text(outline, rule.action.transition_message or "", path, transition=rule.id)
        if isinstance(rule.condition, LLMDecisionCondition):
            path = pointer("transitions", index, "condition", "description")
            yield from _text(outline, rule.condition.description or "", path, transition=rule.id)


def _text(outline: Outline, text: str, path: str, **owner: Any) -> Iterator[Diagnostic]:
    known = outline.variables
    for placeholder in placeholders(text):
        variable = _VARIABLE.fullmatch(placeholder.source)
        if variable is None:
            yield from _expression(outline, text, placeholder, path, owner)
        elif variable.group(1) not in known:
            name = variable.group(1)
            message = f"Nothing ever sets the variable “{name}”: “{{${name}}}” stays in the text as it is."
            yield warning("unknown-variable", message + did_you_mean(name, known), path, **owner)


def _expression(
    outline: Outline, text: str, placeholder: Placeholder, path: str, owner: dict[str, Any]
) -> Iterator[Diagnostic]:
    declared = [variable.name for variable in outline.playbook.variables]
    try:
        compile_expression(placeholder.source, names_in_scope(declared))
    except ExpressionError:
        shown = " ".join(text[placeholder.start : placeholder.end].split())
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        message = (
            f"“{shown}” is no expression: it goes to the model as it is. Double its braces if that is meant."
        )
        yield warning("bad-placeholder", message, path, **owner)
