"""shadowed-transition, covered-keyword: transitions that never fire because another always comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from builder.validation.coverage import Placed, covering_keyword, covers, is_always
from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import Fix, remove_at, remove_transition, update_transition
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import KeywordCondition

MOST: Final = 200
"""Rules of one kind and stage that each rule is compared with: nobody writes more, and time stays bounded."""


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Within each stage; a `*` rule can be ahead of a stage's own, and behind another `*` rule."""
    anywhere = _Rules(Placed(*item) for item in outline.rules_of_any)
    for stage, items in outline.own_rules.items():
        alone = len(items) + len(anywhere.all) < 2
        if alone or stage not in outline.stages or outline.stages[stage].kind == "end":
            continue
        own = _Rules(Placed(*item) for item in items)
        if not own.may_meet and not anywhere.all:
            continue
        for rule in own.all:
            others = [p for p in anywhere.like(rule) if p.rule.action.target_stage != stage]
            yield from _judge(rule, [*own.like(rule), *others])
    for rule in anywhere.all:
        target = rule.rule.action.target_stage
        yield from _judge(rule, [p for p in anywhere.like(rule) if p.rule.action.target_stage == target])


class _Rules:
    """Rules of one `from`, to be asked for those that could come before a given one."""

    def __init__(self, placed: Iterable[Placed]) -> None:
        self.all = list(placed)
        self._always = [p for p in self.all if is_always(p.rule.condition)][:MOST]
        self._by_kind: dict[object, list[Placed]] = {}
        for one in self.all:
            self._by_kind.setdefault(one.kind, []).append(one)

    @property
    def may_meet(self) -> bool:
        """Whether any two of them could be compared."""
        return bool(self._always) or len(self._by_kind) < len(self.all)

    def like(self, rule: Placed) -> list[Placed]:
        """Those of the same kind, and those that are always true."""
        same = self._by_kind.get(rule.kind, [])
        return [*same[:MOST], *self._always]


def _judge(rule: Placed, others: list[Placed]) -> Iterator[Diagnostic]:
    first = next((other for other in others if other is not rule and covers(other, rule)), None)
    if first is not None:
        yield _shadowed(first, rule)
    elif isinstance(rule.rule.condition, KeywordCondition) and others:
        yield from _keywords(rule, rule.rule.condition, others)


def _shadowed(first: Placed, rule: Placed) -> Diagnostic:
    one, two = first.rule.id, rule.rule.id
    message = f"Transition “{two}” never fires: “{one}” comes first, and holds whenever “{two}” would."
    return warning(
        "shadowed-transition",
        message,
        pointer("transitions", rule.index),
        related=(pointer("transitions", first.index),),
        transition=two,
        fix=_mended(first, rule),
    )


def _mended(first: Placed, rule: Placed) -> Fix:
    """The narrower rule is looked at first; of two that say the same one is enough."""
    swapped = Placed(first.index, first.rule.model_copy(update={"priority": rule.rule.priority - 1}))
    same_target = first.rule.action == rule.rule.action
    if same_target or first.rule.from_stage != rule.rule.from_stage or covers(rule, swapped):
        return remove_transition("Remove it", rule.rule.id)
    priority = first.rule.priority + 1
    return update_transition("Look at it first", rule.rule.id, {"priority": priority})


def _keywords(rule: Placed, condition: KeywordCondition, others: list[Placed]) -> Iterator[Diagnostic]:
    for index, word in enumerate(condition.keywords):
        for other in others:
            wider = covering_keyword(other, rule, word) if other is not rule else None
            if wider is not None:
                yield _covered(rule, index, word, other, wider)
                break


def _covered(rule: Placed, index: int, word: str, other: Placed, wider: str) -> Diagnostic:
    says = (
        f"contains “{wider}” of “{other.rule.id}”"
        if wider != word
        else f"is one of “{other.rule.id}” as well"
    )
    message = f"The keyword “{word}” {says}, which comes first: “{rule.rule.id}” never fires by it."
    path = pointer("transitions", rule.index, "condition", "keywords", index)
    return warning(
        "covered-keyword",
        message,
        path,
        related=(pointer("transitions", other.index, "condition", "keywords"),),
        transition=rule.rule.id,
        fix=remove_at(f"Remove “{word}”", path, word),
    )
