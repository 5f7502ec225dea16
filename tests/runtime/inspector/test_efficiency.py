"""Paid, without caching, with other points, and the bound: read from a session's log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.conversation import events as ev
from runtime.conversation.messages import Usage
from runtime.conversation.segments import CachePoint, Segment
from runtime.inspector.calls import CallLog
from runtime.inspector.efficiency import Efficiency, InputCosts, efficiency
from tests.runtime.inspector.logs import NOW, call, log, segment

BASE, ONE, TWO = segment("base", 2000), segment("u1", 500), segment("u2", 300)
BASE = BASE.model_copy(update={"kind": "base"})


def spoken(
    number: int, window: list[Segment], *points: str, usage: Usage | None, model: str = "claude-sonnet-5"
) -> list[ev.Event]:
    """A call a minute after the one before, with five-minute points."""
    started, answered = call(number, window, added=len(window), usage=usage, model=model)
    at = NOW + timedelta(minutes=number)
    marks = tuple(CachePoint(segment=point, ttl="5m") for point in points)
    return [
        started.model_copy(update={"at": at, "cache_points": marks}),
        answered.model_copy(update={"at": at + timedelta(seconds=3)}),
    ]


def figures(*events: ev.Event) -> Efficiency:
    return efficiency(CallLog().read_all(log(*events)).sent())


def two_calls(scale: int = 1, model: str = "claude-sonnet-5") -> list[ev.Event]:
    return [
        *spoken(1, [BASE, ONE], "base", "u1", usage=Usage(write5m=2500 * scale, output=7), model=model),
        *spoken(
            2, [BASE, ONE, TWO], "u1", "u2", usage=Usage(read=2500 * scale, write5m=300 * scale), model=model
        ),
    ]


def test_what_was_paid_and_what_it_would_have_cost_in_other_ways() -> None:
    found = figures(*two_calls())
    assert found.calls == 2
    assert found.tokens == InputCosts(
        paid=2500 * 1.25 + 2500 * 0.1 + 300 * 1.25,
        uncached=5300,
        system_point=2000 * 1.25 + 500 + 2000 * 0.1 + 800,
        tail_point=2500 * 1.25 + 2500 * 0.1 + 300 * 1.25,
        bound=2500 * 1.25 + 2500 * 0.1 + 300,
    )
    assert found.dollars == found.tokens.times(2 / 1_000_000)
    assert found.eta == pytest.approx((2500 * 1.35 + 300) / (2500 * 1.35 + 375))


def test_what_is_reckoned_is_brought_to_the_sum_that_the_provider_counted() -> None:
    once, thrice = figures(*two_calls()), figures(*two_calls(scale=3))
    assert thrice.tokens.bound == pytest.approx(once.tokens.bound * 3)
    assert thrice.tokens.tail_point == pytest.approx(once.tokens.tail_point * 3)
    assert thrice.eta == pytest.approx(once.eta)


def test_a_model_without_prices_has_tokens_and_no_dollars() -> None:
    found = figures(*two_calls(model="claude-of-next-year"))
    assert found.dollars is None
    assert found.tokens.uncached == 5300


def test_models_do_not_share_a_cache() -> None:
    here = spoken(1, [BASE, ONE], "u1", usage=Usage(write5m=2500))
    there = spoken(2, [BASE, ONE], "u1", usage=Usage(write5m=2500), model="claude-opus-5")
    assert figures(*here, *there).tokens.bound == 5000


def test_a_session_without_a_counted_call_has_no_figures() -> None:
    assert figures() == Efficiency()
    assert figures(*spoken(1, [BASE], usage=None)) == Efficiency()
