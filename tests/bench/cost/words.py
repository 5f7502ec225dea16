"""Texts that mean nothing, of about the length that is asked for; the same for the same seed."""

from __future__ import annotations

from random import Random
from typing import Final

CHARACTERS_A_TOKEN: Final = 4
"""Of the generators' sizes: they are what a person would guess, not what a model counts."""
_TEXT: Final = """
    address after amount answer arrive asked because before bicycle blue brake bring broken carton chain
    change check city clear close colour come correct customer date days delay deliver depot detail door
    early exchange expect express fault fit forward found frame free full gear give green ground hand
    helmet hold home hour inside instead invoice item keep kind large last late leave letter light line
    list local long lost lock make month morning name near need north note number offer office open
    order other owner packed paid parcel part payment pedal place please point policy post price problem
    quick reach ready reason receive record red refund repair reply report return ride road round saddle
    safe same second send serial shelf ship shop short side sign size small south spare spoke stand
    state stock store street supply talk team thank thing time tomorrow train tube turn tyre under until
    update value visit wait wall want warehouse week weight west wheel white whole window winter word
    work write yellow
"""
_WORDS: Final = tuple(_TEXT.split())


def words(chance: Random, tokens: float) -> str:
    """A text of about that many tokens: sentences of common words, with a number here and there."""
    left, parts = int(tokens * CHARACTERS_A_TOKEN), list[str]()
    while left > 0:
        count = chance.randint(6, 14)
        chosen = chance.choices(_WORDS, k=count)
        if chance.random() < 0.3:
            chosen[chance.randrange(count)] = str(chance.randint(10, 9999))
        sentence = " ".join(chosen).capitalize() + "."
        parts.append(sentence)
        left -= len(sentence) + 1
    return " ".join(parts)[: max(1, int(tokens * CHARACTERS_A_TOKEN))].strip() or "Yes."


def between(chance: Random, low: float, high: float) -> float:
    """A size from `low` to `high`, small ones more often: each doubling is as likely."""
    return float(low * (high / low) ** chance.random())
