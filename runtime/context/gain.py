"""What a rewriting would save in money, in units of one input token at its plain price.

`k·r·(M - S) > (w - r)·(S + U) + C` where the prefix that stays and the whole window are in the cache; from
what is in the cache in fact in any other case: a prefix without an entry has to be written again, and a
window that nothing is left of costs the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runtime.context.cache_model import living
from runtime.context.lane_cache import lane_store
from runtime.context.measures import prefixes
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.window import ContextWindow
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import shared_start
from runtime.playbook import Stage

MOST_TURNS = 8


@dataclass(frozen=True, slots=True)
class Gain:
    """The numbers of one rewriting; tokens but for `calls`, `read` and `write`."""

    calls: float
    """Calls still expected, this one included."""
    prefix: int
    """What stays before it."""
    removed: int
    summary: int
    """What stands for the removed."""
    suffix: int
    """What stands after it and is written again."""
    read: float
    write: float
    cost: float
    """What the rewriting costs once."""
    saves: float
    """What all expected calls save, less `cost`."""

    def numbers(self) -> dict[str, Any]:
        """As an event has them."""
        return {
            "calls": round(self.calls, 2),
            "prefix": self.prefix,
            "removed": self.removed,
            "summary": self.summary,
            "suffix": self.suffix,
            "read": self.read,
            "write": self.write,
            "cost": round(self.cost),
            "saves": round(self.saves),
        }


def gain_of(
    state: SessionState,
    window: ContextWindow,
    model: ModelRecord,
    policy: Policy,
    now: datetime,
    after: Sequence[Segment],
    stage: Stage | None,
) -> Gain:
    """What it saves to have `after` in place of the segments of `window` that were sent."""
    before = window.sent
    cached = bool(model.ttls) and policy.cache_points > 0
    read, write = (model.read_multiplier, model.write_multiplier("5m")) if cached else (1.0, 1.0)
    prefix = _tokens(before[: shared_start(before, after)])
    old, new = _tokens(before), _tokens(after)
    added = window.tokens - old
    kept = {segment.id for segment in after}
    removed = _tokens([segment for segment in before if segment.id not in kept])
    summary = new - old + removed
    stays, whole = _alive(state, window, model, now, prefix) if cached else (0, 0)
    once_old = read * whole + write * (old + added - whole)
    once_new = read * stays + write * (new + added - stays)
    calls = expected_calls(state, window, stage)
    return Gain(
        calls=calls,
        prefix=prefix,
        removed=removed,
        summary=summary,
        suffix=new - prefix - summary + added,
        read=read,
        write=write,
        cost=once_new - once_old + read * (old - new),
        saves=once_old - once_new + (calls - 1) * read * (old - new),
    )


def expected_calls(state: SessionState, window: ContextWindow, stage: Stage | None) -> float:
    """Calls per turn so far, times the turns that `maxTurns` leaves, at most eight; at least one."""
    requests, frame = len(state.windows.lane(window.lane)), state.frame
    left = MOST_TURNS
    if stage is not None and stage.max_turns is not None and frame is not None:
        left = min(left, max(0, stage.max_turns - frame.turn_count))
    return max(1.0, requests / max(1, state.turn) * left)


def _tokens(segments: Sequence[Segment]) -> int:
    return sum(segment.tokens for segment in segments)


def _alive(
    state: SessionState, window: ContextWindow, model: ModelRecord, now: datetime, prefix: int
) -> tuple[int, int]:
    """Tokens of the longest entry within the prefix, and of the longest of all."""
    laid = prefixes(window.sent)
    store = lane_store(state.windows.lane(window.lane), model, now)
    ends = [laid.ends[index] for index in living(laid, store, now)]
    return max((end for end in ends if end <= prefix), default=0), max(ends, default=0)
