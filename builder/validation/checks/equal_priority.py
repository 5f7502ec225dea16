"""equal-priority: two rules of a stage can hold at once, lead elsewhere, and only their order decides.

Only where both conditions are expressions that read different things, so that nothing excludes one while the
other holds. Two keywords or two intents of the same priority are how one writes a menu.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import update_transition
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from builder.validation.references import references
from runtime.playbook import CustomCondition, ToolCallCondition, Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Each rule is compared with the next one of its kind and priority."""
    for items in (*outline.own_rules.values(), outline.rules_of_any):
        groups: dict[object, list[tuple[int, Transition]]] = {}
        for index, rule in items:
            group = _group(rule)
            if group is not None:
                groups.setdefault((group, rule.priority), []).append((index, rule))
        for group_items in groups.values():
            for one, two in pairwise(group_items):
                if one[1].action != two[1].action and _may_meet(one[1], two[1]):
                    yield _ambiguous(*one, *two)


def _group(rule: Transition) -> object:
    match rule.condition:
        case CustomCondition(when=when, expression=source) if source.strip():
            return ("custom", when)
        case ToolCallCondition(tool_name=tool, where=str(where)) if where.strip():
            return ("tool_call", tool)
    return None


def _may_meet(one: Transition, two: Transition) -> bool:
    outcomes = {getattr(rule.condition, "outcome", "any") for rule in (one, two)} - {"any"}
    read = [set(references(_source(rule))) for rule in (one, two)]
    return len(outcomes) < 2 and all(read) and not _overlap(read[0], read[1])


def _overlap(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> bool:
    """Whether both look at the same field, or one at what holds the other's."""
    return any(a[: len(b)] == b or b[: len(a)] == a for a in one for b in two)


def _source(rule: Transition) -> str:
    condition = rule.condition
    if isinstance(condition, CustomCondition):
        return condition.expression
    return (condition.where or "") if isinstance(condition, ToolCallCondition) else ""


def _ambiguous(index: int, one: Transition, other: int, two: Transition) -> Diagnostic:
    message = (
        f"“{one.id}” and “{two.id}” can hold at the same time and have the same priority: "
        f"then “{one.id}” is taken only because it stands first."
    )
    fix = update_transition(f"Put “{one.id}” first by priority", one.id, {"priority": one.priority + 1})
    path, related = pointer("transitions", index), (pointer("transitions", other),)
    return warning("equal-priority", message, path, related=related, transition=one.id, fix=fix)
