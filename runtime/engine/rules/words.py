"""Whether a text occurs in another for somebody who reads, whatever its case, its blanks and how it is typed.

Scripts that write no blanks between words (Han, kana, Thai, Lao, Khmer, Burmese) have a boundary at each
character. A mark belongs to its letter, and an emoji is one sign, however many characters it is made of.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import re2

from runtime.playbook.storable import storable_text

_UNSPACED: Final = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_TYPED: Final = {ord("’"): "'", 0x00AD: None, 0xFE0E: None, 0xFE0F: None}
"""Typographic for typed: the apostrophe; soft hyphens and how an emoji is to be drawn are not read."""
_TURKISH: Final = {ord("İ"): "i", ord("I"): "ı"}
_JOINERS: Final = "\u200c\u200d"
_TAGS: Final = (0xE0020, 0xE007F)
_MARKS: Final = re2.compile(r"(\p{M}{30})\p{M}+")
"""More marks on a letter than any script has (Unicode's stream-safe form); to sort many takes seconds."""
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
"""Two of these letters make a flag, and the next letter begins another one."""
_FLAG_LETTERS: Final = (0x1F1E6, 0x1F1FF)
_FLAG_END: Final = "\u2060"


def occurs_in(wanted: str, text: str, *, as_word: bool) -> bool:
    """Whether `wanted` occurs in `text`, anywhere or between boundaries of words. Nothing occurs nowhere.

    Without its dot an I is another letter in Turkish: where such a letter stands, both are also read so.
    """
    if _found(_keyword(wanted), _text(text), as_word):
        return True
    if not (_has_turkish(wanted) or _has_turkish(text)):
        return False
    return _found(_keyword(wanted.translate(_TURKISH)), _text(text.translate(_TURKISH)), as_word)


def _has_turkish(text: str) -> bool:
    return not text.isascii() and ("İ" in text or "ı" in text)


def _found(wanted: str, text: str, as_word: bool) -> bool:
    if not wanted or wanted not in text:
        return False
    return not as_word or _as_word(wanted, text)


@lru_cache(maxsize=1024)
def _keyword(wanted: str) -> str:
    """A keyword's one form; the same few are looked for in every text."""
    return _normal(wanted)


@lru_cache(maxsize=4)
def _text(text: str) -> str:
    """A text's one form; several keywords are looked for in it, one after the other."""
    return _normal(text)


def _normal(text: str) -> str:
    """One form for what reads the same: composed, compatible, case-folded, runs of blanks as one."""
    if text.isascii():
        return " ".join(text.lower().split())
    readable = _MARKS.sub(r"\1", storable_text(text).translate(_TYPED))
    composed = unicodedata.normalize("NFKC", readable)
    folded = unicodedata.normalize("NFKC", composed.casefold())
    return _FLAG.sub(rf"\g<0>{_FLAG_END}", " ".join(folded.split()))


def _as_word(wanted: str, text: str) -> bool:
    start = text.find(wanted)
    while start >= 0:
        if _boundary(text, start) and _boundary(text, start + len(wanted)):
            return True
        start = text.find(wanted, start + 1)
    return False


def _boundary(text: str, at: int) -> bool:
    """Whether a word can end or begin before the character at `at`."""
    if at in (0, len(text)):
        return at > 0 or not _continues(text[:1])
    left, right = text[at - 1], text[at]
    if _continues(right) or left in _JOINERS:
        return False
    if _within(left, _FLAG_LETTERS) and _within(right, _FLAG_LETTERS):
        return False
    if _unspaced(left) or _unspaced(right):
        return True
    return not (_of_word(left) and _of_word(right))


def _continues(character: str) -> bool:
    """Belongs to the character before it: a mark, a joiner, a tag of a flag."""
    return character in _JOINERS or _is_mark(character) or _within(character, _TAGS)


def _of_word(character: str) -> bool:
    return character.isalnum() or character == "_" or _is_mark(character)


def _is_mark(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character)[0] == "M"


def _unspaced(character: str) -> bool:
    return ord(character) >= _UNSPACED[0][0] and any(_within(character, span) for span in _UNSPACED)


def _within(character: str, span: tuple[int, int]) -> bool:
    return span[0] <= ord(character) <= span[1]
