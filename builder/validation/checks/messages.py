"""message-has-keyword: the reply will repeat the author's own words, and move on at once.

A transition's message stands in the conversation when the next stage replies. It is never matched itself;
the reply, which takes up its words, is.
"""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.engine.rules.keyword import occurs
from runtime.playbook import KeywordCondition, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Against the keyword rules that may leave the target and listen to the assistant."""
    for index, rule in outline.rules:
        text, target = (
            rule.action.transition_message or "",
            outline.stages.get(rule.action.target_stage or ""),
        )
        if not text.strip() or target is None:
            continue
        for other, listener in (*outline.own_rules.get(target.id, ()), *outline.rules_of_any[:100]):
            keyword = _heard(listener, text) if listener.action.target_stage != target.id else None
            if keyword is not None:
                yield _repeats(index, rule, other, listener, keyword, target.name)


def _heard(listener: Transition, text: str) -> str | None:
    condition = listener.condition
    if not isinstance(condition, KeywordCondition) or condition.source == "user":
        return None
    return next(
        (word for word in condition.keywords if word.strip() and occurs(word, text, condition.match)), None
    )


def _repeats(
    index: int, rule: Transition, other: int, listener: Transition, keyword: str, target: str
) -> Diagnostic:
    message = (
        f"The message of “{rule.id}” has the word “{keyword}”, on which “{listener.id}” leaves “{target}”: "
        "the reply is likely to repeat it, and the conversation moves on at once."
    )
    path = pointer("transitions", index, "action", "transitionMessage")
    related = (pointer("transitions", other, "condition", "keywords"),)
    return warning("message-has-keyword", message, path, related=related, transition=rule.id)
