"""unnamed-intent, few-examples, no-intent-description, shared-example: intents nobody can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import IntentCondition, Transition

ENOUGH: Final = 3
"""Examples. With fewer a classifier knows too little of what people say."""


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Each rule is checked as it stands, though rules of one intent put their examples together."""
    for index, rule in outline.rules:
        if isinstance(rule.condition, IntentCondition):
            yield from _condition(outline, rule, rule.condition, pointer("transitions", index, "condition"))


def _condition(
    outline: Outline, rule: Transition, condition: IntentCondition, path: str
) -> Iterator[Diagnostic]:
    name = condition.intent
    if not name.strip():
        message = f"Transition “{rule.id}” names no intent: it never fires."
        yield error("unnamed-intent", message, path + pointer("intent"), transition=rule.id)
        return
    said = {example.strip().casefold() for example in condition.examples if example.strip()}
    if len(said) < ENOUGH:
        given = "no examples" if not said else f"only {len(said)} example{'s' if len(said) > 1 else ''}"
        message = f"The intent “{name}” has {given}: with {ENOUGH} or more it is told apart much better."
        yield warning("few-examples", message, path + pointer("examples"), transition=rule.id)
    if not (condition.description or "").strip():
        message = f"The intent “{name}” has no description of what the user wants."
        yield warning("no-intent-description", message, path + pointer("description"), transition=rule.id)
    yield from _shared(outline, rule, said, path)


def _shared(outline: Outline, rule: Transition, said: set[str], path: str) -> Iterator[Diagnostic]:
    """An example that another intent of the same stage has as well makes neither likely."""
    for index, other in outline.rules:
        condition = other.condition
        if other is rule or not isinstance(condition, IntentCondition) or not _meet(rule, other):
            continue
        mine = rule.condition.intent if isinstance(rule.condition, IntentCondition) else ""
        both = [example for example in condition.examples if example.strip().casefold() in said]
        if both and condition.intent != mine:
            message = (
                f"“{both[0]}” is an example of “{mine}” and of “{condition.intent}”: it speaks for neither."
            )
            related = (pointer("transitions", index, "condition", "examples"),)
            yield warning(
                "shared-example", message, path + pointer("examples"), related=related, transition=rule.id
            )


def _meet(one: Transition, other: Transition) -> bool:
    """Whether both may leave the same stage."""
    return one.from_stage == other.from_stage or "*" in (one.from_stage, other.from_stage)
