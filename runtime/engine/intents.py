"""Intents as values: what a stage's rules ask a classifier to tell apart, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runtime.playbook import IntentCondition, Transition


@dataclass(frozen=True, slots=True)
class Intent:
    """What the user may want, described and shown by examples."""

    name: str
    description: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classification:
    """A classifier's answer to one message."""

    classifier: str
    """Which one answered, or failed to: `keyword`, `embedding`, `llm` …"""
    intent: str | None = None
    """The likeliest intent; None if nothing speaks for any of them."""
    confidence: float = 0.0
    """Estimated probability, 0 to 1, that `intent` is what the user wants, "none of them" included."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """The same estimate for each intent by itself."""
    error: str | None = None
    """Why there is no answer, as a sentence; None if there is one."""


def intents_of(rules: Iterable[Transition]) -> tuple[Intent, ...]:
    """The intents of these rules by name, in order. Rules of the same one put their examples together."""
    found: dict[str, Intent] = {}
    for rule in rules:
        condition = rule.condition
        if not isinstance(condition, IntentCondition) or not condition.intent.strip():
            continue
        known = found.get(condition.intent, Intent(condition.intent))
        found[condition.intent] = Intent(
            name=known.name,
            description=known.description or (condition.description or "").strip(),
            examples=tuple(dict.fromkeys((*known.examples, *_spoken(condition.examples)))),
        )
    return tuple(found.values())


def _spoken(examples: Iterable[str]) -> Iterable[str]:
    return (example.strip() for example in examples if example.strip())
