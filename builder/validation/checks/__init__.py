"""One module per kind of finding; each is a function from the outline to diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from builder.validation.checks import (
    expressions,
    intents,
    keywords,
    name_forms,
    placeholders,
    prompts,
    reachability,
    schemas,
    secrets,
    stage_ids,
    switched_off,
    tool_answers,
    tool_names,
    tool_references,
    transition_ends,
    unknown_field,
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
)
"""A new kind of finding is a module and a line here."""
