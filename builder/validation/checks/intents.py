"""unnamed-intent, few-examples, no-intent-description, shared-example: intents nobody can tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from operator import itemgetter
from typing import Final

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import Fix, remove_at
from builder.validation.outline import ANY_STAGE, Outline
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
    mine = rule.condition.intent if isinstance(rule.condition, IntentCondition) else ""
    for index, other in _meeting(outline, rule):
        condition = other.condition
        if other is rule or not isinstance(condition, IntentCondition) or condition.intent == mine:
            continue
        both = [example for example in condition.examples if example.strip().casefold() in said]
        if both:
            message = (
                f"“{both[0]}” is an example of “{mine}” and of “{condition.intent}”: it speaks for neither."
            )
            related = (pointer("transitions", index, "condition", "examples"),)
            at, fix = path + pointer("examples"), _without(rule, both[0], path)
            yield warning("shared-example", message, at, related=related, transition=rule.id, fix=fix)


def _meeting(outline: Outline, rule: Transition) -> Iterable[tuple[int, Transition]]:
    """The rules that may leave a stage which this one may leave, in document order."""
    if rule.from_stage == ANY_STAGE:
        return outline.rules
    return merge(outline.own_rules[rule.from_stage], outline.rules_of_any, key=itemgetter(0))


def _without(rule: Transition, said: str, path: str) -> Fix | None:
    examples = rule.condition.examples if isinstance(rule.condition, IntentCondition) else ()
    form = said.strip().casefold()
    place = next((i for i, text in enumerate(examples) if text.strip().casefold() == form), None)
    if place is None:
        return None
    return remove_at(f"Remove “{examples[place]}” here", path + pointer("examples", place), examples[place])
