"""Which cache points live for an hour: few, set where little is new, and a pause loses little."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import living
from runtime.context.lane_cache import lane_store
from runtime.context.lifetimes import LongPoints, long_pause_share
from runtime.context.measures import blocks_of
from runtime.context.models import record
from runtime.context.prefixes import lay_out
from runtime.conversation.appendlist import AppendList
from runtime.conversation.windows import SentRequest
from tests.runtime.context.talk import START, Talk, call, playbook
from tests.support.examples import a_share

LONG_PROMPT = "Every bike has a number, a colour and a frame size. " * 120
WORDS = "The rider asks about the blue bike and its saddle. " * 40
SHORT, LONG = 60, 20 * 60


def talk_of(**context: Any) -> Talk:
    return Talk(playbook(globalSystemPrompt=LONG_PROMPT, context=context)).start("pick")


def tail_ttl(talk: Talk) -> str | None:
    return next((point.ttl for point in talk.plans[-1].points if point.reason == "tail"), None)


def ttls(talk: Talk) -> list[str]:
    return [point.ttl for point in talk.plans[-1].points]


def points(read: int = 10_000, covered: int = 0, pause: float = 0.05) -> LongPoints:
    return LongPoints(pause=pause, premium=0.75, again=1.15, read=read, covered=covered)


def test_a_long_point_pays_where_little_is_written_and_much_is_not_covered() -> None:
    assert points(read=10_000, covered=0).gain(10_100) > 0
    assert points(read=10_000, covered=9_900).gain(12_000) < 0


def test_the_horizon_is_half_the_way_to_the_next_long_point() -> None:
    assert points(pause=0.05).horizon == pytest.approx(sqrt(1.5 / (0.05 * 1.15)) / 2)
    assert points(pause=0.9).horizon == 1, "the next pause counts whole"


def test_the_best_place_is_behind_what_is_read_and_gains_most() -> None:
    known = points(read=10_000, covered=2_000)
    assert known.best([2_000, 10_000]) is None, "what is written already is not written again"
    assert known.best([10_050, 10_600]) == 10_050
    assert points(read=10_000, covered=10_000).best([10_500]) is None


def test_before_anything_is_known_every_tenth_message_comes_after_a_long_pause() -> None:
    assert long_pause_share(AppendList(), 1) == pytest.approx(0.1)


def test_what_is_known_of_pauses_outweighs_what_was_assumed() -> None:
    def lane(long: int, calls: int) -> AppendList[SentRequest]:
        return AppendList(
            SentRequest(number, START, AppendList(), (), number - min(long, number), number)
            for number in range(calls)
        )

    assert long_pause_share(lane(0, 200), 60) < 0.01
    assert long_pause_share(lane(100, 200), 60) > 0.4


def test_after_much_that_was_written_short_a_small_request_is_kept_long() -> None:
    talk = talk_of()
    talk.turn(WORDS).ask()
    assert tail_ttl(talk) == "5m", "all of it is new"
    talk.says("Yes.").end("Yes.").wait(SHORT).turn("And?").ask()
    assert tail_ttl(talk) == "1h"
    assert talk.plans[-1].predicted.write1h < 20
    assert set(ttls(talk)) == {"1h"}, "no short point may stand before a long one"


def test_a_pause_loses_only_what_came_since_the_last_long_point() -> None:
    talk = talk_of()
    talk.turn(WORDS).ask()
    talk.says("Yes.").end("Yes.").wait(SHORT).turn("And?").ask()
    kept = talk.windows[-1].tokens
    talk.says(WORDS).end(WORDS).wait(LONG).turn("So?").ask()
    assert talk.plans[-1].predicted.read == kept


@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_a_lifetime_that_was_chosen_holds_for_all_points(ttl: str) -> None:
    talk = talk_of(cacheTtl=ttl)
    for number in range(12):
        talk.turn(f"Question {number}").ask()
        assert set(ttls(talk)) == {ttl}
        talk.says("Yes.").end("Yes.").wait(LONG if number % 3 else SHORT)


def test_where_nearly_all_pauses_are_long_the_tail_is_kept_long() -> None:
    talk = talk_of()
    for number in range(12):
        talk.turn(f"{WORDS} {number}").ask()
        talk.says("Yes.").end("Yes.").wait(LONG)
    talk.turn(WORDS).ask()
    assert tail_ttl(talk) == "1h"
    assert talk.plans[-1].predicted.read > 0.8 * talk.windows[-2].tokens


def test_where_hardly_anybody_comes_back_in_time_the_tail_is_not_marked() -> None:
    talk = talk_of()
    for number in range(14):
        talk.turn(f"Question {number}").ask()
        talk.says("Yes.").end("Yes.").wait(3 * 3600)
    talk.turn("Still there?").ask()
    assert tail_ttl(talk) is None


def test_a_model_that_knows_no_hour_gets_no_long_point() -> None:
    talk = talk_of()
    talk.model = record("gpt-6.2-sol")
    for number in range(6):
        talk.turn(f"{WORDS} {number}").ask()
        assert set(ttls(talk)) == {"5m"}
        talk.says("Yes.").end("Yes.").wait(SHORT)


def test_a_point_of_a_model_with_longer_lifetimes_is_expected_to_live_as_long() -> None:
    talk = talk_of()
    talk.model = record("gpt-6.2-sol")
    talk.turn(WORDS).ask()
    before = talk.windows[-1].tokens
    talk.says("Yes.").end("Yes.").wait(LONG).turn("And?").ask()
    assert talk.plans[-1].predicted.read == before, "20 minutes are less than half an hour"


STEP = st.tuples(
    st.sampled_from(["talk", "tool", "call", "return"]),
    st.sampled_from([5, 60, 240, 400, 1500, 5000]),
    st.integers(0, 60),
)


@a_share(Fraction(1, 5))
@given(st.lists(STEP, min_size=1, max_size=14))
def test_whatever_happens_the_points_keep_the_rules_and_what_lives_is_read(
    steps: list[tuple[str, int, int]],
) -> None:
    talk = talk_of()
    for number, (what, pause, size) in enumerate(steps):
        talk.wait(pause).turn(f"Message {number}. " + "Words. " * size)
        _check(talk)
        if what == "tool":
            calls = [call(f"c{number}-{one}", kind="red") for one in range(1 + size // 2)]
            talk.says(calls=calls)
            for one in calls:
                talk.result(one.call_id, "stock", "free " * (size % 7))
            _check(talk)
        elif what == "call" and len(talk.state.frames) < 4:
            talk.call_frame("seat", f"f{number + 2}")
            _check(talk)
        elif what == "return" and len(talk.state.frames) > 1:
            talk.pop(value=1, summary="Done.")
            _check(talk)
        talk.says("Well. " * size or "Yes.").end("Well.")


def _check(talk: Talk) -> None:
    """One request, and the rules for its points."""
    talk.ask()
    window, plan, model = talk.windows[-1], talk.plans[-1], talk.model
    ids = [segment.id for segment in window.segments]
    places = [ids.index(point.segment) for point in plan.points]
    laid = lay_out(blocks_of(window.segments))
    assert len(places) <= 4
    assert all(one < other for one, other in pairwise(places))
    lives = [point.ttl for point in plan.points]
    assert lives == sorted(lives, key=("1h", "5m").index)
    assert all(laid.ends[place] >= model.minimum_cacheable for place in places)
    assert all(window.segments[place].kind != "thinking" for place in places)
    (lane,) = talk.state.windows.lanes.values()
    alive = living(laid, lane_store(lane.upto(len(lane) - 1), model, talk.now), talk.now)
    assert plan.predicted.read == (laid.ends[alive[-1]] if alive else 0)
