"""`keyword`: a keyword occurs in a text. Words are compared case-folded, at Unicode word boundaries.

Scripts that write no blanks between words (Han, kana, Thai, Lao, Khmer, Burmese) have a boundary everywhere.
Regular expressions are RE2's: linear in the text, whoever wrote them.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import re2

from runtime.engine.rules.facts import Facts, Moment, Verdict, excerpt
from runtime.playbook import KeywordCondition

_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)


def looks(condition: KeywordCondition, moment: Moment) -> bool:
    """User texts are known before the reply, the assistant's after it."""
    if moment == "before":
        return condition.source in ("user", "any")
    return moment == "after" and condition.source in ("assistant", "any")


def judge(condition: KeywordCondition, facts: Facts) -> Verdict:
    """True if one of the keywords occurs in the text of this moment."""
    text = facts.user_text if facts.moment == "before" else facts.reply
    whose = "user's message" if facts.moment == "before" else "reply"
    for keyword in condition.keywords:
        problem = _problem(keyword, condition.match)
        if problem is not None:
            return Verdict(False, {"text": excerpt(text), "keyword": keyword}, problem)
        if occurs(keyword, text, condition.match):
            seen = {"text": excerpt(text), "keyword": keyword}
            return Verdict(True, seen, f"“{keyword}” occurs in the {whose}.")
    return Verdict(False, {"text": excerpt(text)}, f"None of the keywords occurs in the {whose}.")


def occurs(keyword: str, text: str, match: str = "word") -> bool:
    """Whether `keyword` occurs in `text`: as a `word`, as a `substring`, or as a `regex` (RE2 syntax)."""
    if match == "regex":
        pattern = _pattern(keyword)
        return not isinstance(pattern, str) and pattern.search(text) is not None
    wanted, where = _wanted(keyword), _where(text)
    if not wanted:
        return False
    return wanted in where if match == "substring" else _occurs_as_word(wanted, where)


def _occurs_as_word(wanted: str, text: str) -> bool:
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before = text[start - 1] if start > 0 else ""
        after = text[end] if end < len(text) else ""
        if _boundary(before, wanted[0]) and _boundary(wanted[-1], after):
            return True
        start = text.find(wanted, start + 1)
    return False


def _boundary(left: str, right: str) -> bool:
    if not left or not right or _unspaced(left) or _unspaced(right):
        return not (right and unicodedata.combining(right))
    return not (_of_word(left) and _of_word(right))


def _of_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


def _unspaced(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED)


def _normal(text: str) -> str:
    """One form for what reads the same: composed, case-folded, runs of blanks as one."""
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", text).casefold().split()))


@lru_cache(maxsize=4)
def _where(text: str) -> str:
    """A text's normal form; it is looked at for many keywords, one after the other."""
    return _normal(text)


@lru_cache(maxsize=1024)
def _wanted(keyword: str) -> str:
    """A keyword's normal form; the same few are looked for in every text."""
    return _normal(keyword)


def _problem(keyword: str, match: str) -> str | None:
    if not keyword.strip():
        return "An empty keyword never occurs."
    if match == "regex" and isinstance(pattern := _pattern(keyword), str):
        return f"The pattern is not valid: {pattern}"
    return None


@lru_cache(maxsize=1024)
def _pattern(source: str) -> Any:
    """The compiled pattern, or the reason why there is none."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True  # only whether it occurs is asked; finding groups can take seconds
    try:
        return re2.compile(source, options=options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0] if error.args else "refused"
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
