"""overlapping-intents, unused-intent: what the classifier would take for another, and what it never sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import ANY_STAGE, Outline
from builder.validation.pointers import pointer
from builder.validation.words import excerpt
from runtime.engine.intents import Intent, intents_of
from runtime.intents.background import BACKGROUND
from runtime.intents.lexical import Lexical
from runtime.intents.scoring import classify, lines_of
from runtime.playbook import IntentCondition, Transition

MOST: Final = 60
"""Intents of one stage that are told apart; the time grows with the square."""
SURE: Final = 0.75
"""Confidence from which on an example is said to speak for another intent: four of five times it does."""


def check(outline: Outline) -> Iterator[Diagnostic]:
    """By the classifier that needs no model: what it takes for another with the confidence that the other's
    rule wants is a real overlap, since it seldom is sure."""
    said: set[tuple[str, str]] = set()
    asking = dict.fromkeys(rule.from_stage for _, rule in outline.rules if _is_intent(rule))
    for key in asking:
        stage = outline.stages.get(key)
        if stage is not None and stage.kind != "end":
            rules = [rule for rule in outline.rules_from(stage) if _is_intent(rule)]
            yield from _overlaps(outline, rules, said)
    if ANY_STAGE in asking:
        rules = [rule for _, rule in outline.rules_of_any if _is_intent(rule)]
        yield from _overlaps(outline, rules, said)
    yield from _unused(outline)


def _is_intent(rule: Transition) -> bool:
    return isinstance(rule.condition, IntentCondition) and bool(rule.condition.intent.strip())


def _overlaps(
    outline: Outline, rules: Sequence[Transition], said: set[tuple[str, str]]
) -> Iterator[Diagnostic]:
    """Each pair of a rule and an example once, though stages share `*` rules."""
    wanted: dict[str, float] = {}
    for rule in rules:
        condition = _condition(rule)
        wanted[condition.intent] = min(condition.confidence, wanted.get(condition.intent, 1.0))
    for name, example, other, confidence in _mistaken(intents_of(rules)[:MOST]):
        rule = next(
            r
            for r in rules
            if _condition(r).intent == name and example in map(str.strip, _condition(r).examples)
        )
        if confidence >= max(wanted[other], SURE) and (rule.id, example) not in said:
            said.add((rule.id, example))
            yield _overlap(
                outline, rule, example, other, next(r for r in rules if _condition(r).intent == other)
            )


def _condition(rule: Transition) -> IntentCondition:
    condition = rule.condition
    assert isinstance(condition, IntentCondition)
    return condition


@lru_cache(maxsize=512)
def _mistaken(intents: tuple[Intent, ...]) -> tuple[tuple[str, str, str, float], ...]:
    """Intent, its example, the intent that the example is taken for when it is left out, and how surely."""
    if len(intents) < 2:
        return ()
    shared, by = _shared(intents), _Known(intents)
    found: list[tuple[str, str, str, float]] = []
    for index, intent in enumerate(intents):
        for example in intent.examples:
            if len(intent.examples) < 2 or example.casefold() in shared:
                continue
            rest = tuple(line for line in intent.examples if line != example)
            others = [*intents[:index], Intent(intent.name, intent.description, rest), *intents[index + 1 :]]
            given = classify(by, example, others)
            if given.intent is not None and given.intent != intent.name:
                found.append((intent.name, example, given.intent, given.confidence))
    return tuple(found)


class _Known:
    """The keyword classifier with the lines of some intents, whichever of them are asked about."""

    name = Lexical.name
    in_thread = False
    calibration = Lexical.calibration

    def __init__(self, intents: Sequence[Intent]) -> None:
        lines = (line for group in (*map(lines_of, intents), BACKGROUND) for line in group)
        self._lines = tuple(dict.fromkeys(lines))

    def likenesses(self, text: str, lines: tuple[str, ...]) -> list[float]:
        """As the classifier's: its index of all lines is made once."""
        known = dict(zip(self._lines, Lexical().likenesses(text, self._lines), strict=True))
        return [known.get(line, 0.0) for line in lines]


def _shared(intents: Sequence[Intent]) -> set[str]:
    """Examples that several intents have: `shared-example` speaks of those."""
    seen: set[str] = set()
    twice: set[str] = set()
    for intent in intents:
        own = {example.casefold() for example in intent.examples}
        twice |= own & seen
        seen |= own
    return twice


def _overlap(outline: Outline, rule: Transition, example: str, other: str, of: Transition) -> Diagnostic:
    index, beside = outline.rule_index(rule), outline.rule_index(of)
    examples = _condition(rule).examples
    place = next(i for i, text in enumerate(examples) if text.strip() == example)
    message = (
        f"“{excerpt(example)}” is an example of “{_condition(rule).intent}”, and sounds like “{other}”: "
        "the classifier would take it for that one."
    )
    path = pointer("transitions", index, "condition", "examples", place)
    related = (pointer("transitions", beside, "condition", "examples"),)
    return warning("overlapping-intents", message, path, related=related, transition=rule.id)


def _unused(outline: Outline) -> Iterator[Diagnostic]:
    alive = {_condition(rule).intent for _, rule in outline.rules if _is_intent(rule)}
    said: set[str] = set()
    for index, rule in enumerate(outline.playbook.transitions):
        if not (rule.disabled and _is_intent(rule)):
            continue
        name = _condition(rule).intent
        if name not in alive and name not in said:
            said.add(name)
            message = f"Every rule about the intent “{name}” is switched off: nobody ever looks for it."
            path = pointer("transitions", index, "condition", "intent")
            yield warning("unused-intent", message, path, transition=rule.id)
