"""bad-placeholder, unknown-variable: braces in prompts that will not be filled. They stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import declare_variable, replace_at
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from builder.validation.references import references, tested
from builder.validation.words import excerpt
from runtime.playbook import LLMDecisionCondition
from runtime.playbook.expressions import ExpressionError, compile_expression
from runtime.playbook.placeholders import Placeholder, names_in_scope, placeholders

MOST: Final = 100
"""Findings of a kind that one text gets; the rest is counted."""
MOST_FIXES: Final = 5
"""Of them, those with a repair: each has the text twice, and the next come when these are mended."""
_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def check(outline: Outline) -> Iterator[Diagnostic]:
    """In prompts, in the messages of transitions, and in descriptions that the model reads."""
    playbook = outline.playbook
    for stage in playbook.stages:
        if "{" in stage.system_prompt:
            path = outline.stage_path(stage, "systemPrompt")
            yield from _text(outline, stage.system_prompt, path, stage=stage.id)
    for index, rule in enumerate(playbook.transitions):
        text = rule.action.transition_message or ""
        if "{" in text:
            path = pointer("transitions", index, "action", "transitionMessage")
            yield from _text(outline, text, path, transition=rule.id)
        if isinstance(rule.condition, LLMDecisionCondition) and "{" in (rule.condition.description or ""):
            path = pointer("transitions", index, "condition", "description")
            yield from _text(outline, rule.condition.description or "", path, transition=rule.id)


def _text(outline: Outline, text: str, path: str, **owner: Any) -> Iterator[Diagnostic]:
    """Each variable once; nothing is said of one that `has` asks for."""
    unknown: dict[str, str] = {}
    bad: list[Placeholder] = []
    known = names_in_scope(variable.name for variable in outline.playbook.variables)
    for placeholder in placeholders(text):
        variable = _VARIABLE.fullmatch(placeholder.source)
        if variable is None:
            if not _is_expression(placeholder.source, known):
                bad.append(placeholder)
            names = _variables_read(placeholder.source)
        else:
            names = [variable.group(1)]
        for name in names:
            if name not in outline.variables:
                unknown.setdefault(name, text[placeholder.start : placeholder.end])
    for number, placeholder in enumerate(bad[:MOST]):
        yield _no_expression(text, placeholder, path, number < MOST_FIXES, owner)
    yield from _rest("bad-placeholder", "that are no expressions", len(bad), path, owner)
    for name, shown in list(unknown.items())[:MOST]:
        message = f"Nothing ever sets the variable “{name}”: “{excerpt(shown)}” stays in the text as it is."
        hint, fix = did_you_mean(name, outline.variables), declare_variable(name)
        yield warning("unknown-variable", message + hint, path, fix=fix, **owner)
    yield from _rest("unknown-variable", "with variables that nothing sets", len(unknown), path, owner)


def _rest(code: str, what: str, count: int, path: str, owner: dict[str, Any]) -> Iterator[Diagnostic]:
    if count > MOST:
        yield warning(code, f"The text has {count - MOST:,} more placeholders {what}.", path, **owner)


def _variables_read(source: str) -> list[str]:
    if "vars" not in source:
        return []
    asked = tested(source)
    return [p[1] for p in references(source) if p[0] == "vars" and len(p) > 1 and p not in asked]


def _is_expression(source: str, names: frozenset[str]) -> bool:
    try:
        compile_expression(source, names)
    except ExpressionError:
        return False
    return True


def _no_expression(
    text: str, placeholder: Placeholder, path: str, with_fix: bool, owner: dict[str, Any]
) -> Diagnostic:
    start, end = placeholder.start, placeholder.end
    message = (
        f"“{excerpt(text[start:end])}” is no expression: it goes to the model as it is. "
        "Double its braces if that is meant."
    )
    if not with_fix:
        return warning("bad-placeholder", message, path, **owner)
    doubled = text[start:end].replace("{", "{{").replace("}", "}}")
    fix = replace_at("Double its braces", path, text, text[:start] + doubled + text[end:])
    return warning("bad-placeholder", message, path, fix=fix, **owner)
