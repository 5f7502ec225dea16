"""Keywords: whole words in every script, literally, whatever case and blanks (B037)."""

from __future__ import annotations

import time

import pytest

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
    ],
)
def test_words_are_words_in_every_script(keyword: str, text: str, found: bool) -> None:
    assert occurs(keyword, text) is found


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


def test_groups_in_a_pattern_cost_nothing() -> None:
    began = time.process_time()
    assert occurs("(.*)" * 250, "a" * 100_000, "regex")
    assert time.process_time() - began < 1
