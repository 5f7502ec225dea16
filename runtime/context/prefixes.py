"""The prefixes of a list of blocks: how long each is, and a key that stands for all that it says.

What a prefix is does not depend on what follows it, so a list that grew is laid out by its new blocks alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple


class Block(NamedTuple):
    """One block of a request: what it is, how long it is, how many positions of the look-back it takes."""

    hash: str
    tokens: int
    positions: int = 1


@dataclass(frozen=True, slots=True)
class Prefixes:
    """By index of a block, of the prefix that ends with it. The lists may go on behind `length`."""

    length: int
    ends: Sequence[int]
    """Its tokens."""
    positions: Sequence[int]
    """Its positions of the look-back."""
    keys: Sequence[bytes]
    """Its key: equal keys, equal blocks."""
    places: Mapping[bytes, int]
    """Key -> index; an index from `shared` on is another list's."""
    shared: int
    added: Mapping[bytes, int] = field(default_factory=dict)
    """Key -> index, from `shared` on."""

    @property
    def total(self) -> int:
        """Tokens of all blocks."""
        return self.ends[self.length - 1] if self.length else 0

    def place(self, key: bytes) -> int:
        """Index of the block whose prefix has that key; -1 if there is none."""
        known = self.places.get(key, self.length)
        return known if known < self.shared else self.added.get(key, -1)


def lay_out(blocks: Sequence[Block], before: Prefixes | None = None) -> Prefixes:
    """The prefixes of those blocks, behind the blocks that `before` has laid out already."""
    if before is None:
        before = Prefixes(0, (), (), (), {}, 0)
    start = before.length
    ends = accumulate((block.tokens for block in blocks), initial=before.total)
    last = before.positions[start - 1] if start else 0
    positions = accumulate((block.positions for block in blocks), initial=last)
    keys = list(accumulate((block.hash for block in blocks), longer, initial=_last_key(before)))[1:]
    return Prefixes(
        length=start + len(blocks),
        ends=[*before.ends[:start], *list(ends)[1:]],
        positions=[*before.positions[:start], *list(positions)[1:]],
        keys=[*before.keys[:start], *keys],
        places=before.places,
        shared=before.shared,
        added={**before.added, **{key: index for index, key in enumerate(keys, start)}},
    )


def _last_key(before: Prefixes) -> bytes:
    return before.keys[before.length - 1] if before.length else b""


def longer(prefix: bytes, item: str) -> bytes:
    """The key of a prefix with one more block."""
    return hashlib.blake2b(prefix + item.encode(), digest_size=16).digest()
