"""Deadlines of a turn, and timers that fire while the user is silent. Time is an argument."""

from __future__ import annotations

from datetime import datetime, timedelta

from runtime.conversation.state import Moving, RunningTurn, SessionState
from runtime.engine import turns
from runtime.engine.draft import Draft
from runtime.engine.ending import give_up_action, interrupt, time_out_loop
from runtime.engine.evaluating import due_at, evaluate
from runtime.engine.happened import Tick
from runtime.engine.table import Tables


def wake_at(tables: Tables, state: SessionState) -> datetime | None:
    """When a `Tick` is wanted if nothing else happens: the next deadline of what runs, or the first timer."""
    if state.moving is not None:
        return _end_of_action(tables, state, state.moving)
    if state.running is not None:
        return _next_deadline(tables, state, state.running)
    frame = state.frame
    if state.status != "idle" or frame is None:
        return None
    row = tables.of(frame).rows[frame.stage]
    times = [due_at(frame, rule) for rule in row.looked_at["timer"]]
    if row.stage.timeout_ms is not None and frame.idle_since is not None:
        times.append(frame.idle_since + (timedelta(milliseconds=row.stage.timeout_ms) - frame.idle))
    return min((time for time in times if time is not None), default=None)


def _end_of_action(tables: Tables, state: SessionState, moving: Moving) -> datetime | None:
    """An action's tool has the time that tools have in a turn, and at most until the turn's end."""
    times = [state.running.started_at + tables.root.turn_timeout] if state.running is not None else []
    if moving.waiting_since is not None:
        times.append(moving.waiting_since + tables.root.phase1_timeout)
    return min(times, default=None)


def _next_deadline(tables: Tables, state: SessionState, running: RunningTurn) -> datetime:
    end = running.started_at + tables.root.turn_timeout
    if running.phase1_started_at is None or not _in_loop(tables, state, running):
        return end
    return min(end, running.phase1_started_at + tables.root.phase1_timeout)


def _in_loop(tables: Tables, state: SessionState, running: RunningTurn) -> bool:
    """Whether the tool time matters now: nothing is shown yet, or tools run after text was shown."""
    frame = state.frame
    if frame is None or not tables.of(frame).rows[frame.stage].starts_with_tools:
        return False
    return running.closed_at is None and (running.phase == 1 or bool(running.pending))


def tick(draft: Draft, happened: Tick) -> None:
    """Do what has fallen due."""
    due = wake_at(draft.tables, draft.state)
    if due is None or draft.now < due:
        return
    running = draft.state.running
    if running is not None and draft.now >= running.started_at + draft.tables.root.turn_timeout:
        interrupt(draft, "timeout", happened)
    elif draft.state.moving is not None:
        give_up_action(draft)
    elif running is None:
        _timer(draft)
    else:
        time_out_loop(draft, happened)


def _timer(draft: Draft) -> None:
    rule = evaluate(draft, "timer")
    if rule is not None:
        turns.fire(draft, rule)
        return
    turns.leave_by_limit(draft, "timeout")
