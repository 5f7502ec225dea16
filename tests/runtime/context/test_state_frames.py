"""State frames, cases S1 to S18: what the model is told of the state, and when."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.state_frames import (
    FullState,
    Known,
    StateDelta,
    apply_frame,
    digest,
    next_frame,
    still_known,
)
from runtime.conversation.snapshot import canonical, snapshot
from tests.runtime.context.talk import Talk, of_kind, playbook, texts


def state(variables: Any = None, agents: Any = (), artifacts: Any = None, stack: Any = ("greet",)) -> Any:
    return {
        "variables": variables or {},
        "agents": list(agents),
        "artifacts": artifacts or {},
        "call_stack": list(stack),
    }


def frame(base: Any, now: Any, **options: Any) -> Any:
    settings = {"number": 2, "since_full": 0, "interval": 8, "compression": True}
    return next_frame(base, now, **{**settings, **options})


PADDING = {"note": "x" * 400}
"""Makes a full frame longer than any change."""


def test_the_first_frame_is_full_with_variables_and_agents() -> None:
    talk = Talk().start(variables={"city": "Pune"}, agents=["Host"])
    talk.turn("hi")
    text = texts(talk.ask(), "state")[0]
    body = json.loads(text.split(": ", 1)[1])
    assert text.startswith("State 1 (")
    assert body["variables"] == {"city": "Pune"}
    assert body["agents"] == ["Host"]
    assert body["call_stack"] == ["greet"]


def test_nothing_changed_adds_no_segment_and_counts_as_an_empty_frame() -> None:
    talk = Talk().start()
    talk.exchange("hi", "hello")
    window = talk.turn("again").ask()
    assert len(texts(window, "state")) == 1
    assert window.empty_state
    assert talk.state.windows.agent().since_full == 1


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        ({}, {"seat": "14C"}, {"new_variables": {"seat": "14C"}}),
        ({"seat": "14C"}, {"seat": "2A"}, {"changed_variables": {"seat": "2A"}}),
        ({"seat": "14C"}, {}, {"deleted_variables": ["seat"]}),
        (
            {"b": 1, "c": 2},
            {"a": 0, "b": 9},
            {"new_variables": {"a": 0}, "changed_variables": {"b": 9}, "deleted_variables": ["c"]},
        ),
        ({"flag": 1}, {"flag": True}, {"changed_variables": {"flag": True}}),
        ({}, {"items": 1, "keys": 2, "get": 3, "class": 4}, None),
    ],
)
def test_a_change_of_variables_names_exactly_what_changed(before: Any, after: Any, body: Any) -> None:
    made = frame(state({**PADDING, **before}), state({**PADDING, **after}))
    assert isinstance(made, StateDelta)
    assert made.body == (body or {"new_variables": after})


def test_agents_that_come_and_go_are_named() -> None:
    base = state(PADDING, agents=["Host"])
    came = frame(base, state(PADDING, agents=["Host", "Player(agent 1001)"]))
    assert came.body == {"new_agents": ["Player(agent 1001)"]}
    gone = frame(apply_frame(base, came), state({**PADDING, "move": "e4"}, agents=["Host"]))
    assert gone.body == {"new_variables": {"move": "e4"}, "deleted_agents": ["Player(agent 1001)"]}


def test_a_list_changed_in_place_is_a_change_with_the_whole_list() -> None:
    talk = Talk().start(variables={"list": [1], **PADDING})
    talk.exchange("hi", "hello")
    changed = talk.state.variables["list"]
    changed.append(2)
    text = texts(talk.turn("more").ask(), "state")[-1]
    assert '{"changed_variables":{"list":[1,2]}}' in text


def test_an_interval_of_three_gives_one_full_frame_after_three_changes() -> None:
    talk = Talk(playbook(context={"fullStateInterval": 3})).start(variables=PADDING)
    for number in range(5):
        talk.set(step=number).exchange("go", "on")
    talk.turn("last").ask()
    full = [segment.meta["full"] for segment in talk.windows[-1].segments if segment.kind == "state"]
    assert full == [True, False, False, False, True]


def test_a_full_frame_that_falls_due_waits_for_the_next_change() -> None:
    talk = Talk(playbook(context={"fullStateInterval": 2})).start(variables=PADDING)
    for _ in range(5):
        talk.exchange("go", "on")
    assert len(texts(talk.windows[-1], "state")) == 1
    talk.set(step=1).turn("now").ask()
    assert [s.meta["full"] for s in talk.windows[-1].segments if s.kind == "state"] == [True, True]


def test_without_compression_every_frame_is_full() -> None:
    made = frame(state(PADDING), state({**PADDING, "a": 1}), compression=False)
    assert isinstance(made, FullState)


def test_a_delta_larger_than_the_full_state_gives_way_to_it() -> None:
    base = state({f"old{i}": 1 for i in range(30)})
    assert isinstance(frame(base, state({"only": 1})), FullState)


def test_private_names_never_stand_in_a_window() -> None:
    talk = Talk().start(variables={"_token": "s3cret", "city": "Pune"})
    talk.turn("hi").ask()
    talk.says("ok").end("ok").set(_token="other-s3cret", _more="s3cret").turn("hm").ask()
    assert "s3cret" not in "".join(segment.text for window in talk.windows for segment in window.segments)
    assert talk.windows[-1].empty_state


def test_each_frame_names_its_number_and_its_base() -> None:
    first = FullState(1, state(PADDING))
    second = frame(state(PADDING), state({**PADDING, "a": 1}))
    assert digest(first.body) in first.text
    assert second.base == digest(first.body)
    assert second.text.startswith(f"State 2, changes to state 1 ({second.base}): ")


def test_numbers_have_no_gaps_where_calls_changed_nothing_and_labels_name_the_base() -> None:
    talk = Talk().start(variables=PADDING)
    talk.exchange("hi", "hello").exchange("still", "nothing").exchange("new", "here")
    talk.set(step=1).turn("now").ask()
    frames = of_kind(talk.windows[-1], "state")
    assert [segment.meta["number"] for segment in frames] == [1, 2]
    assert [segment.label for segment in frames] == ["state 1, complete", "state 2, changes to state 1"]


def test_the_base_that_changes_name_is_the_state_frame_before_them_in_the_window() -> None:
    talk = Talk().start(variables=PADDING).exchange("hi", "hello")
    talk.set(step=1).exchange("one", "done").enter("pick").call_frame("seat", "f2").exchange("seat", "which")
    talk.pop(value="14C").set(seat="14C").exchange("back", "fine").exchange("more", "fine")
    talk.set(step=2).turn("last").ask()
    frames = of_kind(talk.windows[-1], "state")
    assert [segment.meta["full"] for segment in frames] == [True, False, False, False]
    for before, segment in pairwise(frames):
        if not segment.meta["full"]:
            assert f"changes to state {before.meta['number']} (" in segment.text
    assert still_known([segment.text for segment in frames]).base == talk.windows[-1].state_snapshot


def test_a_state_whose_whole_frame_left_the_window_is_not_known() -> None:
    whole, first, second = frames_of({"a": 1}, {"a": 2}, {"a": 3})
    assert still_known([whole, first, second]) == Known(snapshot_of({"a": 3}), 3, 2)
    assert still_known([whole, first]) == Known(snapshot_of({"a": 2}), 2, 1)
    assert still_known([first, second]).base is None
    assert still_known([whole, second]).base is None
    assert still_known([whole, second, whole]) == Known(snapshot_of({"a": 1}), 1, 0)
    assert still_known([]).base is None


def snapshot_of(variables: dict[str, Any]) -> dict[str, Any]:
    known = {**PADDING, **variables}
    return {"variables": known, "agents": ["User"], "artifacts": {}, "call_stack": ["pick"]}


def frames_of(*states: dict[str, Any]) -> list[str]:
    """The texts of the frames of a state that changes like that."""
    found: list[str] = []
    base = None
    for number, state in enumerate(states, start=1):
        now = snapshot_of(state)
        frame = next_frame(base, now, number=number, since_full=number - 1, interval=8, compression=True)
        assert frame is not None
        found.append(frame.text)
        base = now
    return found


def test_a_whole_state_that_nobody_asked_for_waits_while_it_is_longer_than_what_changed() -> None:
    base, now = snapshot_of({"a": 1}), snapshot_of({"a": 2})
    full = len(FullState(2, now).text)

    def is_full(changed: int | None) -> bool:
        due = next_frame(base, now, number=2, since_full=8, interval=8, compression=True, changed=changed)
        return isinstance(due, FullState)

    assert is_full(None)
    assert is_full(full)
    assert not is_full(full - 1)


def test_a_new_summary_of_an_artifact_is_listed_as_new() -> None:
    base, now = state(PADDING, artifacts={"plan": "old"}), state(PADDING, artifacts={"plan": "new"})
    assert frame(base, now).body == {"new_artifacts": {"plan": "new"}}
    assert frame(now, state(PADDING)).body == {"deleted_artifacts": ["plan"]}


def test_reordered_agents_are_sent_as_a_full_frame() -> None:
    made = frame(state(PADDING, agents=["a", "b"]), state(PADDING, agents=["b", "a"]))
    assert isinstance(made, FullState)


def test_a_delta_without_its_base_is_an_error() -> None:
    with pytest.raises(ValueError, match="base"):
        apply_frame(None, StateDelta(2, "x", {}))


def test_a_snapshot_is_a_deep_copy() -> None:
    talk = Talk().start(variables={"list": [1]})
    before = copy.deepcopy(snapshot(talk.state))
    talk.state.variables["list"].append(2)
    assert before["variables"] == {"list": [1]}
    assert snapshot(talk.state)["variables"] == {"list": [1, 2]}


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["items", "keys", "get", "class", "seat", "b", "größe", ""])
states = st.builds(
    state,
    variables=st.dictionaries(names, values, max_size=5),
    agents=st.lists(st.sampled_from(["Host", "Ada", "Bo"]), unique=True),
    artifacts=st.dictionaries(names, st.text(max_size=5), max_size=3),
    stack=st.lists(st.sampled_from(["greet", "pick"]), min_size=1, max_size=3),
)


@given(st.lists(states, min_size=1, max_size=8), st.integers(1, 4), st.booleans())
def test_applying_the_frames_in_order_gives_the_real_state(
    edits: list[Any], interval: int, compression: bool
) -> None:
    base: Any = None
    since_full = 0
    for number, now in enumerate(edits, start=1):
        made = next_frame(
            base, now, number=number, since_full=since_full, interval=interval, compression=compression
        )
        known = apply_frame(base, made) if made is not None else base
        assert canonical(known) == canonical(now)
        since_full = 0 if isinstance(made, FullState) else since_full + 1
        base = known
