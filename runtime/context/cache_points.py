"""plan_cache_points: where the provider is asked to cache, planned anew for each request (context.md).

Chosen are block ends x1 < … < xm that maximise the sum of (xi - xi-1) · G(xi), where G(x) is the probability
that the lane's next request still shares the first x tokens. Constraints are data of the model's record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Any, Final, Literal

from runtime.context.cache_model import LIFETIMES, Mark, Store, bill, living
from runtime.context.lane_cache import lane_store, marks_its_end
from runtime.context.lifetimes import long_points
from runtime.context.measures import HEAD_KINDS, measure, window_prefixes
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.staircase import Candidate, best_points
from runtime.context.window import ContextWindow
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import CachePoint, Prediction, Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import agent_of

MAX_CANDIDATES: Final = 24
TAIL_SURVIVAL: Final = 0.95
UNMARKABLE: Final = frozenset({"thinking"})

Ttl = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True)
class CachePlan:
    """The points of one request, what the cache model expects of them, and the numbers they rest on."""

    points: tuple[CachePoint, ...] = ()
    predicted: Prediction = field(default_factory=Prediction)
    numbers: Mapping[str, Any] = field(default_factory=dict)


def plan_cache_points(
    window: ContextWindow,
    state: SessionState,
    model: ModelRecord,
    policy: Policy,
    now: datetime,
    *,
    last_call: bool = False,
) -> CachePlan:
    """The cache points of this request. `last_call`: the session is known to end with it: no tail point.

    Calls without a lane (raw, classifier), models without a cache and a policy of 0 points get none.
    """
    if not window.lane or not window.segments or policy.cache_points == 0 or not model.ttls:
        return CachePlan(predicted=Prediction(fresh=window.tokens))
    return _Planner(window, state, model, policy, now, last_call).plan()


class _Planner:
    def __init__(
        self,
        window: ContextWindow,
        state: SessionState,
        model: ModelRecord,
        policy: Policy,
        now: datetime,
        last_call: bool,
    ) -> None:
        self.segments: tuple[Segment, ...] = window.segments
        self.state, self.model, self.policy, self.now = state, model, policy, now
        self.last_call = last_call
        whole = len(window.sent) + window.added == len(window.segments)
        self.sent: AppendList[Segment] = window.sent if whole else AppendList()
        self.laid = window_prefixes(self.sent, self.segments[len(self.sent) :])
        self.ends = self.laid.ends
        self.requests = state.windows.lane(window.lane)
        self.store: Store = lane_store(self.requests, model, now)
        self.agent = state.windows.agent(agent_of(window.lane))
        self.living = living(self.laid, self.store, now)
        self.frame_starts = self._frame_starts()
        self.base = self._base_index()
        self.long = long_points(self.requests, state.turn, self.laid, self.living, self.store, model, now)
        self.tail_ttl = None if last_call else self._tail_ttl()

    def plan(self) -> CachePlan:
        candidates, living = self._candidates(), self.living
        slots = min(self.policy.cache_points, self.model.points)
        written = self.ends[living[-1]] if living else 0
        premium = self._tail_threshold(self.tail_ttl or "5m")
        chosen = best_points(candidates, slots, premium=premium, written=written)
        long_until = self._long_until(chosen)
        points = tuple(
            CachePoint(
                segment=self.segments[candidate.index].id,
                ttl="1h" if candidate.index <= long_until else "5m",
                number=number,
                reason=candidate.reason,
            )
            for number, candidate in enumerate(chosen, start=1)
        )
        marks = [
            Mark(one.index, self.model.lifetime(point.ttl)) for one, point in zip(chosen, points, strict=True)
        ]
        implicit = marks_its_end(marks, len(self.segments))
        predicted, _ = bill(self.laid, marks, dict(self.store), self.model, self.now, implicit=implicit)
        return CachePlan(points=points, predicted=predicted, numbers=self._numbers(candidates))

    def _numbers(self, candidates: Sequence[Candidate]) -> dict[str, Any]:
        return {
            "returnProbability": round(self._return_probability(), 4),
            "gaps": self.gaps,
            "longPauses": round(self.long.pause, 4),
            "tailReuse": round(self._survival(len(self.segments) - 1), 4),
            "tailThreshold": round(self._tail_threshold(self.tail_ttl or "5m"), 4),
            "minimum": self.model.minimum_cacheable,
            "candidates": [
                {"segment": self.segments[c.index].id, "tokens": c.tokens, "survival": round(c.survival, 4)}
                for c in candidates
            ],
        }

    # -- candidates -----------------------------------------------------------------------------------------

    def _candidates(self) -> list[Candidate]:
        """Places where survival drops and that are long enough, the tail if it will be read, the anchor."""
        reasons: dict[int, str] = {}
        if self.tail_ttl is not None:
            reasons[len(self.segments) - 1] = "tail"
        for start in self.frame_starts:
            reasons.setdefault(self._markable(start - 1), "frame start")
        if self.base is not None:
            reasons[self.base] = "base"
        anchor = self._anchor(reasons)
        if anchor is not None:
            reasons.setdefault(anchor, "previous tail")
        found = [
            Candidate(
                index=index,
                tokens=self.ends[index],
                survival=self._survival(index),
                reason=reason,
                forced=index in (anchor, self.base),
            )
            for index, reason in sorted(reasons.items())
            if index >= 0 and self.ends[index] >= self.model.minimum_cacheable
        ]
        return found[-MAX_CANDIDATES:]

    def _markable(self, index: int) -> int:
        while index >= 0 and self.segments[index].kind in UNMARKABLE:
            index -= 1
        return index

    def _anchor(self, marked: Mapping[int, str]) -> int | None:
        """The longest living entry, where no candidate's look-back would find it: it must be marked again."""
        living = self.living
        if not living or not self.model.look_back:
            return None
        entry = living[-1]
        positions = self.laid.positions
        reach = (positions[i] - positions[entry] for i in marked if i >= entry)
        return None if any(distance < self.model.look_back for distance in reach) else entry

    def _base_index(self) -> int | None:
        head = list(takewhile(lambda segment: segment.kind in HEAD_KINDS, self.segments))
        return len(head) - 1 if head else None

    def _frame_starts(self) -> list[int]:
        """Index of the first segment of each open called frame, outermost first."""
        found = (self._first_of(frame.id) for frame in self.state.frames[1:])
        return [start for start in found if start is not None]

    def _first_of(self, frame: str) -> int | None:
        sent = len(self.sent)
        known = measure(self.sent).frames.get(frame, sent)
        if known < sent:
            return known
        added = enumerate(self.segments[sent:], sent)
        return next((index for index, segment in added if segment.frame == frame), None)

    @property
    def gaps(self) -> int:
        """How many pauses the lane has had."""
        return max(0, len(self.requests) - 1)

    # -- survival -------------------------------------------------------------------------------------------

    def _survival(self, index: int) -> float:
        """G: the chance that the lane's next request still shares everything up to this block, in time."""
        is_tail = index == len(self.segments) - 1
        stands = self._stands(index) * (TAIL_SURVIVAL if is_tail else 1.0)
        return stands * self._in_time(self._expected_ttl(index))

    def _stands(self, index: int) -> float:
        """The chance that no return before the next request takes it away."""
        pops = sum(1 for start in self.frame_starts if index >= start)
        return (1 - self._return_probability()) ** pops

    def _expected_ttl(self, index: int) -> Ttl:
        """The lifetime that a point there has at least."""
        if self._short_lived():
            return "5m"
        if self.policy.cache_ttl == "1h" or self.tail_ttl == "1h":
            return "1h"
        return "1h" if self.base is not None and index <= self.base else "5m"

    def _return_probability(self) -> float:
        if len(self.state.frames) < 2:
            return 0.0
        return min(1.0, (self.agent.returns + 1) / (self.agent.nested_calls + 10))

    def _in_time(self, ttl: Ttl) -> float:
        last = self.requests[-1] if self.requests else None
        is_short = LIFETIMES[self.model.lifetime(ttl)] <= LIFETIMES["5m"]
        in_time = 0 if last is None else last.gaps_under_5m if is_short else last.gaps_under_1h
        return (in_time + 1) / (self.gaps + 2)

    def _tail_threshold(self, ttl: Ttl) -> float:
        """Below this chance of being read a write costs more than it saves."""
        write = self.model.write_multiplier(ttl)
        return (write - 1) / (write - self.model.read_multiplier)

    # -- lifetimes ------------------------------------------------------------------------------------------

    def _short_lived(self) -> bool:
        """Whether no point may live long, or none has to be chosen for it."""
        return "1h" not in self.model.ttls or self.policy.cache_ttl == "5m"

    def _tail_ttl(self) -> Ttl | None:
        """The lifetime with which the tail is worth its write; None: it will probably not be read again."""
        stands = self._stands(len(self.segments) - 1) * TAIL_SURVIVAL
        lives: tuple[Ttl, ...] = ("5m",) if self._short_lived() else ("5m", "1h")
        if self.policy.cache_ttl == "1h":
            lives = lives[-1:]
        return next((ttl for ttl in lives if stands * self._in_time(ttl) >= self._tail_threshold(ttl)), None)

    def _long_until(self, chosen: Sequence[Candidate]) -> int:
        """Index of the last point that lives an hour; -1 for none. Those before it do, too."""
        indexes = [candidate.index for candidate in chosen]
        if self._short_lived() or not chosen:
            return -1
        tail = len(self.segments) - 1
        if self.policy.cache_ttl == "1h" or (self.tail_ttl == "1h" and tail in indexes):
            return indexes[-1]
        long = self.long.best([candidate.tokens for candidate in chosen])
        found = [self.base if self.base is not None else -1]
        found += [index for index in indexes if self.ends[index] == long]
        found += [i for i in self.living if i in indexes and self.store[self.laid.keys[i]].ttl == "1h"]
        return max(index for index in (-1, *found))
