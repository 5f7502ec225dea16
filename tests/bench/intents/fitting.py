"""Fits the logistic function of four features: Newton's method, a light ridge, Platt's softened targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple

from runtime.intents.scoring import Calibration, Likeness, features_of
from tests.bench.intents.data import Choice, fit_tasks

RIDGE = 3e-4
"""With it, a domain that is left out of the fit is foretold best."""
STEPS = 20

Sample = tuple[tuple[float, ...], bool, float]
"""A constant 1 and the four features of the likeliest intent, whether it is right, and its weight."""
FEATURES = 5


def samples(by: Likeness, choices: Iterable[Choice]) -> list[Sample]:
    """One sample for each choice; all together weigh 1."""
    found = [(choice, features_of(by, choice.text, choice.intents)) for choice in choices]
    made: list[Sample] = []
    for choice, features in found:
        place, best = max(enumerate(features), key=lambda item: item[1].likeness)
        row = (1.0, *astuple(best))
        made.append((row, choice.intents[place].name == choice.right, 1 / len(found)))
    return made


def fitted(by: Likeness) -> Calibration:
    """The calibration that the fit set gives: every domain and size of a stage weighs the same."""
    return fit([sample for choices in fit_tasks() for sample in samples(by, choices)])


def fit(data: Sequence[Sample]) -> Calibration:
    """The weights under which the samples are the likeliest."""
    right = sum(weight for _, is_right, weight in data if is_right)
    total = sum(weight for _, _, weight in data)
    scale = len(data) / total
    high, low = (right * scale + 1) / (right * scale + 2), 1 / ((total - right) * scale + 2)
    weights = [0.0] * FEATURES
    for _ in range(STEPS):
        gradient = [-RIDGE * value * (place > 0) for place, value in enumerate(weights)]
        curvature = [[RIDGE * (a == b and a > 0) for b in range(FEATURES)] for a in range(FEATURES)]
        for row, is_right, weight in data:
            chance = 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, row, strict=True))))
            slack = weight / total * ((high if is_right else low) - chance)
            bend = weight / total * chance * (1 - chance)
            for a in range(FEATURES):
                gradient[a] += slack * row[a]
                for b in range(FEATURES):
                    curvature[a][b] += bend * row[a] * row[b]
        weights = [w + s for w, s in zip(weights, _solved(curvature, gradient), strict=True)]
    return Calibration(*(round(value, 2) for value in weights))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss, for a small positive matrix."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda at: abs(rows[at][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for other in range(size):
            if other != column:
                factor = rows[other][column]
                pairs = zip(rows[other], rows[column], strict=True)
                rows[other] = [value - factor * above for value, above in pairs]
    return [row[-1] for row in rows]
