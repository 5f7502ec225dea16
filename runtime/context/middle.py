"""The middle of a window: what may be shortened. Before it stands the head, behind it the newest turns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from runtime.context.measures import HEAD_KINDS, measure, prefixes
from runtime.context.policy import Policy
from runtime.context.sent import last_stage
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import AgentWindow

LEAST_TURNS = 2


@dataclass(frozen=True, slots=True)
class Middle:
    """Indexes into an agent's segments."""

    segments: AppendList[Segment]
    start: int
    """Behind the tools, the base and the first user message."""
    end: int
    """Where the newest turns begin, which are left alone as long as the window fits without them."""
    running: int
    """Where the running turn begins."""
    cuts: tuple[int, ...]
    """Places up to which whole turns can go, in order; those up to `end` first."""
    frames: tuple[tuple[str, int], ...]
    """The agent's open frames, outermost first, and where each begins."""

    @property
    def tokens(self) -> int:
        """How long it is."""
        return self.tokens_upto(self.end)

    def tokens_upto(self, end: int) -> int:
        """Tokens from the middle's start to there."""
        ends = prefixes(self.segments).ends
        return ends[end - 1] - (ends[self.start - 1] if self.start else 0) if end > self.start else 0

    def frame_at(self, index: int) -> str | None:
        """The frame whose part of the window the index lies in."""
        return next((frame for frame, start in reversed(self.frames) if start <= index), None)

    def holding(self) -> frozenset[int]:
        """Indexes of what holds now and would only have to be given anew: the current instructions with the
        text they refer to, and the state frames from the last complete one on."""
        return self._instructions() | self._states()

    def _instructions(self) -> frozenset[int]:
        last = last_stage(self.segments)
        if last is None:
            return frozenset()
        known = measure(self.segments)
        places = [place for place in known.stages if place < len(self.segments)]
        whole = known.prompts.get(last.meta.get("prompt", ""), places[-1])
        return frozenset({places[-1], whole})

    def _states(self) -> frozenset[int]:
        found: list[int] = []
        for index in range(len(self.segments) - 1, -1, -1):
            if self.segments[index].kind == "state":
                found.append(index)
                if self.segments[index].meta.get("full"):
                    break
        return frozenset(found)


def find_middle(state: SessionState, agent: AgentWindow, policy: Policy, *, keep_first: bool) -> Middle:
    """The middle of the agent's segments as they were sent. `keep_first`: the first user message is head."""
    segments = agent.segments
    known = measure(segments)
    turns = known.turns[: bisect_left(known.turns, len(segments))]
    frames = _frames(state, segments)
    running = _running(state, agent, turns)
    before = turns[: bisect_left(turns, running)]
    head = sum(1 for _ in takewhile(lambda segment: segment.kind in HEAD_KINDS, segments))
    start = min(before[0] + 1, running) if before and keep_first else min(head, running)
    end = max(start, _protected_from(segments, before, running, frames[-1][1] if frames else 0, policy))
    cuts = tuple(place for place in (*before, running) if place > start)
    return Middle(segments, start, end, running, cuts, frames)


def _frames(state: SessionState, segments: AppendList[Segment]) -> tuple[tuple[str, int], ...]:
    known, count = measure(segments).frames, len(segments)
    found = [(frame.id, known.get(frame.id, count)) for frame in state.own_frames]
    return tuple((frame, 0 if number == 0 else start) for number, (frame, start) in enumerate(found))


def _running(state: SessionState, agent: AgentWindow, turns: Sequence[int]) -> int:
    """The first segment of the running turn: nothing of it is replaced by a summary."""
    segments, count = agent.segments, len(agent.segments)
    if state.running is None and not agent.open_messages:
        return count
    first = min([agent.turn.first_seq or state.seq, *agent.open_messages])
    for turn in reversed(turns):
        sources = segments[turn].sources
        if sources and max(sources) < first:
            return count
        count = turn
    return count


def _protected_from(
    segments: AppendList[Segment], turns: Sequence[int], running: int, frame_start: int, policy: Policy
) -> int:
    """Where the newest whole turns of the innermost frame begin that fit into `keepRecent`; at least two."""
    ends = prefixes(segments).ends
    total = ends[running - 1] if running else 0
    end = running
    for kept, turn in enumerate(reversed(turns), start=1):
        tokens = total - (ends[turn - 1] if turn else 0)
        if kept > LEAST_TURNS and tokens > policy.keep_recent:
            break
        end = turn
        if turn < frame_start:
            break
    return end
