"""Words of a message compared with words of a description: case-folded, without fillers, lightly stemmed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_FILLER_WORDS: Final = """
    a about after all also am an and any anything are as at back be been but by can could customer
    did do does don't else for from get give given had has have he hello help her here hey hi him
    his how i i'd i'll i'm if in into is it it's its just know like made make me more my need needs
    no not of off ok okay on one or other our out over person please said say says she so some
    something tell than thank thanks that the their them then there these they this to too up us
    user want wants was we what what's when where which who why will wish with would yes you your
"""
_FILLERS: Final = frozenset(_FILLER_WORDS.split())
_ALIKE: Final = (
    ("refund", "reimburse", "reimbursement", "moneyback"),
    ("parcel", "package", "delivery", "deliver", "shipment", "shipping", "ship"),
    ("broken", "damaged", "faulty", "defective", "cracked", "smashed", "broke"),
    ("e-mail", "email", "mail"),
    ("book", "reserve", "reservation", "booking"),
    ("buy", "purchase", "order"),
    ("goodbye", "bye", "farewell"),
)
_SAME: Final = {word: group[0] for group in _ALIKE for word in group}
_YES = re.compile(
    r"(?i)^\W*(yes|yeah|yep|yup|sure|ok|okay|please do|go ahead|do it|correct|right|exactly|ja|oui|s[ií])\b"
)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that can carry a meaning, each in one form."""
    return _content_words(text.casefold().replace("money back", "moneyback"))


@lru_cache(maxsize=1024)
def _content_words(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text) if word not in _FILLERS and len(word) > 1)
    return frozenset(stem(word) for word in words)


def stem(word: str) -> str:
    """A rough common form: `orders`, `ordered`, `ordering` and `order` are one word."""
    if word in _SAME:
        return _SAME[word]
    for ending in ("ing", "ies", "ied", "es", "ed", "'s", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied") else "")
            break
    return _SAME.get(word, word)


def overlap(message: str, description: str) -> int:
    """How many words of meaning both have."""
    return len(content_words(message) & content_words(description))


def has_words(text: str, keyword: str) -> bool:
    """Whether a keyword or phrase occurs in the text as whole words, case-folded; `*` is in any text."""
    if keyword == "*":
        return True
    edge_start = r"(?<!\w)" if keyword[:1].isalnum() else ""
    edge_end = r"(?!\w)" if keyword[-1:].isalnum() else ""
    folded = text.casefold().replace("’", "'")
    return re.search(edge_start + re.escape(keyword.casefold()) + edge_end, folded) is not None


def is_yes(text: str) -> bool:
    """Whether a message is a plain yes."""
    return _YES.match(text) is not None
