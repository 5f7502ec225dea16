"""`custom`: a CEL expression is true."""

from __future__ import annotations

from runtime.engine.rules.facts import Facts, Moment, Verdict, seen_value
from runtime.playbook import CustomCondition
from runtime.playbook.expressions import ExpressionError, compile_expression


def looks(condition: CustomCondition, moment: Moment) -> bool:
    """Before or after the reply, as the rule says."""
    return moment == condition.when


def judge(condition: CustomCondition, facts: Facts) -> Verdict:
    """True only for the value `true`; an error is a verdict with its reason."""
    try:
        outcome = compile_expression(condition.expression).evaluate(facts.roots())
    except ExpressionError as error:
        return Verdict(False, None, f"Not a valid expression: {error.message}")
    if outcome.error is not None:
        return Verdict(False, None, f"The expression could not be evaluated: {outcome.error}")
    if not isinstance(outcome.value, bool):
        return Verdict(False, seen_value(outcome.value), "The expression's value is not true or false.")
    return Verdict(outcome.value, outcome.value, f"The expression is {str(outcome.value).lower()}.")
