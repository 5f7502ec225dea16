"""A log as it was at some point, and a log that is read in part: what opening, rewinding and forking need."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final, get_args

from runtime.conversation.events import Event
from runtime.conversation.evolving import evolve
from runtime.conversation.fold import apply
from runtime.conversation.state import SessionState

UNFOLDED: Final = frozenset(
    {
        "transition_evaluated",
        "cache_planned",
        "compaction_planned",
        "intent_classified",
        "tool_choice_unmet",
        "llm_call_retry",
        "text_withdrawn",
        "approval_requested",
        "approval_answered",
    }
)
"""Types of the events that say something and change no state: opening a session need not read them."""

FOLDED: Final = (
    frozenset(kind.model_fields["type"].default for kind in get_args(get_args(Event)[0])) - UNFOLDED
)
"""Types of the events that make a state."""


def fold_without(session: str, events: Iterable[Event], seq: int) -> SessionState:
    """The state after event `seq`, from a log that was read without its events of the types in UNFOLDED."""
    state = SessionState(session=session)
    for event in events:
        state = apply(state if state.seq == event.seq - 1 else evolve(state, seq=event.seq - 1), event)
    return evolve(state, seq=max(seq, state.seq))


def until_turn(events: Iterable[Event], turn: int) -> tuple[Event, ...]:
    """The log as it was when that turn had ended and the next had not begun: what a rewind and a fork go on
    from. What happened between the two (a timer, a variable set by hand) belongs to the earlier one."""
    return tuple(takewhile(lambda event: event.turn <= turn, events))
