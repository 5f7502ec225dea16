"""CEL expressions: checked when compiled, bounded before they run, errors as values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.playbook.expressions import MAX_LENGTH, ROOTS, ExpressionError, compile_expression

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def roots(**variables: Any) -> dict[str, Any]:
    return {"vars": variables, "turn": {"count": 2}, "stage": {}, "session": {}, "data": {}, "now": NOW}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("vars.n > 2", True),
        ('vars.name + "!"', "Ada!"),
        ("vars.items.exists(item, item == 2)", True),
        ("[vars.n, vars.nothing]", [3, None]),
        ("now", "2026-01-05T09:00:00Z"),
        ('now > timestamp("2026-01-01T00:00:00Z")', True),
        ("turn.count", 2),
        ("1.0 / 0.0", None),
    ],
)
def test_an_expression_gives_a_plain_json_value(source: str, value: Any) -> None:
    outcome = compile_expression(source).evaluate(roots(n=3, name="Ada", items=[1, 2], nothing=None))
    assert (outcome.value, outcome.error) == (value, None)


@pytest.mark.parametrize(
    ("source", "line", "column", "part"),
    [
        ("vars.n +", 1, 9, "Syntax error"),
        ("nobody == 1", 1, 1, "`nobody` is not known here"),
        ("true &&\n  missing", 2, 3, "`missing`"),
        ('"a" + 1', 1, 5, "no matching overload"),
        ("", 1, 1, "empty"),
        ("x" * (MAX_LENGTH + 1), 1, 1, "longer than"),
        ("'\ud800'", 1, 1, "not valid text"),
        ("vars.a.all(x, vars.b.all(y, x == y))", 1, 25, "loop inside a loop"),
        ("vars.a.map(x, x).map(x, x).map(x, x).map(x, x)", 1, 41, "More than 3 loops"),
    ],
)
def test_what_is_wrong_with_an_expression_is_said_with_its_place(
    source: str, line: int, column: int, part: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source)
    assert part in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("source", ["'vars.a.map(' + vars.name", 'vars.items.exists(i, "x.all(" == "y")'])
def test_what_looks_like_a_loop_inside_a_text_is_none(source: str) -> None:
    assert compile_expression(source).evaluate(roots(name="Ada", items=[1])).error is None


@pytest.mark.parametrize(
    ("source", "value"),
    [("vars.missing > 1", 1), ("vars.n.deeper", 3), ("vars.n / 0", 1), ("vars.n + 1", 2**70)],
)
def test_an_error_at_run_time_is_a_value(source: str, value: int) -> None:
    outcome = compile_expression(source).evaluate(roots(n=value))
    assert outcome.value is None
    assert outcome.error
    assert not outcome.holds


@pytest.mark.parametrize("value", [1, "true", None, [True]])
def test_only_true_holds(value: Any) -> None:
    assert not compile_expression("vars.x").evaluate(roots(x=value)).holds


def test_work_without_end_is_cut_off_as_an_error() -> None:
    outcome = compile_expression("vars.a.all(x, x >= 0)").evaluate(roots(a=list(range(20_000))))
    assert outcome.error is not None


def test_a_loop_over_too_much_data_is_an_error_and_without_a_loop_it_is_none() -> None:
    much = roots(a=[1], text="x" * 1_000_001)
    assert "too much" in (compile_expression("vars.a.map(x, vars.text)").evaluate(much).error or "")
    assert compile_expression('vars.text == "y"').evaluate(much).error is None


def test_names_can_be_added_for_a_place_that_has_more_of_them() -> None:
    expression = compile_expression("arguments.n == result", (*ROOTS, "arguments", "result"))
    assert expression.evaluate(roots() | {"arguments": {"n": 2}, "result": 2}).holds
    with pytest.raises(ExpressionError):
        compile_expression("arguments.n == 1")


def test_a_condition_can_be_known_not_to_be_boolean() -> None:
    assert not compile_expression("1 + 1").may_be_boolean
    assert compile_expression("vars.x").may_be_boolean


@pytest.mark.parametrize("large", [10**30, -(2**63) - 1, 10**400])
def test_a_number_that_is_too_large_spoils_no_other_value(large: int) -> None:
    expression = compile_expression("vars.count > 2")
    assert expression.evaluate({"vars": {"count": 3, "large": [large]}}).holds
    assert compile_expression("vars.large > 5.0").evaluate({"vars": {"large": large}}).holds == (large > 0)
