"""Keywords: whole words in every script, literally, whatever case and blanks (B037)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engine.rules.facts import Facts
from runtime.engine.rules.keyword import judge, occurs
from runtime.playbook import KeywordCondition


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I build quietly.", False),
        ("The UI, then.", True),
        ("I like C++.", True),
        ("I like C+", False),
        ("go  on", True),
        ("go\non", True),
        ("going on", False),
        ("The weekend.", False),
        ("This is the end.", True),
        ("(ui)", True),
        ("ui_kit", False),
    ],
)
def test_short_keywords_are_found_as_words_only(text: str, found: bool) -> None:
    assert any(occurs(keyword, text) for keyword in ("ui", "C++", "go on", "end.")) is found


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("退款", "我要退款吗", True),
        ("ui", "这个ui很好", True),
        ("ありがとう", "本当にありがとうございます", True),
        ("straße", "STRASSE", True),
        ("café", "cafe\u0301 noir", True),
        ("cafe", "cafe\u0301 noir", False),
        ("ÉTÉ", "l'été.", True),
        ("да", "Да!", True),
        ("да", "дама", False),
        ("", "anything", False),
        ("  ", "any thing", False),
        # Cyrillic, Greek, Arabic, Hebrew: words end where letters end
        ("заказ", "ВАШ ЗАКАЗ.", True),
        ("заказ", "заказать", False),
        ("ΟΔΟΣ", "η οδός", False),
        ("ΟΔΌΣ", "η οδός", True),
        ("طلب", "أين طلب؟", True),
        ("طلب", "الطلب", False),
        ("שלום", "«שלום», אמר", True),
        # scripts without blanks between words
        ("注文", "ご注文の品", True),
        ("カード", "ｶｰﾄﾞで払う", True),
        ("visa", "ＶＩＳＡカード", True),
        ("คืน", "ขอคืนเงิน", True),
        ("退", "我要退款", True),
        ("𠮷", "𠮷野家", True),
        ("환불", "환불 요청", True),
        # a mark belongs to its letter, whichever script
        ("x", "x\u0302", False),
        ("कर", "कर दो", True),
        ("कर", "कर्म", False),
        ("ก", "กิน", False),
        ("か", "か\u3099", False),
        ("e\u0301t\u00e9", "\u00e9te\u0301", True),
        # case folding
        ("ß", "ẞ", True),
        ("GROẞ", "gross", True),
        ("Fuss", "fuß", True),
        ("ﬁn", "FIN", True),
        # what a text program writes for what was typed
        ("don't", "I don\u2019t know", True),
        ("refund", "re\u00adfund", True),
        ("a b", "a\u00a0b", True),
        ("half \ud800", "no half", False),
    ],
)
def test_words_are_words_in_every_script(keyword: str, text: str, found: bool) -> None:
    assert occurs(keyword, text) is found


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("iptal", "İPTAL ET", True),
        ("İPTAL", "iptal et", True),
        ("kapı", "KAPI açık", True),
        ("KAPI", "kapı açık", True),
        ("ışık", "IŞIK", True),
        ("sık", "sik", False),
        ("sik", "sık", False),
        ("title", "TITLE", True),
        ("TITLE", "title", True),
        ("title", "İ TITLE", True),
    ],
)
def test_a_turkish_i_has_its_dot_in_both_cases_and_an_english_one_is_as_ever(
    keyword: str, text: str, found: bool
) -> None:
    assert occurs(keyword, text) is found
    assert occurs(keyword, text, "substring") is found


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("👍", "ok👍", True),
        ("👍", "👍🏽", True),
        ("👍🏽", "👍", False),
        ("👩\u200d🚀", "the 👩\u200d🚀!", True),
        ("👩", "👩\u200d🚀", False),
        ("🚀", "👩\u200d🚀", False),
        ("❤", "I ❤\ufe0f it", True),
        ("❤\ufe0f", "I ❤ it", True),
        ("🇩🇪", "🇫🇷🇩🇪", True),
        ("🇩🇪", "🇦🇩🇪🇺", False),
        ("🇩", "🇩🇪", False),
        ("🇩🇪", "a🇩🇪b", True),
        ("🏴", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", False),
        ("1", "1\ufe0f\u20e3", False),
        ("no", "no🙂", True),
    ],
)
def test_an_emoji_is_one_sign_however_many_characters_it_has(keyword: str, text: str, found: bool) -> None:
    assert occurs(keyword, text) is found


LETTERS = st.text(st.sampled_from("aIıİßſKé\u0301かก👩\u200d🚀🇩🇪 _'."), max_size=8)


@given(LETTERS, LETTERS, LETTERS)
def test_what_is_found_as_a_word_is_found_as_a_substring_and_in_other_cases(
    before: str, word: str, after: str
) -> None:
    text = before + word + after
    if occurs(word, text):
        assert occurs(word, text, "substring")
    if word.strip():
        assert occurs(word, f" {word} ", "substring")
        assert occurs(word.casefold(), f"({word})", "substring")


def test_a_substring_is_found_inside_words() -> None:
    assert occurs("order", "the border", "substring")
    assert not occurs("order", "the border", "word")


def facts(reply: str) -> Facts:
    return Facts("after", "", reply, (), 0, 0, None, dict)


def test_a_regular_expression_is_linear_and_ignores_case() -> None:
    condition = KeywordCondition(keywords=(r"order \d+", "^(a+)+$"), match="regex")
    assert judge(condition, facts("Your ORDER 12 is there")).holds
    assert not judge(condition, facts("a" * 50_000 + "!")).holds


def test_a_pattern_that_is_not_valid_is_a_reason_and_no_crash() -> None:
    verdict = judge(KeywordCondition(keywords=("(",), match="regex"), facts("x"))
    assert not verdict.holds
    assert "not valid" in verdict.reason


def test_the_verdict_says_what_was_found_and_where() -> None:
    verdict = judge(KeywordCondition(keywords=("no", "yes")), facts("Yes!"))
    assert verdict.seen == {"text": "Yes!", "keyword": "yes"}
    assert "“yes”" in verdict.reason


@pytest.mark.parametrize("keyword", ["🇪🇩", "aa", "👩", "\u0301"])
def test_a_text_made_to_be_searched_for_long_is_not(keyword: str) -> None:
    hostile = "🇩🇪" * 50_000 + "a" * 100_000 + "👩\u200d" * 50_000 + "e" + "\u0301\u0323" * 50_000
    began = time.process_time()
    occurs(keyword, hostile)
    assert time.process_time() - began < 2


def test_groups_in_a_pattern_cost_nothing() -> None:
    began = time.process_time()
    assert occurs("(.*)" * 250, "a" * 100_000, "regex")
    assert time.process_time() - began < 1
