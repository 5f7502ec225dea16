"""The lower bound: no cache points can cost less, whatever was sent and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import Mark
from runtime.context.efficiency import (
    Sent,
    cost_with,
    lower_bound,
    no_points,
    own_points,
    system_point,
    tail_point,
    uncached_cost,
)
from runtime.context.models import ModelRecord, record
from runtime.context.prefixes import DEVELOPER, MESSAGE, Block, lay_out

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
MODEL = record("claude-sonnet-5")


def sent(minutes: float, *blocks: str, marks: tuple[Mark, ...] = (), model: ModelRecord = MODEL) -> Sent:
    """A request of blocks of 2,000 tokens, named by letters."""
    made = [Block(name, 2000, 1, DEVELOPER if name == "base" else MESSAGE) for name in blocks]
    return Sent(START + timedelta(minutes=minutes), lay_out(made), marks, model)


def test_text_that_is_sent_once_is_best_sent_plain() -> None:
    assert lower_bound([sent(0, "a", "b")]) == 4000


def test_text_that_is_sent_again_in_time_is_written_and_read() -> None:
    assert lower_bound([sent(0, "a"), sent(1, "a", "b")]) == 2000 * 1.25 + 2000 * 0.1 + 2000


def test_a_pause_is_outlived_by_a_long_entry_where_that_is_cheaper() -> None:
    once = [sent(0, "a"), sent(20, "a")]
    assert lower_bound(once) == 4000, "written again is as dear as the long entry: plain twice is cheaper"
    twice = [sent(0, "a"), sent(20, "a"), sent(40, "a")]
    assert lower_bound(twice) == 2000 * (2 + 0.1 + 0.1)


def test_what_is_read_lives_on_as_long_as_what_is_written_behind_it() -> None:
    requests = [sent(0, "a"), sent(1, "a", "b"), sent(40, "a", "b"), sent(80, "a", "b")]
    assert lower_bound(requests) == pytest.approx(2000 * (1.25 + 3 * 0.1) + 2000 * (2 + 2 * 0.1))
    marked = [
        sent(0, "a", marks=(Mark(0, "5m"),)),
        sent(1, "a", "b", marks=(Mark(1, "1h"),)),
        sent(40, "a", "b", marks=(Mark(1, "1h"),)),
        sent(80, "a", "b", marks=(Mark(1, "1h"),)),
    ]
    assert cost_with(marked, own_points) == pytest.approx(lower_bound(marked))


def test_other_scopes_share_nothing() -> None:
    one, other = sent(0, "a"), sent(1, "a")
    elsewhere = Sent(other.at, other.laid, (), MODEL, scope="elsewhere")
    assert lower_bound([one, elsewhere]) == 4000


def test_a_dearer_tier_weighs_the_whole_request() -> None:
    haiku = record("claude-haiku-5-5")
    (tier,) = haiku.tiers
    long = Sent(START, lay_out([Block("a", tier.above + 1)]), (), haiku)
    assert haiku.prices is not None
    expected = (tier.above + 1) * tier.input / haiku.prices.input
    assert uncached_cost([long]) == pytest.approx(expected)
    assert lower_bound([long]) == pytest.approx(expected)


def test_a_long_session_is_bounded_without_running_out_of_stack() -> None:
    names = [f"b{number}" for number in range(1500)]
    requests = [sent(number, *names[: number + 1]) for number in range(1500)]
    assert 0 < lower_bound(requests) < uncached_cost(requests)


@st.composite
def conversations(draw: st.DrawFn) -> list[Sent]:
    """Requests that share beginnings, with random pauses and marks."""
    at, found = 0.0, []
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.sampled_from([0.2, 1, 4, 6, 30, 70]))
        names = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
        places = sorted(draw(st.sets(st.integers(0, len(names)), max_size=4)))
        long = draw(st.integers(0, 4))
        marks = tuple(Mark(place, "1h" if n < long else "5m") for n, place in enumerate(places))
        found.append(sent(at, "base", *names, marks=marks))
    return found


@given(conversations())
def test_no_cache_points_cost_less_than_the_bound(requests: list[Sent]) -> None:
    bound = lower_bound(requests) - 1e-6
    for choose in (own_points, no_points, system_point, tail_point):
        assert cost_with(requests, choose) >= bound
    assert bound <= uncached_cost(requests)
