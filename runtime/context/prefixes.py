"""The prefixes of a list of blocks: how long each is, and a key that stands for all that it says.

What a prefix is does not depend on what follows it, so a list that grew is laid out by its new blocks alone.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

NO_END, MESSAGE, DEVELOPER = range(3)
"""What ends with a block: nothing, a message, a message of instructions."""


class Block(NamedTuple):
    """One block of a request: what it is, how long it is, how many positions of the look-back it takes, and
    what ends with it."""

    hash: str
    tokens: int
    positions: int = 1
    end: int = MESSAGE


@dataclass(frozen=True, slots=True)
class Prefixes:
    """By index of a block, of the prefix that ends with it. The arrays may go on behind `length`."""

    length: int
    ends: array[int]
    """Its tokens."""
    positions: array[int]
    """Its positions of the look-back."""
    keys: array[int]
    """Its key: equal keys, equal blocks, and so the same index."""
    endings: array[int]
    """What ends with its last block."""

    @property
    def total(self) -> int:
        """Tokens of all blocks."""
        return self.ends[self.length - 1] if self.length else 0


NOTHING = Prefixes(0, array("q"), array("q"), array("Q"), array("b"))


def lay_out(blocks: Sequence[Block], before: Prefixes = NOTHING) -> Prefixes:
    """The prefixes of those blocks, behind the blocks that `before` has laid out already."""
    start = before.length
    ends, positions, keys = before.ends[:start], before.positions[:start], before.keys[:start]
    endings = before.endings[:start]
    end, position, key = (ends[-1], positions[-1], keys[-1]) if start else (0, 0, 0)
    for block in blocks:
        end, position, key = end + block.tokens, position + block.positions, longer(key, block.hash)
        ends.append(end)
        positions.append(position)
        keys.append(key)
        endings.append(block.end)
    return Prefixes(start + len(blocks), ends, positions, keys, endings)


def longer(prefix: int, item: str) -> int:
    """The key of a prefix with one more block: 64 bits."""
    digest = hashlib.blake2b(f"{prefix} {item}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
