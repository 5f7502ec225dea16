"""What a lane's requests left in the cache: the short way finds what the long way does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import Store, send
from runtime.context.lane_cache import REMEMBERED, lane_store, marks_of
from runtime.context.measures import blocks_of
from runtime.context.models import record
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import SentRequest

SONNET = record("claude-sonnet-5")
AT = datetime(2026, 1, 5, tzinfo=UTC)


def segment(number: int) -> Segment:
    return Segment(
        id=f"s{number}", kind="dialogue", role="user", text="", tokens=400 + number, hash=f"h{number}"
    )


SEGMENTS = [segment(number) for number in range(12)]
WINDOW = st.lists(st.integers(0, 11), max_size=12, unique=True).map(
    lambda chosen: [SEGMENTS[i] for i in chosen]
)
GROWING = st.integers(0, 12).map(lambda length: SEGMENTS[:length])
POINTS = st.lists(
    st.tuples(st.integers(0, 11), st.sampled_from(["5m", "1h"])), max_size=4, unique_by=lambda p: p[0]
)


REQUEST = st.tuples(st.one_of(GROWING, WINDOW), POINTS, st.integers(1, 900))


def requests_of(talk: Sequence[tuple[list[Segment], list[tuple[int, str]], int]]) -> list[SentRequest]:
    now, requests = AT, []
    for number, (window, points, pause) in enumerate(talk):
        now += timedelta(seconds=pause)
        marked = tuple(CachePoint.model_validate({"segment": f"s{i}", "ttl": ttl}) for i, ttl in points)
        requests.append(SentRequest(number, now, AppendList(window), marked))
    return requests


def sent_one_by_one(requests: Sequence[SentRequest]) -> Store:
    store: Store = {}
    for request in requests:
        marks = marks_of(request.window, request.cache_points, SONNET)
        store = send(blocks_of(request.window), marks, store, SONNET, request.at).store
    return store


@given(st.lists(REQUEST, max_size=16))
def test_a_lane_has_what_its_requests_left_one_after_the_other(
    talk: Sequence[tuple[list[Segment], list[tuple[int, str]], int]],
) -> None:
    requests = requests_of(talk)
    at = requests[-1].at if requests else AT
    assert lane_store(AppendList(requests), SONNET, at) == sent_one_by_one(requests)


@given(st.lists(REQUEST, min_size=1, max_size=3 * REMEMBERED), st.integers(1, 9))
def test_asking_at_each_step_finds_what_asking_once_does(
    talk: Sequence[tuple[list[Segment], list[tuple[int, str]], int]], step: int
) -> None:
    requests = requests_of(talk)
    growing: AppendList[SentRequest] = AppendList()
    for number, request in enumerate(requests):
        growing = growing.append(request)
        if number % step == 0:
            once = lane_store(AppendList(requests[: number + 1]), SONNET, request.at)
            assert lane_store(growing, SONNET, request.at) == once


def test_a_lane_that_went_on_in_another_way_is_worked_out_anew() -> None:
    one, two, other = requests_of(
        [(SEGMENTS[:3], [(2, "5m")], 1), (SEGMENTS[:6], [(5, "5m")], 1), (SEGMENTS[4:9], [(8, "5m")], 1)]
    )
    start = AppendList([one])
    assert len(lane_store(start.append(two), SONNET, two.at)) == 2
    forked = start.append(other)
    assert lane_store(forked, SONNET, other.at) == sent_one_by_one([one, other])
    assert lane_store(start, SONNET, one.at) == sent_one_by_one([one])
