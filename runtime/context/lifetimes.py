"""Which cache points live for an hour under `cacheTtl: auto`, and which for five minutes.

A long entry keeps all that stands before it, but only the tokens that are written with it are billed as long
ones: what was written short and is read now costs nothing more. So a long point is set now and then, where
little is new, and short ones in between; a pause then loses no more than what came since the last long one.

With p the chance of a pause that only a long entry outlives, a long point at x costs (w1h - w5m) for each
token it writes, and saves p·(w5m - r) a call for each token since the last long entry. Where d tokens come
with every call, √(2·(w1h - w5m)/(p·(w5m - r))) calls from one to the next are best; half as many is the
horizon over which a point is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt
from typing import Final

from runtime.context.cache_model import LONG, Store
from runtime.context.models import ModelRecord
from runtime.context.prefixes import Prefixes
from runtime.conversation.appendlist import AppendList
from runtime.conversation.windows import SentRequest

PRIOR_PAUSES: Final = 0.3
PRIOR_TURNS: Final = 3.0
"""Before anything is known, every tenth message of the user is taken to come after a long pause."""
LONG_ENOUGH: Final = timedelta(minutes=30)
"""A long entry with less left to live protects nothing any more."""


@dataclass(frozen=True, slots=True)
class LongPoints:
    """What setting a long point is worth now."""

    pause: float
    """The chance that the next request comes after 5 to 60 minutes."""
    premium: float
    """w1h - w5m."""
    again: float
    """w5m - r: what a token costs more that was lost and is written again."""
    read: int
    """Tokens of the longest entry that lives: what stands behind it is written."""
    covered: int
    """Tokens of the longest entry that lives long."""

    @property
    def horizon(self) -> float:
        """Calls for which a long point counts."""
        return max(1.0, sqrt(2 * self.premium / (self.pause * self.again)) / 2)

    def gain(self, tokens: int) -> float:
        """What a long point behind so many tokens saves, less what it costs."""
        cost = self.premium * max(0, tokens - self.read)
        return self.pause * self.again * max(0, tokens - self.covered) * self.horizon - cost

    def best(self, places: Sequence[int]) -> int | None:
        """Of places given by their tokens: the one behind which a long point gains most; None for none."""
        new = [tokens for tokens in places if tokens > self.read and self.gain(tokens) > 0]
        return max(new, key=self.gain, default=None)


def long_points(
    requests: AppendList[SentRequest],
    turns: int,
    laid: Prefixes,
    living: Sequence[int],
    store: Store,
    model: ModelRecord,
    now: datetime,
) -> LongPoints:
    """What is known for the next request of a lane. `living`: indexes of blocks whose prefix is cached."""
    entries = [(laid.ends[index], store[laid.keys[index]]) for index in living]
    lasting = [end for end, entry in entries if entry.ttl in LONG and entry.expires - now >= LONG_ENOUGH]
    short = model.write_multiplier("5m")
    return LongPoints(
        pause=long_pause_share(requests, turns),
        premium=model.write_multiplier("1h") - short,
        again=short - model.read_multiplier,
        read=max((end for end, _ in entries), default=0),
        covered=max(lasting, default=0),
    )


def long_pause_share(requests: AppendList[SentRequest], turns: int) -> float:
    """The share of the lane's gaps between 5 and 60 minutes; pauses come between turns, so what is assumed
    beforehand is spread over the calls of a turn."""
    count = len(requests)
    last = requests[-1] if requests else None
    long = last.gaps_under_1h - last.gaps_under_5m if last is not None else 0
    calls_a_turn = max(1.0, count / max(1, turns))
    return (long + PRIOR_PAUSES) / (max(0, count - 1) + PRIOR_TURNS * calls_a_turn)
