"""What a lane's requests left in the cache: the short way finds what the long way does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from runtime.context.cache_model import Store, send
from runtime.context.lane_cache import REMEMBERED, blocks_of, lane_store, marks_of
from runtime.context.models import record
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import CachePoint, Segment
from runtime.conversation.windows import SentRequest, Windows

SONNET = record("claude-sonnet-5")
AT = datetime(2026, 1, 5, tzinfo=UTC)
LANE = "|anthropic|claude-sonnet-5"


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


@given(
    st.lists(st.tuples(st.one_of(GROWING, WINDOW), POINTS, st.integers(1, 900)), max_size=REMEMBERED),
    st.one_of(GROWING, WINDOW),
)
def test_windows_that_share_their_beginning_are_worked_out_once_with_the_same_result(
    talk: Sequence[tuple[list[Segment], list[tuple[int, str]], int]], following: list[Segment]
) -> None:
    now, requests = AT, []
    expected: Store = {}
    for number, (window, points, pause) in enumerate(talk):
        now += timedelta(seconds=pause)
        marked = tuple(CachePoint.model_validate({"segment": f"s{i}", "ttl": ttl}) for i, ttl in points)
        requests.append(SentRequest(number, now, tuple(window), marked))
        expected = send(blocks_of(window), marks_of(window, marked), expected, SONNET, now).store
    windows = Windows(lanes={LANE: AppendList(requests)})
    assert lane_store(windows, LANE, SONNET, now, tuple(following), blocks_of(following)) == expected
    assert lane_store(windows, LANE, SONNET, now) == expected
