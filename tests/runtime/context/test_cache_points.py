"""Cache points, cases M1 to M7, and what the planner expects of them."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.build import build_window
from runtime.context.cache_points import plan_cache_points
from runtime.context.models import record
from runtime.context.staircase import Candidate, best_points
from tests.runtime.context.talk import Talk, call, playbook

LONG_PROMPT = "Every bike has a number, a colour and a frame size. " * 120
"""About 1,900 tokens for a current Claude model: more than any minimum of the Sonnet family."""


def long_playbook(**more: object) -> object:
    return playbook(globalSystemPrompt=LONG_PROMPT, **more)


def long_talk(**more: object) -> Talk:
    return Talk(long_playbook(**more)).start("pick")  # type: ignore[arg-type]


def reasons(talk: Talk) -> list[str]:
    return [point.reason for point in talk.plans[-1].points]


def candidates(*pairs: tuple[int, float], forced: tuple[int, ...] = ()) -> list[Candidate]:
    return [Candidate(i, tokens, survival, forced=i in forced) for i, (tokens, survival) in enumerate(pairs)]


def staircase(chosen: list[Candidate]) -> float:
    total, start = 0.0, 0
    for candidate in chosen:
        total += (candidate.tokens - start) * candidate.survival
        start = candidate.tokens
    return total


def test_base_and_five_candidates_give_four_points_with_the_base_among_them() -> None:
    offered = candidates(
        (4000, 1.0), (9000, 0.99), (20000, 0.93), (34000, 0.86), (52000, 0.7), (70000, 0.38), forced=(0,)
    )
    chosen = best_points(offered, 4)
    assert len(chosen) == 4
    assert chosen[0].tokens == 4000


def test_the_worked_example_of_four_points_is_found() -> None:
    offered = candidates(
        (4000, 1.0),
        (9000, 0.99),
        (20000, 0.93),
        (34000, 0.86),
        (52000, 0.7),
        (60000, 0.62),
        (66000, 0.5),
        (70000, 0.38),
    )
    premium = (1.25 - 1) / (1.25 - 0.1)
    assert [c.tokens for c in best_points(offered, 4, premium=premium)] == [20000, 34000, 52000, 66000]


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 1)), min_size=1, max_size=7),
    st.integers(1, 4),
    st.sets(st.integers(0, 6), max_size=2),
)
def test_no_choice_is_better_than_the_planners(
    steps: list[tuple[int, float]], slots: int, forced: set[int]
) -> None:
    tokens, survival, offered = 0, 1.0, []
    for index, (step, factor) in enumerate(steps):
        tokens, survival = tokens + step, survival * factor
        offered.append(Candidate(index, tokens, survival, forced=index in forced))
    must = [c.index for c in offered if c.forced][-slots:]
    best = max(
        staircase(list(choice))
        for size in range(slots + 1)
        for choice in combinations(offered, size)
        if set(must) <= {c.index for c in choice}
    )
    chosen = best_points(offered, slots)
    assert set(must) <= {c.index for c in chosen}
    assert len(chosen) <= slots
    assert staircase(chosen) == pytest.approx(best)


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 1)), min_size=1, max_size=7),
    st.integers(1, 4),
    st.floats(0, 1),
    st.integers(0, 12_000),
)
def test_no_choice_is_better_where_the_last_write_costs_and_greedy_choices_are_no_exception(
    steps: list[tuple[int, float]], slots: int, premium: float, written: int
) -> None:
    tokens, survival, offered = 0, 1.0, []
    for index, (step, factor) in enumerate(steps):
        tokens, survival = tokens + step, survival * factor
        offered.append(Candidate(index, tokens, survival))

    def value(choice: list[Candidate]) -> float:
        last = choice[-1].tokens if choice else 0
        return staircase(choice) - premium * max(0, last - written)

    chosen = best_points(offered, slots, premium=premium, written=written)
    choices = [list(c) for size in range(slots + 1) for c in combinations(offered, size)]
    assert value(chosen) == pytest.approx(max(map(value, choices)), abs=1e-6)
    greedy: list[Candidate] = []
    while len(greedy) < slots:
        more = [sorted([*greedy, c], key=lambda one: one.index) for c in offered if c not in greedy]
        better = max(more, key=value, default=greedy)
        if value(better) <= value(greedy):
            break
        greedy = better
    assert value(chosen) >= value(greedy) - 1e-6


def test_base_and_tail_are_marked_and_the_base_lives_longer() -> None:
    talk = long_talk()
    talk.turn("hi").ask()
    points = talk.plans[-1].points
    assert [(p.reason, p.ttl, p.number) for p in points] == [("base", "1h", 1), ("tail", "5m", 2)]
    assert points[0].segment == "base"


def test_the_next_request_reads_what_the_last_one_wrote() -> None:
    talk = long_talk().exchange("hi", "hello")
    first = talk.plans[-1].predicted
    talk.wait(30).turn("again").ask()
    second = talk.plans[-1].predicted
    assert first.read == 0
    assert second.read == first.write1h + first.write5m
    assert second.fresh == 0
    assert second.write5m + second.write1h == sum(s.tokens for s in talk.windows[-1].segments[-2:])


def test_nothing_is_read_after_the_lifetime_but_the_base_that_lives_an_hour() -> None:
    talk = long_talk().exchange("hi", "hello")
    base = talk.plans[-1].predicted.write1h
    talk.wait(20 * 60).turn("again").ask()
    assert talk.plans[-1].predicted.read == base
    talk.says("ok").end("ok").wait(2 * 3600).turn("later").ask()
    assert talk.plans[-1].predicted.read == 0


def test_a_base_under_the_minimum_gets_no_point() -> None:
    talk = Talk(playbook(context={"artifactTools": False})).start("pick")
    talk.turn("hi").ask()
    assert talk.plans[-1].points == ()
    assert talk.plans[-1].predicted.fresh == talk.windows[-1].tokens


def test_a_prefix_shorter_than_the_models_own_minimum_gets_no_point() -> None:
    talk = long_talk()
    talk.model = record("claude-haiku-4-5")
    talk.turn("hi").ask()
    assert talk.plans[-1].points == ()


def test_six_frames_deep_the_base_and_the_tail_are_among_four_points() -> None:
    talk = long_talk().turn("go")
    for depth in range(2, 7):
        talk.ask()
        talk.says(calls=[call(f"c{depth}", "playbook_transition", targetStage="seat")])
        talk.result(f"c{depth}", "playbook_transition", {"movedTo": "seat"})
        talk.call_frame("seat" if depth % 2 == 0 else "pick", f"f{depth}")
    talk.ask()
    assert len(talk.plans[-1].points) == 4
    assert reasons(talk)[0] == "base"
    assert reasons(talk)[-1] == "tail"
    assert "frame start" in reasons(talk)


def test_twenty_five_new_blocks_mark_the_previous_tail_again() -> None:
    talk = long_talk().turn("compare them all")
    talk.ask()
    wrote = talk.plans[-1].predicted
    calls = [call(f"c{i}", kind=f"k{i}") for i in range(12)]
    talk.says("Let me look.", calls=calls)
    for made in calls:
        talk.result(made.call_id, "stock", {"free": 1})
    talk.ask()
    assert "previous tail" in reasons(talk)
    assert talk.plans[-1].predicted.read == wrote.write1h + wrote.write5m


def test_a_few_new_blocks_leave_the_previous_tail_unmarked() -> None:
    talk = long_talk().exchange("hi", "hello")
    talk.turn("more").ask()
    assert "previous tail" not in reasons(talk)
    assert talk.plans[-1].predicted.read > 0


def test_the_last_call_of_a_session_marks_no_tail() -> None:
    talk = long_talk().turn("bye")
    policy = talk.policy()
    window = build_window(talk.playbook, talk.state, talk.model, policy, now=talk.now)
    plan = plan_cache_points(window, talk.state, talk.model, policy, talk.now, last_call=True)
    assert [point.reason for point in plan.points] == ["base"]


def test_a_tail_that_will_probably_not_be_read_in_time_is_not_marked() -> None:
    talk = long_talk()
    for _ in range(8):
        talk.exchange("hi", "hello").wait(3 * 3600)
    talk.turn("again").ask()
    assert "tail" not in reasons(talk)


@pytest.mark.parametrize("ttl", ["auto", "5m", "1h"])
def test_every_long_point_stands_before_every_short_one(ttl: str) -> None:
    talk = long_talk(context={"cacheTtl": ttl})
    talk.exchange("hi", "hello").turn("more").ask()
    lives = [point.ttl for point in talk.plans[-1].points]
    assert lives == sorted(lives, key=("1h", "5m").index)
    if ttl != "auto":
        assert set(lives) == {ttl}


def test_common_pauses_of_ten_minutes_make_everything_live_an_hour() -> None:
    talk = long_talk()
    for _ in range(10):
        talk.exchange("hi", "hello").wait(600)
    talk.turn("again").ask()
    assert {point.ttl for point in talk.plans[-1].points} == {"1h"}
    talk.says("ok").end("ok").wait(10).turn("more").ask()
    assert {point.ttl for point in talk.plans[-1].points} == {"1h"}


def test_no_points_where_the_policy_wants_none() -> None:
    talk = long_talk(context={"cachePoints": 0})
    talk.turn("hi").ask()
    assert talk.plans[-1].points == ()


def test_the_numbers_say_what_the_decision_rests_on() -> None:
    talk = long_talk()
    talk.turn("hi").ask()
    numbers = talk.plans[-1].numbers
    assert numbers["minimum"] == 1024
    assert numbers["tailReuse"] > numbers["tailThreshold"]
    assert [c["segment"] for c in numbers["candidates"]] == ["base", talk.windows[-1].segments[-1].id]


def test_a_return_reads_the_cache_up_to_the_callers_place() -> None:
    talk = long_talk().exchange("hi", "hello").turn("a seat")
    talk.ask()
    talk.says(calls=[call("c1", "playbook_transition", targetStage="seat")])
    talk.result("c1", "playbook_transition", {"movedTo": "seat"}).call_frame("seat", "f2")
    talk.ask()
    start = next(p.segment for p in talk.plans[-1].points if p.reason == "frame start")
    talk.now += timedelta(seconds=5)
    talk.says("which?").end("which?").turn("9A").ask()
    talk.says(calls=[call("c2", "playbook_transition", targetStage="return")])
    talk.result("c2", "playbook_transition", {"movedTo": "return"}).pop(1, "done")
    window = talk.ask()
    ids = [segment.id for segment in window.segments]
    kept = sum(segment.tokens for segment in window.segments[: ids.index(start) + 1])
    assert talk.plans[-1].predicted.read == kept
