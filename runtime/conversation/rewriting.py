"""What a rewriting leaves behind: what stands for what, and the detail that may come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.conversation.segments import Segment
from runtime.conversation.window_events import WindowRewritten
from runtime.conversation.windows import AgentWindow

COMPACTING: Final = frozenset({"pays", "must", "trim"})
UNDONE: Final = frozenset({"must"})
"""Rules whose work is undone when the frame becomes the current one again, if there is room. What it paid to
remove, and what passed a limit of messages, would be removed again at once."""


def remember(agent: AgentWindow, event: WindowRewritten, gone: Sequence[Segment]) -> None:
    """Which segment stands for those that went, and, of a compaction, what they were."""
    agent.rewritten = event.seq
    known = {segment.id for segment in agent.segments}
    new = [segment for segment in event.replacement if segment.id not in known]
    stands_for = {old: segment for segment in new if segment.replaced for old in segment.replaced.segments}
    if new and event.rule not in COMPACTING:
        stands_for = {**{segment.id: new[0] for segment in gone}, **stands_for}
    agent.replaced = {**agent.replaced, **stands_for}
    if event.rule in UNDONE:
        went = {segment.id: segment for segment in gone}
        agent.details = {**agent.details, **{segment.id: _detail(segment, went) for segment in new}}


def _detail(stand_in: Segment, went: dict[str, Segment]) -> tuple[Segment, ...]:
    ids = stand_in.replaced.segments if stand_in.replaced is not None else ()
    return tuple(went[segment] for segment in ids if segment in went)


def forget(agent: AgentWindow) -> None:
    """What stands for nothing any more needs no detail and no better words."""
    standing = {segment.id for segment in agent.segments}
    if agent.details:
        reached = set(standing)
        for summary in reversed(list(agent.details)):
            if summary in reached:
                reached.update(segment.id for segment in agent.details[summary])
        agent.details = {one: detail for one, detail in agent.details.items() if one in reached}
    if agent.written:
        agent.written = {one: text for one, text in agent.written.items() if one in standing}
