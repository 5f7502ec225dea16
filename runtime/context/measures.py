"""What the window's builder and planners ask of the segments that were sent, kept with them.

A session asks for the same of nearly the same segments at each call. All here holds for a prefix whatever
follows it; so it is kept as a note of the segments' list, and only the new ones are looked at. The answers
are those of a look at everything (`test_measures.py`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from runtime.context.prefixes import DEVELOPER, MESSAGE, NO_END, NOTHING, Block, Prefixes, lay_out
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment

HEAD_KINDS: Final = ("tools", "base")
ENDS: Final = {"tools": NO_END, "base": DEVELOPER}
_KEY = "measures"


class Measures:
    """Of a list of segments that only grows. It may know of more segments than a version of the list has:
    whoever asks says how many count."""

    __slots__ = ("frames", "laid", "prompts", "stages", "thinkers", "turns")

    def __init__(self) -> None:
        self.laid = NOTHING
        """The prefixes of all segments looked at so far."""
        self.frames: dict[str | None, int] = {}
        """Frame -> index of its first segment."""
        self.thinkers: dict[str | None, int] = {}
        """Model -> index of the first segment of its thinking."""
        self.stages: list[int] = []
        """Indexes of the stage segments."""
        self.turns: list[int] = []
        """Indexes of the segments that begin a turn."""
        self.prompts: dict[str, int] = {}
        """Prompt's hash -> index of the first stage segment that has it in full."""

    def upto(self, count: int) -> Measures:
        """The same for a list that shares only the first `count` segments."""
        kept = Measures()
        kept.laid = lay_out((), replace(self.laid, length=min(count, self.laid.length)))
        kept.frames = {frame: place for frame, place in self.frames.items() if place < count}
        kept.thinkers = {model: place for model, place in self.thinkers.items() if place < count}
        kept.stages = [place for place in self.stages if place < count]
        kept.turns = [place for place in self.turns if place < count]
        kept.prompts = {key: place for key, place in self.prompts.items() if place < count}
        return kept

    def reach(self, segments: AppendList[Segment]) -> None:
        """Look at the segments that are new. Twice at once does no harm: both find the same."""
        laid = self.laid
        if laid.length >= len(segments):
            return
        new = segments[laid.length :]
        for index, segment in enumerate(new, laid.length):
            self._note(index, segment)
            if begins_turn(segments, index):
                _add(self.turns, index)
        self.laid = lay_out(blocks_of(new), laid)

    def _note(self, index: int, segment: Segment) -> None:
        self.frames.setdefault(segment.frame, index)
        if segment.kind == "thinking":
            self.thinkers.setdefault(segment.meta.get("model"), index)
        elif segment.kind == "stage":
            _add(self.stages, index)
            if segment.meta.get("full"):
                self.prompts.setdefault(segment.meta.get("prompt", ""), index)


def _add(places: list[int], index: int) -> None:
    if not places or places[-1] < index:
        places.append(index)


_BESIDE: Final = frozenset({"state", "stage", "tail", "artifact", "summary"})
"""Kinds that say nothing of whose turn it is."""


def begins_turn(segments: Sequence[Segment], index: int) -> bool:
    """Whether the user, or what stands for the user, begins to speak here: what was said before is whole."""
    segment = segments[index]
    if segment.role != "user" or segment.kind not in ("dialogue", "injected"):
        return False
    place = index - 1
    while place >= 0 and segments[place].kind in _BESIDE:
        place -= 1
    if place < 0 or segments[place].kind in HEAD_KINDS or segments[place].role == "assistant":
        return True
    return segments[place].kind == "tool_result" and segment.kind == "dialogue"


def measure(segments: AppendList[Segment], like: AppendList[Segment] | None = None) -> Measures:
    """The measures of those segments, and perhaps of more. `like`: a list that begins like this one, whose
    measures are taken over as far as they hold."""
    if like is not None and not segments.noted:
        segments.take_notes(like, _shared(segments, like))
    measures = segments.note(_KEY, Measures)
    measures.reach(segments)
    return measures


def _shared(one: Sequence[Segment], other: Sequence[Segment]) -> int:
    """How many segments both begin with, by halving."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if list(one[low:middle]) == list(other[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def prefixes(segments: AppendList[Segment], like: AppendList[Segment] | None = None) -> Prefixes:
    """The prefixes of those segments."""
    return replace(measure(segments, like).laid, length=len(segments))


def window_prefixes(sent: AppendList[Segment], added: Sequence[Segment]) -> Prefixes:
    """The prefixes of a window: of what was sent, and of what the request adds."""
    return lay_out(blocks_of(added), prefixes(sent))


def blocks_of(segments: Sequence[Segment]) -> list[Block]:
    """The blocks a window's segments become; each tool takes a position of its own."""
    return [
        Block(segment.hash, segment.tokens, positions_of(segment), ENDS.get(segment.kind, MESSAGE))
        for segment in segments
    ]


def positions_of(segment: Segment) -> int:
    """How many positions of the look-back the segment takes."""
    return _tool_count(segment.text) if segment.kind == "tools" else 1


@lru_cache(maxsize=64)
def _tool_count(text: str) -> int:
    return max(1, len(json.loads(text))) if text else 1
