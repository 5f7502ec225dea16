"""The utterances that classifiers are fitted to and measured on, and the choices they are set before.

Written for this purpose, in words that avoid those of the examples, some of them misleading on purpose. The
domains of the fit set are others than that of the test set: what is measured was not fitted to.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.engine.intents import Intent

HERE = Path(__file__).parent
STAGES = 25
SIZES = (1, 2, 3, 4, 6, 8)
"""Numbers of intents of the stages that are fitted to."""
FITTED_STAGES = 10
"""Stages of each of these sizes and of each domain."""


@dataclass(frozen=True)
class Domain:
    """Intents, and what people said: each utterance with its intent, or None for none of them."""

    name: str
    intents: tuple[Intent, ...]
    said: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class Choice:
    """A message to be put to one of these intents, or to none."""

    text: str
    intents: tuple[Intent, ...]
    right: str | None


def measured_domain() -> Domain:
    """What is measured."""
    return _domain(json.loads((HERE / "test_set.json").read_text("utf-8")))


def fit_domains() -> list[Domain]:
    """What is fitted to."""
    return [_domain(value) for value in json.loads((HERE / "fit_set.json").read_text("utf-8"))]


def _domain(value: dict[str, Any]) -> Domain:
    intents = tuple(
        Intent(item["name"], item["description"], tuple(item["examples"])) for item in value["intents"]
    )
    said = [(text, item["name"]) for item in value["intents"] for text in item["said"]]
    return Domain(value["name"], intents, (*said, *((text, None) for text in value["none"])))


def fit_tasks() -> Iterator[list[Choice]]:
    """What is fitted to: for each domain and size of a stage, the choices in stages of that size."""
    for domain in fit_domains():
        for size in SIZES:
            whole_domain = size == len(domain.intents)
            yield list(whole(domain) if whole_domain else stages(domain, size, count=FITTED_STAGES))


def whole(domain: Domain) -> Iterator[Choice]:
    """Every utterance among all intents of the domain."""
    return (Choice(text, domain.intents, right) for text, right in domain.said)


def stages(domain: Domain, size: int = 3, *, count: int = STAGES, seed: int = 7) -> Iterator[Choice]:
    """Every utterance in stages that have some of the intents: the usual case. What belongs to another intent
    belongs to none of these."""
    chance = random.Random(seed)
    for _ in range(count):
        chosen = tuple(chance.sample(domain.intents, size))
        names = {intent.name for intent in chosen}
        yield from (Choice(text, chosen, right if right in names else None) for text, right in domain.said)
