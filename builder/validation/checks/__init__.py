"""One module per kind of finding; each is a function from the outline to diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from builder.validation.checks import (
    alike,
    automatic,
    calls,
    equal_priority,
    expressions,
    intents,
    intents_meet,
    keywords,
    limits,
    messages,
    name_forms,
    placeholders,
    prompts,
    reachability,
    schemas,
    secrets,
    shadowed,
    stage_ids,
    switched_off,
    tool_answers,
    tool_names,
    tool_references,
    tool_use,
    transition_ends,
    unknown_field,
    variables,
    volatile,
    ways_out,
)
from builder.validation.diagnostics import Diagnostic
from builder.validation.outline import Outline

Check = Callable[[Outline], Iterable[Diagnostic]]

CHECKS: Final[tuple[Check, ...]] = (
    stage_ids.check,
    name_forms.check,
    transition_ends.check,
    reachability.check,
    ways_out.check,
    prompts.check,
    placeholders.check,
    tool_names.check,
    tool_answers.check,
    tool_references.check,
    schemas.check,
    keywords.check,
    intents.check,
    expressions.check,
    switched_off.check,
    secrets.check,
    unknown_field.check,
    calls.check,
    automatic.check,
    shadowed.check,
    equal_priority.check,
    limits.check,
    messages.check,
    variables.check,
    intents_meet.check,
    tool_use.check,
    volatile.check,
    alike.check,
)
"""A new kind of finding is a module and a line here."""
