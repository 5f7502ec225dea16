"""`expression`: the value of a CEL expression over `arguments` and the usual names is the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.playbook import ExpressionImplementation
from runtime.playbook.expressions import ROOTS, ExpressionError, compile_expression
from runtime.tools.errors import ToolFailed


def run_expression(implementation: ExpressionImplementation, roots: Mapping[str, Any]) -> Any:
    """The value. Raises ToolFailed if it does not compile or cannot be evaluated."""
    try:
        outcome = compile_expression(implementation.expression, (*ROOTS, "arguments")).evaluate(roots)
    except ExpressionError as error:
        raise ToolFailed(f"The tool's expression is not valid: {error.message}") from None
    if outcome.error is not None:
        raise ToolFailed(f"The tool's expression could not be evaluated: {outcome.error}")
    return outcome.value
