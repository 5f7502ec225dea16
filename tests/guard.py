"""The guard: what a request sent stays in place in the next one of its lane, unless a rewriting was logged.

On for every session that a test under `tests/runtime` runs (see `tests/runtime/conftest.py`): the provider's
cache lives on equal prefixes, and nothing but a comparison of all requests finds what breaks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from runtime.context.guard import prefix_violation
from runtime.conversation.appendlist import AppendList
from runtime.conversation.events import Event, LLMCallStarted, WindowRewritten
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.conversation.windows import SentRequest, agent_of, window_sent


class Guard:
    """A listener of one session that reports every violation."""

    def __init__(self, state: SessionState, report: Callable[[str], None]) -> None:
        self._report = report
        self._last: dict[str, SentRequest] = {}
        self._rewritten: dict[str, int] = {}
        """By lane: the first block of its last request that a logged rewriting may have changed."""
        self._known: dict[str, Segment] = {}
        for agent in state.windows.agents.values():
            self._learn(agent.segments)
        for lane, requests in state.windows.lanes.items():
            if requests:
                self._last[lane] = requests[-1]

    def __call__(self, item: Any) -> None:
        """Hears of everything; looks at requests and rewritings."""
        if isinstance(item, WindowRewritten):
            self._rewrite(item)
        elif isinstance(item, LLMCallStarted):
            self._request(item)

    def _learn(self, segments: Sequence[Segment]) -> None:
        self._known.update((segment.id, segment) for segment in segments)

    def _rewrite(self, event: WindowRewritten) -> None:
        self._learn(event.replacement)
        for lane, request in self._last.items():
            if agent_of(lane) != agent_of(event.lane):
                continue
            for index, block in enumerate(request.window):
                if event.from_segment == block.id:
                    self._rewritten[lane] = min(index, self._rewritten.get(lane, index))
                    break

    def _request(self, event: LLMCallStarted) -> None:
        self._learn(event.added)
        if not event.lane or event.phase == 0:
            return
        before = self._last.get(event.lane)
        window = window_sent(event, before.window if before is not None else AppendList(), self._known)
        request = SentRequest(call=event.call, at=event.at, window=window)
        if before is not None:
            violation = prefix_violation(before, request, self._rewritten.pop(event.lane, None))
            if violation is not None:
                self._report(violation)
        self._last[event.lane] = request


def violations(session: str, log: Sequence[Event]) -> list[str]:
    """All violations in a whole log."""
    found: list[str] = []
    guard = Guard(SessionState(session=session), found.append)
    for event in log:
        guard(event)
    return found
