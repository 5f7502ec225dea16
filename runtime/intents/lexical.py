"""`keyword`: likeness of words and of their pieces, without any dependency. Finds little, and at once.

Words are weighted by how rare they are among the lines, words that say little by themselves count less,
and pieces of three and four letters find "delivered" by "delivery". A script that writes no blanks has its
pieces only.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from runtime.intents.scoring import Calibration

_WORD = re.compile(r"\w+")
_PIECES: Final = (3, 4)
_PIECE_WEIGHT: Final = 0.2
_PLAIN_WEIGHT: Final = 0.4
_PLAIN: Final = frozenset(
    word
    for line in (
        "a an the and or but if so to of in on at for from with by as it its is are was were be been",
        "am i me my mine we us our you your he she they them their this that these those there here",
        "do does did can could will would shall should may might must have has had not no yes please",
        "what which who when where how why any some just very s t d m ll re ve don isn doesn didn won",
    )
    for word in line.split()
)

Vector = Mapping[str, float]


class Lexical:
    """Words and pieces of words in common."""

    name = "keyword"
    in_thread = False
    calibration = Calibration(
        constant=-2.92, likeness=4.79, lead_over_next=1.85, lead_over_others=3.22, known=0.43
    )

    def likenesses(self, text: str, lines: tuple[str, ...]) -> list[float]:
        """The cosines of the weighted words."""
        rarity, vectors = _index(lines)
        said = _vector(terms(text), rarity, len(lines))
        return [_cosine(said, vector) for vector in vectors]


def terms(text: str) -> Counter[str]:
    """The words and pieces of a text, with how often each occurs; pieces are told by a `~`."""
    return Counter(_terms(text))


def _terms(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for word in _WORD.findall(folded):
        yield word
        if word in _PLAIN:
            continue
        bounded = f"^{word}$"
        for size in _PIECES:
            yield from (f"~{bounded[at : at + size]}" for at in range(len(bounded) - size + 1))


@lru_cache(maxsize=64)
def _index(lines: tuple[str, ...]) -> tuple[Mapping[str, float], tuple[Vector, ...]]:
    """How rare each term is among the lines, and the lines as vectors."""
    counted = [terms(line) for line in lines]
    spread: Counter[str] = Counter(term for counts in counted for term in counts)
    rarity = {term: _rarity(count, len(lines)) for term, count in spread.items()}
    return rarity, tuple(_vector(counts, rarity, len(lines)) for counts in counted)


def _rarity(count: int, lines: int) -> float:
    return math.log((1 + lines) / (1 + count)) + 1


def _vector(counts: Counter[str], rarity: Mapping[str, float], lines: int) -> Vector:
    unseen = _rarity(0, lines)
    vector = {
        term: _weight(term) * rarity.get(term, unseen) * (1 + math.log(count))
        for term, count in counts.items()
    }
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {term: value / length for term, value in vector.items()} if length else {}


def _weight(term: str) -> float:
    if term.startswith("~"):
        return _PIECE_WEIGHT
    return _PLAIN_WEIGHT if term in _PLAIN else 1.0


def _cosine(one: Vector, other: Vector) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(value * other.get(term, 0.0) for term, value in one.items())
