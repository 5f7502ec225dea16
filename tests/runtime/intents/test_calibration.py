"""What a confidence is worth on the test set: of what is called 0.6, about six in ten are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from statistics import mean

import pytest

from runtime.intents.embedding import Embedding, NotInstalled, installed
from runtime.intents.lexical import Lexical
from runtime.intents.scoring import Likeness
from tests.bench.intents.data import fit_domains, measured_domain, stages, whole
from tests.bench.intents.fitting import fitted
from tests.bench.intents.measuring import Answer, answers, figures
from tests.bench.intents.remembering import RememberingEmbedding

needs_model = pytest.mark.skipif(
    not installed(), reason="the embedding classifier's packages (requirements-intent.lock) are not installed"
)
BOTH = [
    pytest.param(Lexical, id="keyword"),
    pytest.param(RememberingEmbedding, id="embedding", marks=needs_model),
]


def around(found: list[Answer], low: float, high: float) -> float:
    """Share of right answers among those with such a confidence."""
    inside = [answer.is_right for answer in found if low <= answer.confidence < high]
    assert len(inside) >= 8
    return mean(inside)


def test_the_test_set_is_as_large_as_it_should_be() -> None:
    domain = measured_domain()
    examples = {example for intent in domain.intents for example in intent.examples}
    assert len(domain.intents) == 8
    assert len(domain.said) >= 60
    assert sum(intent is None for _, intent in domain.said) >= 12
    assert not examples & {text for text, _ in domain.said}


def test_nothing_that_is_measured_was_fitted_to() -> None:
    fitted = {text for domain in fit_domains() for text, _ in domain.said}
    assert not fitted & {text for text, _ in measured_domain().said}


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("known", [2, 3, 4, 6])
def test_six_in_ten_of_what_is_called_0_6_are_right_however_many_intents_a_stage_has(
    make: Callable[[], Likeness], known: int
) -> None:
    found = answers(make(), stages(measured_domain(), known))
    assert 0.45 <= around(found, 0.5, 0.7) <= 0.75
    assert around(found, 0.85, 1.01) >= 0.85
    assert around(found, 0.0, 0.2) <= 0.2


@needs_model
def test_six_in_ten_of_what_is_called_0_6_are_right_among_all_intents() -> None:
    found = answers(Embedding(), whole(measured_domain()))
    assert 0.45 <= around(found, 0.5, 0.7) <= 0.75
    assert around(found, 0.85, 1.01) >= 0.85


@pytest.mark.parametrize("make", BOTH)
def test_the_constants_are_those_that_the_fit_set_gives(make: Callable[[], Likeness]) -> None:
    by = make()
    assert astuple(by.calibration) == pytest.approx(astuple(fitted(by)), abs=0.05)


def test_keywords_are_seldom_wrong_and_find_little() -> None:
    found = figures(answers(Lexical(), whole(measured_domain())))
    assert found.precision >= 0.85
    assert found.recall >= 0.2
    assert found.likeliest_right >= 0.45


@needs_model
def test_the_embedding_finds_more_than_twice_as_much() -> None:
    found = figures(answers(Embedding(), whole(measured_domain())))
    assert found.likeliest_right >= 0.8
    assert found.precision >= 0.85
    assert found.recall >= 0.55


@needs_model
def test_the_embedding_gives_the_same_numbers_whatever_it_was_asked_before() -> None:
    fresh, used = Embedding(), Embedding()
    used.likenesses("hello", ("one line", "another, which is a good deal longer than the first"))
    lines = ("another, which is a good deal longer than the first", "a third", "one line")
    assert list(fresh.likenesses("x", lines)) == list(used.likenesses("x", lines))


@pytest.mark.skipif(installed(), reason="the packages are installed")
def test_without_its_packages_the_embedding_says_which_are_missing() -> None:
    with pytest.raises(NotInstalled, match=r"requirements-intent\.lock"):
        Embedding().likenesses("x", ("y",))
