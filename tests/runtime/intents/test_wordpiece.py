"""Texts as the numbers of their pieces."""

from __future__ import annotations

import pytest

from runtime.intents.wordpiece import WordPiece, words

PIECES = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "play",
    "##ing",
    "##ed",
    "un",
    "##aff",
    "##able",
    "!",
    "我",
    "cafe",
)
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}


def pieces(text: str, longest: int = 32) -> list[str]:
    return [PIECES[number] for number in WordPiece(VOCABULARY, longest).numbers(text)][1:-1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Playing", ["play", "##ing"]),
        ("play played!", ["play", "play", "##ed", "!"]),
        ("unaffable", ["un", "##aff", "##able"]),
        ("unaffx play", ["[UNK]", "play"]),
        ("CAFÉ cafe\u0301", ["cafe", "cafe"]),
        ("play我play", ["play", "我", "play"]),
        ("pl\u200bay", ["play"]),
        ("play\u0000\tplay", ["play", "play"]),
        ("x" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_a_text_is_split_into_the_longest_pieces_from_the_left(text: str, found: list[str]) -> None:
    assert pieces(text) == found


def test_what_is_too_long_is_cut_and_still_has_an_end() -> None:
    numbers = WordPiece(VOCABULARY, 5).numbers("play " * 1000)
    assert numbers == [2, 4, 4, 4, 3]


@pytest.mark.parametrize(
    ("text", "found"),
    [("don't", ["don", "'", "t"]), ("a—b", ["a", "—", "b"]), ("$5", ["$", "5"]), ("  ", [])],
)
def test_marks_are_words_of_their_own(text: str, found: list[str]) -> None:
    assert list(words(text)) == found
