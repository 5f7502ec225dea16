"""WordPiece: a text as the numbers of its pieces in a vocabulary, as the small embedding models expect it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

LONGEST_WORD: Final = 100
"""Letters; longer words are unknown to these models."""

_UNSPACED: Final = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""Han characters, each a word of its own."""


class WordPiece:
    """Splits texts by a vocabulary of lower-case words and pieces."""

    def __init__(self, vocabulary: Mapping[str, int], longest: int) -> None:
        """`longest` is how many numbers a text may have, its begin and end included."""
        self._vocabulary = vocabulary
        self._longest = longest
        self._unknown = vocabulary["[UNK]"]

    def numbers(self, text: str) -> list[int]:
        """The text's pieces between begin and end; what is too long is cut."""
        found: list[int] = []
        for word in words(text):
            if len(found) >= self._longest - 2:
                break
            found += self._pieces(word)
        return [self._vocabulary["[CLS]"], *found[: self._longest - 2], self._vocabulary["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        """The longest pieces from the left; unknown as a whole if a piece is."""
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            end = self._end_of_piece(word, start)
            if end is None:
                return [self._unknown]
            pieces.append(self._vocabulary[_piece(word, start, end)])
            start = end
        return pieces

    def _end_of_piece(self, word: str, start: int) -> int | None:
        ends = range(len(word), start, -1)
        return next((end for end in ends if _piece(word, start, end) in self._vocabulary), None)


def _piece(word: str, start: int, end: int) -> str:
    return ("##" if start else "") + word[start:end]


def words(text: str) -> Iterator[str]:
    """Lower-case words without accents; punctuation marks and Han characters are words of their own."""
    word = ""
    for character in _plain(text):
        alone = _is_punctuation(character) or _is_han(character)
        if alone or character.isspace():
            if word:
                yield word
            word = ""
            if alone:
                yield character
        else:
            word += character
    if word:
        yield word


def _plain(text: str) -> Iterator[str]:
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if character in "\t\n\r":
            yield " "
        elif category != "Mn" and not category.startswith("C") and character != "\ufffd":
            yield character


def _is_punctuation(character: str) -> bool:
    ascii_mark = (
        character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    )
    return ascii_mark or unicodedata.category(character).startswith("P")


def _is_han(character: str) -> bool:
    code = ord(character)
    return code >= 0x3400 and any(low <= code <= high for low, high in _UNSPACED)
