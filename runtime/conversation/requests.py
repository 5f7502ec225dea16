"""A request as the lane remembers it. Its window shares the storage of the agent's segments where they are
the same, so that a long session does not keep a list for each of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from runtime.conversation.appendlist import AppendList
from runtime.conversation.events import LLMCallStarted
from runtime.conversation.segments import Segment
from runtime.conversation.windows import AgentWindow, SentRequest, window_sent

SHORT_LIFE: Final = timedelta(minutes=5)
LONG_LIFE: Final = timedelta(hours=1)
"""The lifetimes of providers' caches: pauses are counted against them."""


def request_sent(requests: AppendList[SentRequest], agent: AgentWindow, event: LLMCallStarted) -> SentRequest:
    """The request that the event logs; `agent` is its agent's window after it."""
    short, long = _pauses(requests, event.at)
    return SentRequest(
        call=event.call,
        at=event.at,
        window=_window(_begins_like(requests, event), agent, event),
        cache_points=event.cache_points,
        gaps_under_5m=short,
        gaps_under_1h=long,
    )


def _pauses(requests: AppendList[SentRequest], at: datetime) -> tuple[int, int]:
    if not requests:
        return 0, 0
    last = requests[-1]
    gap = at - last.at
    return last.gaps_under_5m + (gap < SHORT_LIFE), last.gaps_under_1h + (gap < LONG_LIFE)


def _begins_like(requests: AppendList[SentRequest], event: LLMCallStarted) -> AppendList[Segment]:
    if event.window_of is None:
        return AppendList()
    if requests[-1].call == event.window_of:
        return requests[-1].window
    return next(request.window for request in reversed(requests) if request.call == event.window_of)


def _window(before: AppendList[Segment], agent: AgentWindow, event: LLMCallStarted) -> AppendList[Segment]:
    shared, whole = event.window_shared, agent.segments
    known = _known(agent, event)
    if len(whole) == shared + len(event.window_rest) and whole.begins_like(before, shared):
        rest = [known[segment] for segment in event.window_rest]
        if list(whole[shared:]) == rest:
            return whole
    return window_sent(event, before, known)


def _known(agent: AgentWindow, event: LLMCallStarted) -> Mapping[str, Segment]:
    """The segments behind the shared start, by id: nearly always just what the call added."""
    added = {segment.id: segment for segment in event.added}
    if added.keys() >= set(event.window_rest):
        return added
    return {segment.id: segment for segment in agent.segments}
