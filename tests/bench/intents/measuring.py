"""How right a classifier is: precision and recall at a threshold, and what its confidence is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from runtime.intents.scoring import Likeness, classify
from tests.bench.intents.data import Choice

THRESHOLD = 0.6
BANDS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01))


@dataclass(frozen=True)
class Answer:
    """One classification beside the truth."""

    right: str | None
    given: str | None
    confidence: float

    @property
    def is_right(self) -> bool:
        """Whether the likeliest intent is the right one."""
        return self.given is not None and self.given == self.right

    def fires(self, threshold: float) -> bool:
        """Whether a rule with that threshold fires on it."""
        return self.given is not None and self.confidence >= threshold


@dataclass(frozen=True)
class Band:
    """Answers whose confidence lies between two values."""

    low: float
    high: float
    count: int
    stated: float
    right: float


@dataclass(frozen=True)
class Figures:
    """What the answers to one set of choices come to."""

    count: int
    likeliest_right: float
    """Share of the utterances that have an intent whose likeliest intent is the right one."""
    precision: float
    recall: float
    accuracy: float
    """Share of all choices that end right at the threshold, "none" included."""
    brier: float
    bands: tuple[Band, ...]


def answers(by: Likeness, choices: Iterable[Choice]) -> list[Answer]:
    """The classifier's answer to each choice."""
    given = ((choice.right, classify(by, choice.text, choice.intents)) for choice in choices)
    return [Answer(right, found.intent, found.confidence) for right, found in given]


def figures(found: Sequence[Answer], threshold: float = THRESHOLD) -> Figures:
    """The figures at that threshold."""
    fired = [answer for answer in found if answer.fires(threshold)]
    wanted = [answer for answer in found if answer.right is not None]
    hits = sum(answer.is_right for answer in fired)
    quiet = sum(answer.right is None and not answer.fires(threshold) for answer in found)
    return Figures(
        count=len(found),
        likeliest_right=mean(answer.is_right for answer in wanted),
        precision=hits / len(fired) if fired else 0.0,
        recall=hits / len(wanted),
        accuracy=(hits + quiet) / len(found),
        brier=mean((answer.confidence - answer.is_right) ** 2 for answer in found),
        bands=tuple(_bands(found)),
    )


def _bands(found: Sequence[Answer]) -> Iterable[Band]:
    for low, high in BANDS:
        inside = [answer for answer in found if low <= answer.confidence < high and answer.given is not None]
        if inside:
            stated = mean(answer.confidence for answer in inside)
            yield Band(low, min(high, 1.0), len(inside), stated, mean(answer.is_right for answer in inside))
