"""The fold: a state is made of its log and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import CHANGES, apply, fold
from runtime.conversation.history import FOLDED, UNFOLDED, fold_without
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


def test_a_call_that_was_refused_before_it_began_has_spent_its_number() -> None:
    state = fold("s", log()[:4])
    failed = ev.LLMCallFailed(seq=5, session="s", at=NOW, turn=1, call=1, error="It does not fit.")
    assert apply(state, failed).calls == 1


def test_the_fold_knows_every_kind_of_event() -> None:
    assert set(CHANGES) == set(get_args(get_args(ev.Event)[0]))


@pytest.mark.parametrize("seq", [0, 1, 3])
def test_a_gap_or_a_repeated_event_is_refused(seq: int) -> None:
    state = fold("s", log()[:1])
    event = ev.StateChanged(seq=seq, session="s", at=NOW, set={})
    with pytest.raises(ValueError, match="gap"):
        apply(state, event)


def test_events_that_change_no_state_need_not_be_read() -> None:
    common: dict[str, Any] = {"session": "s", "at": NOW, "turn": 1}
    whole = [
        *log()[:3],
        ev.TransitionEvaluated(seq=4, transition="t", verdict=False, **common),
        ev.UserMessageEvent(seq=5, text="hello", **common),
        ev.CachePlanned(seq=6, call=1, **common),
        ev.TextWithdrawn(seq=7, call=1, text="x", **common),
    ]
    read = [event for event in whole if event.type not in UNFOLDED]
    assert len(read) == 4
    assert fold_without("s", read, 7) == fold("s", whole)


@pytest.mark.parametrize("kind", sorted(UNFOLDED))
def test_an_event_that_is_not_read_changes_nothing_but_the_number(kind: str) -> None:
    assert kind not in FOLDED
    state = fold("s", log()[:4])
    fields: dict[str, Any] = {"transition": "t", "verdict": True, "call": 1, "text": "x", "attempt": 1}
    fields |= {"error": "no", "call_id": "c", "name": "n", "approved": True, "classifier": "c"}
    fields |= {"stage": "one", "tool_choice": "auto", "lane": "|p|m", "rule": "pays", "decision": "no"}
    model = next(one for one in ev.EventBase.__subclasses__() if one.model_fields["type"].default == kind)
    known = {name: value for name, value in fields.items() if name in model.model_fields}
    event: Any = model(seq=5, session="s", at=NOW, turn=1, **known)
    after = apply(state, event)
    assert after == replace(state, seq=5)
