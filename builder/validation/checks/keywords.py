"""keyword-empty, bad-regex: keyword conditions that cannot match."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import re2

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import remove_at
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import KeywordCondition, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Patterns are RE2's: no look-ahead, no back-references, and never slow."""
    for index, rule in enumerate(outline.playbook.transitions):
        if isinstance(rule.condition, KeywordCondition):
            yield from _condition(
                rule, rule.condition, pointer("transitions", index, "condition", "keywords")
            )


def _condition(rule: Transition, condition: KeywordCondition, path: str) -> Iterator[Diagnostic]:
    if not condition.keywords:
        message = f"Transition “{rule.id}” has no keywords: it never fires."
        yield warning("keyword-empty", message, path, transition=rule.id)
    for index, keyword in enumerate(condition.keywords):
        if not keyword.strip():
            message = f"A keyword of transition “{rule.id}” is empty: it never occurs."
            at = path + pointer(index)
            fix = remove_at("Remove it", at, keyword)
            yield warning("keyword-empty", message, at, transition=rule.id, fix=fix)
        elif condition.match == "regex" and (reason := pattern_problem(keyword)):
            message = f"“{keyword}” is no pattern that can be used: {reason}."
            yield error("bad-regex", message, path + pointer(index), transition=rule.id)


@lru_cache(maxsize=1024)
def pattern_problem(pattern: str) -> str | None:
    """Why RE2 does not take the pattern; None if it does."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except (re2.error, UnicodeError) as failure:
        reason = failure.args[0] if failure.args else "refused"
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return None
