"""A step in the making: the events logged so far, the state they fold to, and the effects wanted.

The only mutable thing in the engine, and it lives for one step. Every event is applied as it is logged, so
the state of a step cannot differ from the fold of its events.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from runtime.conversation.events import Event, EventBase
from runtime.conversation.fold import apply_to
from runtime.conversation.folding import Folding
from runtime.conversation.state import Frame, Moving, RunningTurn, SessionState
from runtime.engine.effects import Effect
from runtime.engine.table import StageRow, Table, Tables, may_use_artifacts
from runtime.playbook import Options

E = TypeVar("E", bound=EventBase)


class Draft:
    """Collects what one step logs and wants."""

    def __init__(self, tables: Tables, state: SessionState, now: datetime) -> None:
        self.tables = tables
        self.state = state
        """The state after the events so far. What it holds changes with the next one: read, then log."""
        self.now = now
        self.events: list[Event] = []
        self.effects: list[Effect] = []
        self._folding: Folding | None = None
        self._row: tuple[Frame, StageRow] | None = None

    def log(self, kind: type[E], /, *, turn: int | None = None, **fields: Any) -> E:
        """Append one event with the next `seq` and apply it."""
        folding = self._folding
        if folding is None:
            folding = self._folding = Folding(self.state)
            self.state = folding.state
        state = folding.state
        fields["seq"], fields["at"], fields["session"] = state.seq + 1, self.now, state.session
        fields["turn"] = state.turn if turn is None else turn
        event = kind.trusted(fields)
        logged: Any = event  # every kind is one of the union: what mypy cannot know of E
        apply_to(folding, logged)
        self.events.append(logged)
        return event

    def want(self, effect: Effect) -> None:
        """Ask the runner for an effect."""
        self.effects.append(effect)

    @property
    def options(self) -> Options:
        """The limits of the session: those of its own playbook, also while an agent's is on top."""
        return self.tables.root.playbook.options

    @property
    def table(self) -> Table:
        """The table of the current frame's document: the session's own, or an agent's."""
        return self.tables.current(self.state)

    @property
    def frame(self) -> Frame:
        """The current frame. Only where the session has started."""
        return self.state.frames[-1]

    @property
    def running(self) -> RunningTurn:
        """The running turn. Only where one runs."""
        assert self.state.running is not None, "no turn is running"
        return self.state.running

    @property
    def moving(self) -> Moving:
        """The transition being carried out. Only where there is one."""
        assert self.state.moving is not None, "no transition is being carried out"
        return self.state.moving

    @property
    def row(self) -> StageRow:
        """The row of the current stage."""
        frame = self.state.frames[-1]
        if self._row is None or self._row[0] is not frame:
            self._row = frame, self.tables.of(frame).rows[frame.stage]
        row = self._row[1]
        if self.state.artifacts and may_use_artifacts(self.table, self.state):
            return self.table.with_artifacts[frame.stage]
        return row
