"""How a model's real token counts differ from the estimates, learned from each reply's usage.

A request that only adds to the one before it in its lane tells what the added blocks count: the difference of
the two inputs. Each block is in one such difference, so each counts once. Per kind of text the correction is
the one that explains the differences best; before anything is known it is 1. Only new segments are counted
with it: what was sent keeps its count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.context.models import ModelRecord
from runtime.context.tokens import KINDS, count_tokens, kind_of_text
from runtime.conversation.appendlist import AppendList
from runtime.conversation.segments import Segment
from runtime.conversation.windows import Counted, SentRequest, Windows, model_of

PRIOR_TOKENS: Final = 400.0
"""As much is known beforehand: that the estimates are right."""
PLAUSIBLE: Final = (0.4, 2.5)
"""Input per estimated token: a difference outside says something else, as hidden text or a text left out."""
LEAST, MOST = 0.6, 1.8
_KEY = "differences"

Corrections = Mapping[str, float]
"""Kind of text -> factor on the estimate; a kind that is not there has 1."""


def corrections(windows: Windows, model: ModelRecord) -> Corrections:
    """What the session's replies of that model tell so far. Empty for a model whose tokens are counted
    exactly, and while nothing is known."""
    if model.tokenizer == "o200k":
        return {}
    sums = _Sums()
    for lane, counted in windows.counted.items():
        if model_of(lane) == (model.provider, model.id):
            sums.add(_differences(windows.lane(lane), counted, model))
    return sums.solved()


# -- differences ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sums:
    """The equations of a least-squares fit: per pair of kinds, and per kind with the real tokens."""

    pairs: dict[tuple[str, str], float] = field(default_factory=dict)
    real: dict[str, float] = field(default_factory=dict)

    def learn(self, estimated: Mapping[str, int], real: int) -> None:
        """One difference; a longer one weighs more, in proportion."""
        weight = 1 / sum(estimated.values())
        for kind, tokens in estimated.items():
            self.real[kind] = self.real.get(kind, 0.0) + weight * tokens * real
            for other, more in estimated.items():
                pair = (kind, other)
                self.pairs[pair] = self.pairs.get(pair, 0.0) + weight * tokens * more

    def add(self, other: _Sums) -> None:
        """What another lane tells."""
        for pair, value in other.pairs.items():
            self.pairs[pair] = self.pairs.get(pair, 0.0) + value
        for kind, value in other.real.items():
            self.real[kind] = self.real.get(kind, 0.0) + value

    def copy(self) -> _Sums:
        """One that can be added to."""
        return _Sums(dict(self.pairs), dict(self.real))

    def solved(self) -> dict[str, float]:
        """The corrections that differ from 1."""
        kinds = [kind for kind in KINDS if kind in self.real]
        rows = [
            [self.pairs.get((kind, other), 0.0) + (PRIOR_TOKENS if kind == other else 0.0) for other in kinds]
            + [self.real[kind] + PRIOR_TOKENS]
            for kind in kinds
        ]
        found = {
            kind: round(min(MOST, max(LEAST, x)), 3) for kind, x in zip(kinds, _solve(rows), strict=True)
        }
        return {kind: factor for kind, factor in found.items() if factor != 1.0}


def _solve(rows: list[list[float]]) -> list[float]:
    """The solution of a few linear equations, each with its right side last; positive definite."""
    size = len(rows)
    for place in range(size):
        for below in range(place + 1, size):
            factor = rows[below][place] / rows[place][place]
            rows[below] = [b - factor * p for b, p in zip(rows[below], rows[place], strict=True)]
    solution = [0.0] * size
    for place in reversed(range(size)):
        known = sum(rows[place][other] * solution[other] for other in range(place + 1, size))
        solution[place] = (rows[place][-1] - known) / rows[place][place]
    return solution


@dataclass(slots=True)
class _Learned:
    """What the first `count` inputs of a lane told; kept with them."""

    count: int = 0
    sums: _Sums = field(default_factory=_Sums)

    def upto(self, count: int) -> _Learned:
        """Nothing is known of a lane that went on in another way."""
        return self if count >= self.count else _Learned()


def _differences(
    requests: AppendList[SentRequest], counted: AppendList[Counted], model: ModelRecord
) -> _Sums:
    known = counted.note((_KEY, model.tokenizer), _Learned)
    if known.count > len(counted):
        known = _Learned()
    if known.count < len(counted):
        sums = known.sums.copy()
        for number in range(max(1, known.count), len(counted)):
            _learn(sums, requests, counted[number - 1], counted[number], model)
        known.count, known.sums = len(counted), sums
    return known.sums


def _learn(
    sums: _Sums, requests: AppendList[SentRequest], before: Counted, now: Counted, model: ModelRecord
) -> None:
    added = _added(requests, before.call, now.call)
    if not added or any(segment.kind == "thinking" for segment in added):
        return  # what a provider counts of thinking, and for how long, is its own affair
    estimated: dict[str, int] = {}
    for segment in added:
        kind = kind_of_text(segment.text, segment.kind)
        estimated[kind] = estimated.get(kind, 0) + count_tokens(segment.text, segment.kind, model)[0]
    real, total = now.tokens - before.tokens, sum(estimated.values())
    if total and PLAUSIBLE[0] <= real / total <= PLAUSIBLE[1]:
        sums.learn(estimated, real)


def _added(requests: AppendList[SentRequest], before: int, now: int) -> Sequence[Segment]:
    """What the second call added to the first, if it changed nothing of it."""
    one, other = _request(requests, before), _request(requests, now)
    if one is None or other is None or len(other.window) <= len(one.window):
        return ()
    if not other.window.begins_like(one.window, len(one.window)):
        return ()
    return other.window[len(one.window) :]


def _request(requests: AppendList[SentRequest], call: int) -> SentRequest | None:
    for index in range(len(requests) - 1, -1, -1):
        if requests[index].call <= call:
            return requests[index] if requests[index].call == call else None
    return None
