"""bad-expression, undeclared-variable: CEL that does not compile, or reads what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.fixes import declare_variable
from builder.validation.names import did_you_mean
from builder.validation.outline import Outline, PlacedTool
from builder.validation.pointers import pointer
from builder.validation.references import references, tested
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


@dataclass(frozen=True, slots=True)
class ExpressionPlace:
    """An expression, where it stands, and the names it can use there."""

    source: str
    path: str
    names: tuple[str, ...]
    must_decide: bool = False
    """The value has to be true or false."""
    stage: str | None = None
    transition: str | None = None


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Every expression of the document is compiled, with the names it can use there."""
    for place in outline_expressions(outline):
        problem = _problem(place)
        if problem is not None:
            yield error("bad-expression", problem, place.path, stage=place.stage, transition=place.transition)
        elif "vars" in place.source:
            yield from _undeclared(outline, place)


def _undeclared(outline: Outline, place: ExpressionPlace) -> Iterator[Diagnostic]:
    """A variable that is never there makes an error of every evaluation, unless `has` asks for it first."""
    known, asked = outline.variables, {path[1] for path in tested(place.source) if len(path) > 1}
    read = dict.fromkeys(p[1] for p in references(place.source) if p[0] == "vars" and len(p) > 1)
    for name in read:
        if name not in known and name not in asked:
            message = f"Nothing declares or sets the variable “{name}”: the expression fails each time."
            yield error(
                "undeclared-variable",
                message + did_you_mean(name, known),
                place.path,
                stage=place.stage,
                transition=place.transition,
                fix=declare_variable(name),
            )


def _problem(place: ExpressionPlace) -> str | None:
    try:
        expression = compile_expression(place.source, place.names)
    except ExpressionError as failure:
        where = f" (line {failure.line}, column {failure.column})" if place.source.strip() else ""
        return f"{failure.message.rstrip('.')}{where}."
    if place.must_decide and not expression.may_be_boolean:
        return "The expression must be true or false; its value is something else."
    return None


def outline_expressions(outline: Outline) -> Iterator[ExpressionPlace]:
    """Every expression of the document that is one by its field: placeholders in texts are not."""
    for placed in outline.tools:
        yield from _of_tool(placed)
    for stage in outline.playbook.stages:
        yield from _of_actions(outline, stage)
    for index, rule in enumerate(outline.playbook.transitions):
        yield from _of_rule(index, rule)


def _of_rule(index: int, rule: Transition) -> Iterator[ExpressionPlace]:
    path = pointer("transitions", index, "condition")
    match rule.condition:
        case CustomCondition(expression=source) if source.strip() or not rule.disabled:
            yield ExpressionPlace(source, f"{path}/expression", ROOTS, must_decide=True, transition=rule.id)
        case ToolCallCondition(where=str(source)):
            yield ExpressionPlace(source, f"{path}/where", _RESULT, must_decide=True, transition=rule.id)


def _of_actions(outline: Outline, stage: Stage) -> Iterator[ExpressionPlace]:
    for field, actions in (("onEnter", stage.on_enter), ("onExit", stage.on_exit)):
        for index, action in enumerate(actions):
            if isinstance(action, SetAction):
                for name, source in action.set.items():
                    path = outline.stage_path(stage, field, index, "set", name)
                    yield ExpressionPlace(source, path, ROOTS, stage=stage.id)


def _of_tool(placed: PlacedTool) -> Iterator[ExpressionPlace]:
    path = f"{placed.path}/implementation"
    match placed.tool.implementation:
        case ExpressionImplementation(expression=source):
            yield ExpressionPlace(source, f"{path}/expression", _ARGUMENTS, stage=placed.stage_id)
        case MockImplementation(responses=responses):
            for index, response in enumerate(responses):
                if response.when is not None:
                    where = f"{path}/responses/{index}/when"
                    yield ExpressionPlace(
                        response.when, where, _ARGUMENTS, must_decide=True, stage=placed.stage_id
                    )
