"""CEL expressions: checked when compiled, bounded before they run, errors as values."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runtime.playbook.expressions import MAX_LENGTH, ROOTS, ExpressionError, compile_expression

ROOT = Path(__file__).resolve().parents[3]
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


def test_a_map_has_the_same_order_in_every_process() -> None:
    letters = "qwertyuiop"
    made = "{" + ", ".join(f"'{letter}': {{'z': 1, 'a': 2}}" for letter in letters) + "}"
    value = compile_expression(made).evaluate(dict.fromkeys(ROOTS)).value
    assert list(value) == sorted(letters)
    assert list(value["q"]) == ["a", "z"]


def joined(count: int, term: str) -> str:
    """`count` terms joined so that no parenthesis is deep."""
    return term if count == 1 else f"({joined(count // 2, term)}+{joined(count - count // 2, term)})"


HOSTILE = {
    "many joins of a long text": joined(100, "vars.x") + " == ''",
    "many joins of a long list": f"size({joined(90, 'vars.l')}) > 1",
    "a long text for each item": "vars.s.map(a, vars.x).size() > 0",
    "joins in a loop": "vars.s.all(a, (vars.x + vars.x) != '')",
    "a map of joins": "vars.s.map(a, vars.s + vars.s).size() > 0",
    "a pattern that backtracks elsewhere": "vars.x.matches('(x+x+)+y')",
    "a search that fails late": f"vars.x.contains('{'x' * 900}y')",
    "loops over all": "vars.l.all(a, a >= 0) && vars.l.all(a, a >= 0) && vars.l.all(a, a >= 0)",
    "everything compared": "vars == vars",
}
MEASURE = """
import resource, sys, time
from runtime.playbook.expressions import compile_expression
data = {"x": "x" * 900_000, "l": list(range(90_000)), "s": ["ab"] * 9_000}
compiled = compile_expression(sys.argv[1])
compiled.evaluate({"vars": {"x": "x", "l": [1], "s": ["a"]}})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
compiled.evaluate({"vars": data})
print(time.process_time() - began, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_no_expression_takes_much_memory_or_time(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, HOSTILE[name]], capture_output=True, text=True, check=True, cwd=ROOT
    )
    seconds, megabytes = map(float, done.stdout.split())
    assert megabytes < 50
    assert seconds < 0.5  # 50 ms are meant; a machine that tests may be ten times as slow


def test_small_values_are_joined_and_mapped_as_often_as_one_likes() -> None:
    items = [{"price": number, "tax": 1} for number in range(200)]
    names = roots(items=items, note="n" * 1000)
    outcome = compile_expression("vars.items.map(i, i.price + i.tax + 1).size()").evaluate(names)
    assert outcome.value == 200
    assert compile_expression("vars.note + vars.note == ''").evaluate(names).error is None
