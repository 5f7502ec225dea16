"""A log as it was at some point, and a log that is read in part: what opening, rewinding and forking need."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from runtime.conversation.events import Event
from runtime.conversation.fold import CHANGES, apply_to
from runtime.conversation.folding import Folding
from runtime.conversation.state import SessionState

UNFOLDED: Final = frozenset(kind.model_fields["type"].default for kind, done in CHANGES.items() if not done)
"""Types of the events that say something and change no state: opening a session need not read them."""

FOLDED: Final = frozenset(kind.model_fields["type"].default for kind in CHANGES) - UNFOLDED
"""Types of the events that make a state."""


def fold_without(session: str, events: Iterable[Event], seq: int) -> SessionState:
    """The state after event `seq`, from a log that was read without its events of the types in UNFOLDED."""
    folding = Folding(SessionState(session=session))
    for event in events:
        folding.state.seq = event.seq - 1
        apply_to(folding, event)
    folding.state.seq = max(seq, folding.state.seq)
    return folding.state


def until_turn(events: Iterable[Event], turn: int) -> tuple[Event, ...]:
    """The log as it was when that turn had ended and the next had not begun: what a rewind and a fork go on
    from. What happened between the two (a timer, a variable set by hand) belongs to the earlier one."""
    return tuple(takewhile(lambda event: event.turn <= turn, events))
