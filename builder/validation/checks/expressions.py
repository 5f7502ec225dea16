"""bad-expression: CEL that does not compile, with its position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.outline import Outline, PlacedTool
from builder.validation.pointers import pointer
from runtime.playbook import (
    CustomCondition,
    ExpressionImplementation,
    MockImplementation,
    SetAction,
    Stage,
    ToolCallCondition,
    Transition,
)
from runtime.playbook.expressions import ROOTS, ExpressionError, compile_expression

_ARGUMENTS = (*ROOTS, "arguments")
_RESULT = (*_ARGUMENTS, "result")


@dataclass(frozen=True)
class _Place:
    source: str
    path: str
    names: tuple[str, ...]
    must_decide: bool = False
    """The value has to be true or false."""
    stage: str | None = None
    transition: str | None = None


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Every expression of the document is compiled, with the names it can use there."""
    for place in _places(outline):
        problem = _problem(place)
        if problem is not None:
            yield error("bad-expression", problem, place.path, stage=place.stage, transition=place.transition)


def _problem(place: _Place) -> str | None:
    try:
        expression = compile_expression(place.source, place.names)
    except ExpressionError as failure:
        where = f" (line {failure.line}, column {failure.column})" if place.source.strip() else ""
        return f"{failure.message.rstrip('.')}{where}."
    if place.must_decide and not expression.may_be_boolean:
        return "The expression must be true or false; its value is something else."
    return None


def _places(outline: Outline) -> Iterator[_Place]:
    for placed in outline.tools:
        yield from _of_tool(placed)
    for stage in outline.playbook.stages:
        yield from _of_actions(outline, stage)
    for index, rule in enumerate(outline.playbook.transitions):
        yield from _of_rule(index, rule)


def _of_rule(index: int, rule: Transition) -> Iterator[_Place]:
    path = pointer("transitions", index, "condition")
    match rule.condition:
        case CustomCondition(expression=source) if source.strip() or not rule.disabled:
            yield _Place(source, f"{path}/expression", ROOTS, must_decide=True, transition=rule.id)
        case ToolCallCondition(where=str(source)):
            yield _Place(source, f"{path}/where", _RESULT, must_decide=True, transition=rule.id)


def _of_actions(outline: Outline, stage: Stage) -> Iterator[_Place]:
    for field, actions in (("onEnter", stage.on_enter), ("onExit", stage.on_exit)):
        for index, action in enumerate(actions):
            if isinstance(action, SetAction):
                for name, source in action.set.items():
                    path = outline.stage_path(stage, field, index, "set", name)
                    yield _Place(source, path, ROOTS, stage=stage.id)


def _of_tool(placed: PlacedTool) -> Iterator[_Place]:
    path = f"{placed.path}/implementation"
    match placed.tool.implementation:
        case ExpressionImplementation(expression=source):
            yield _Place(source, f"{path}/expression", _ARGUMENTS, stage=placed.stage_id)
        case MockImplementation(responses=responses):
            for index, response in enumerate(responses):
                if response.when is not None:
                    where = f"{path}/responses/{index}/when"
                    yield _Place(response.when, where, _ARGUMENTS, must_decide=True, stage=placed.stage_id)
