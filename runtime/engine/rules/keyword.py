"""`keyword`: a keyword occurs in a text. Words are compared case-folded, at Unicode word boundaries.

Regular expressions are RE2's: linear in the text, whoever wrote them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from runtime.engine.rules.facts import Facts, Moment, Verdict, excerpt
from runtime.engine.rules.words import occurs_in
from runtime.playbook import KeywordCondition


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
    return occurs_in(keyword, text, as_word=match == "word")


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
