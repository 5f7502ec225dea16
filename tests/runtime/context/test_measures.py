"""What is kept with the segments from call to call gives the very same windows as a look at everything."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.context.build import build_window
from runtime.context.cache_model import Entry, living
from runtime.context.cache_points import plan_cache_points
from runtime.context.measures import measure, prefixes
from runtime.context.rewrites import plan_rewrites
from runtime.conversation.appendlist import AppendList
from runtime.conversation.fold import fold
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from tests.runtime.context.talk import START, Talk, call
from tests.runtime.context.test_properties import ACTIONS, MODELS, Player


class Compared(Player):
    """Before each request the same is asked of a state that was just read from the log."""

    def ask(self, **more: Any) -> None:
        talk = self.talk
        assert planned(talk, talk.state) == planned(talk, fold("s", talk.log))
        super().ask(**more)


def planned(talk: Talk, state: SessionState) -> Any:
    policy = talk.policy()
    rewrites = plan_rewrites(talk.playbook, state, talk.model, policy)
    window = build_window(talk.playbook, state, talk.model, policy, now=talk.now)
    return rewrites, window, plan_cache_points(window, state, talk.model, policy, talk.now)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=9),
    st.sampled_from(MODELS),
    st.sampled_from(["append", "swap"]),
)
def test_a_session_that_went_on_asks_for_what_one_read_from_its_log_does(
    actions: list[str], model: str, layout: str
) -> None:
    player = Compared(model, layout)
    for action in actions:
        player.play(action)


def segment(number: int, kind: str) -> Segment:
    return Segment.model_validate(
        {
            "id": f"s{number}",
            "kind": kind,
            "role": "user",
            "text": "",
            "tokens": number,
            "hash": f"h{number}",
            "frame": f"f{number % 3}",
            "meta": {"model": f"m{number % 2}", "full": number % 2 == 0, "prompt": f"p{number % 4}"},
        }
    )


KINDS = st.sampled_from(["dialogue", "thinking", "stage"])


def everything(segments: AppendList[Segment]) -> dict[str, Any]:
    known, count = measure(segments), len(segments)
    laid = known.laid
    lists = {"ends": laid.ends[:count], "positions": laid.positions[:count], "keys": laid.keys[:count]}
    maps = {name: getattr(known, name) for name in ("frames", "thinkers", "prompts")}
    first = {name: {k: v for k, v in found.items() if v < count} for name, found in maps.items()}
    return lists | first | {"stages": [place for place in known.stages if place < count]}


@given(st.lists(KINDS, max_size=12), st.lists(st.tuples(st.integers(0, 12), KINDS), max_size=6))
def test_measures_of_a_list_that_forks_are_those_of_a_new_list(
    kinds: list[str], forks: list[tuple[int, str]]
) -> None:
    growing: AppendList[Segment] = AppendList()
    for number, kind in enumerate(kinds):
        growing = growing.append(segment(number, kind))
        measure(growing)
    versions = [growing]
    for number, (count, kind) in enumerate(forks, 20):
        versions.append(versions[-1].upto(count).append(segment(number, kind)))
    for version in versions:
        assert everything(version) == everything(AppendList(version))


@given(st.lists(KINDS, min_size=1, max_size=12), st.integers(0, 12))
def test_measures_taken_over_from_a_list_that_begins_alike_are_right(kinds: list[str], count: int) -> None:
    whole = AppendList(segment(number, kind) for number, kind in enumerate(kinds))
    measure(whole)
    other = AppendList([*whole[:count], segment(50, "dialogue"), segment(51, "stage")])
    measure(other, like=whole)
    assert everything(other) == everything(AppendList(other))


def test_a_call_looks_at_the_new_segments_only() -> None:
    talk = Talk().start("pick")
    for number in range(30):
        talk.exchange(f"say {number}", "yes")
    with patch("runtime.context.measures.positions_of", wraps=lambda segment: 1) as looked:
        talk.turn("look").ask()
    assert looked.call_count <= 6
    with patch("runtime.context.measures.positions_of", wraps=lambda segment: 1) as looked:
        talk.says(calls=[call("c1", kind="x")]).result("c1", "stock", 1).ask()
    assert looked.call_count <= 6


def test_prefixes_of_a_shorter_version_end_with_it() -> None:
    whole = AppendList(segment(number, "dialogue") for number in range(5))
    laid = prefixes(whole)
    shorter = prefixes(whole.upto(3))
    assert (laid.total, shorter.total) == (10, 3)
    store = {laid.keys[4]: Entry(START, START + timedelta(minutes=5), "5m", 4)}
    assert living(laid, store, START) == [4]
    assert living(shorter, store, START) == []
