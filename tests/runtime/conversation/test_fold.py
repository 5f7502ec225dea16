"""The fold: a state is made of its log and of nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import apply, fold
from runtime.conversation.state import SessionState

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def log() -> list[ev.Event]:
    common: dict[str, Any] = {"session": "s", "at": NOW}
    return [
        ev.SessionStarted(seq=1, playbook="p", variables={"a": 1}, **common),
        ev.StageEntered(seq=2, stage="one", frame="f1", visit=1, prompt="Hi", **common),
        ev.TurnStarted(seq=3, turn=1, stage="one", **common),
        ev.UserMessageEvent(seq=4, turn=1, text="hello", client_id="m-1", **common),
        ev.Phase2Start(seq=5, turn=1, stage="one", **common),
        ev.Phase2Complete(seq=6, turn=1, stage="one", text="Hi", **common),
        ev.TurnComplete(seq=7, turn=1, stage="one", text="Hi", session="s", at=NOW + timedelta(seconds=2)),
        ev.StateChanged(seq=8, turn=1, set={"b": 2}, deleted=("a",), cause="user", **common),
    ]


def test_a_log_folds_into_the_state() -> None:
    state = fold("s", log())
    assert (state.seq, state.status, state.turn) == (8, "idle", 1)
    assert state.variables == {"b": 2}
    assert state.client_ids == ("m-1",)
    assert state.frame is not None
    assert (state.frame.turn_count, state.frame.last_activity) == (1, NOW + timedelta(seconds=2))


def test_a_prefix_of_the_log_is_an_earlier_state_that_later_events_do_not_change() -> None:
    states = [fold("s", log()[:length]) for length in range(len(log()) + 1)]
    state = SessionState(session="s")
    for event, expected in zip(log(), states[1:], strict=True):
        state = apply(state, event)
        assert state == expected
    assert states[3].running is not None
    assert states[3].variables == {"a": 1}


@pytest.mark.parametrize("seq", [0, 1, 3])
def test_a_gap_or_a_repeated_event_is_refused(seq: int) -> None:
    state = fold("s", log()[:1])
    event = ev.StateChanged(seq=seq, session="s", at=NOW, set={})
    with pytest.raises(ValueError, match="gap"):
        apply(state, event)
