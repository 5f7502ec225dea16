"""Which summary by rules a model should write anew, and what it is asked (policy `summaries: llm`).

The request repeats the lane's last one that still had the detail, with that request's cache points, and adds
one instruction: all that is read comes from the cache. What it says is used when the place is rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.context.gain import MOST_TURNS
from runtime.context.models import ModelRecord
from runtime.context.policy import Policy
from runtime.context.segments import SegmentMaker
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import ROOT_AGENT, AgentWindow, SentRequest, lane_of

WORDS: Final = 120
TOKENS: Final = 200
"""Expected length of what the model writes."""
_INSTRUCTION: Final = (
    "Write a summary of {what}, for yourself, when you will not see it any more: what was asked for, decided "
    "and done, names and numbers that matter, and what is still open. At most {words} words, as plain text. "
    "Call no tool and write nothing but the summary."
)


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One summary to be written."""

    lane: str
    by_rules: Segment
    base: SentRequest
    """The request that is repeated."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    pays: bool = True

    def instruction(self, maker: SegmentMaker, call: int) -> Segment:
        """What is added to the repeated request."""
        replaced = self.by_rules.replaced
        what = (
            replaced.what if replaced is not None and replaced.rule == "return" else "the conversation so far"
        )
        text = _INSTRUCTION.format(what=what, words=WORDS)
        return maker.make(f"c{call}.summarise", "tail", "system", text, label="asks for a summary")


def summary_wanted(state: SessionState, model: ModelRecord, policy: Policy) -> SummaryTask | None:
    """The newest summary by rules that no model was asked to write yet, if its detail is still known."""
    if policy.summaries != "llm" or not policy.compaction or state.frame is None:
        return None
    name = state.frame.agent or ROOT_AGENT
    agent, lane = state.windows.agent(name), lane_of(name, model.provider, model.id)
    for segment in reversed(agent.segments):
        if _is_open(agent, segment):
            base = _base_of(state, lane, segment)
            return None if base is None else _task(state, lane, segment, base, model)
    return None


def _is_open(agent: AgentWindow, segment: Segment) -> bool:
    by_rules = segment.kind == "summary" and segment.meta.get("origin") == "rules"
    return by_rules and segment.replaced is not None and segment.id not in agent.written


def _base_of(state: SessionState, lane: str, by_rules: Segment) -> SentRequest | None:
    """The last request of the lane that had all of what the summary stands for."""
    needed = set(by_rules.replaced.segments) if by_rules.replaced is not None else set()
    if not needed:
        return None
    for request in reversed(state.windows.lane(lane)):
        if needed <= {segment.id for segment in request.window}:
            return request
        if by_rules.id not in {segment.id for segment in request.window}:
            return None
    return None


def _task(
    state: SessionState, lane: str, by_rules: Segment, base: SentRequest, model: ModelRecord
) -> SummaryTask:
    """`k·r·(M - S) > C`: what the calls to come save by the shorter text, against what writing it costs."""
    removed = by_rules.replaced.tokens if by_rules.replaced is not None else 0
    whole = sum(segment.tokens for segment in base.window)
    calls = max(1.0, len(state.windows.lane(lane)) / max(1, state.turn) * MOST_TURNS)
    read = model.read_multiplier
    output = model.prices.output / model.prices.input if model.prices is not None else 0.0
    saves, cost = calls * read * max(0, removed - TOKENS), read * whole + output * TOKENS
    numbers = {
        "calls": round(calls, 2),
        "removed": removed,
        "prefix": whole - removed,
        "saves": round(saves),
        "cost": round(cost),
    }
    return SummaryTask(lane, by_rules, base, numbers, model.prices is None or saves > cost)
