"""From likenesses to confidence: which intent is the likeliest, and how likely it is.

An intent is as like the message as its two likest lines are on average. Four numbers say what that means:
the likeness itself, its lead over the next intent or over lines that have nothing to do with any, its lead
over all other intents, and how many intents there are: a stage that knows few of them hears more that belongs
to none. A logistic function of the four, fitted to utterances with known intents, makes a probability of
them: of those that it calls 0.6 about six in ten are right. `python -m tests.bench.intents --fit` fits anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Protocol

from runtime.engine.intents import Classification, Intent
from runtime.intents.background import BACKGROUND

LONGEST: Final = 2_000
"""Characters of a message that are looked at: its first ones."""
FITTED: Final = 8
"""Intents of the largest stages that the function was fitted to; more count as so many."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The logistic function: its constant and the weights of the four numbers."""

    constant: float
    likeness: float
    lead_over_next: float
    lead_over_others: float
    known: float

    def confidence(self, features: Features) -> float:
        """A probability, from 0 to 1."""
        z = self.constant + self.likeness * features.likeness
        z += self.lead_over_next * features.lead_over_next
        z += self.lead_over_others * features.lead_over_others
        z += self.known * features.known
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))


@dataclass(frozen=True, slots=True)
class Features:
    """What speaks for one intent."""

    likeness: float
    lead_over_next: float
    """Over the likest other intent or the background, whichever is liker."""
    lead_over_others: float
    """Over the other intents on average; over the background where there is no other."""
    known: float
    """Logarithm of the number of intents."""


class Likeness(Protocol):
    """How alike texts are; what a classifier of this kind adds to the scoring."""

    name: str
    calibration: Calibration
    in_thread: bool
    """Whether it takes so long that an event loop should not wait for it."""

    def likenesses(self, text: str, lines: tuple[str, ...]) -> Sequence[float]:
        """How alike `text` and each of the lines are: 0 nothing in common, 1 the same."""
        ...


def classify(by: Likeness, text: str, intents: Sequence[Intent]) -> Classification:
    """The likeliest intent of a message. The same inputs give the same answer."""
    features = features_of(by, text, intents)
    scores = {
        intent.name: by.calibration.confidence(found) for intent, found in zip(intents, features, strict=True)
    }
    best = max(features, key=lambda found: found.likeness, default=None)
    if best is None or best.likeness <= 0:
        return Classification(by.name, scores=dict.fromkeys(scores, 0.0))
    name = intents[features.index(best)].name
    return Classification(by.name, name, scores[name], scores)


def features_of(by: Likeness, text: str, intents: Sequence[Intent]) -> list[Features]:
    """The four numbers of each intent, in order."""
    groups = [lines_of(intent) for intent in intents]
    lines = tuple(line for group in (*groups, BACKGROUND) for line in group)
    found = list(by.likenesses(text[:LONGEST], lines))
    likeness: list[float] = []
    for group in (*groups, BACKGROUND):
        likeness.append(_best_two(found[: len(group)]))
        found = found[len(group) :]
    background = likeness.pop()
    return [_features(likeness, index, background) for index in range(len(intents))]


def lines_of(intent: Intent) -> tuple[str, ...]:
    """The lines that stand for an intent; its name where the author gave none."""
    lines = (*intent.examples, *([intent.description] if intent.description else []))
    return lines or (intent.name.replace("_", " ").replace("-", " "),)


def _features(likeness: Sequence[float], index: int, background: float) -> Features:
    own = likeness[index]
    others = [value for place, value in enumerate(likeness) if place != index]
    return Features(
        likeness=own,
        lead_over_next=own - max([*others, background]),
        lead_over_others=own - (fmean(others) if others else background),
        known=math.log(min(len(likeness), FITTED)),
    )


def _best_two(likenesses: Sequence[float]) -> float:
    best = sorted(likenesses, reverse=True)[:2]
    return sum(best) / len(best)
