"""`mock`: scripted answers; the first response whose `when` holds is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from runtime.playbook import MockImplementation, MockResponse
from runtime.playbook.expressions import ROOTS, ExpressionError, compile_expression
from runtime.tools.errors import ToolFailed

Sleep = Callable[[float], Awaitable[None]]


async def run_mock(implementation: MockImplementation, roots: Mapping[str, Any], sleep: Sleep) -> Any:
    """The result of the first response that fits, after its delay. Raises ToolFailed for an `error`."""
    for number, response in enumerate(implementation.responses, 1):
        if _fits(response, number, roots):
            if response.delay_ms:
                await sleep(response.delay_ms / 1000)
            if response.error is not None:
                raise ToolFailed(response.error)
            return response.result
    raise ToolFailed("No response of this mock fits the arguments.")


def _fits(response: MockResponse, number: int, roots: Mapping[str, Any]) -> bool:
    if response.when is None or not response.when.strip():
        return True
    try:
        outcome = compile_expression(response.when, (*ROOTS, "arguments")).evaluate(roots)
    except ExpressionError as error:
        raise ToolFailed(f"`when` of response {number} is not a valid expression: {error.message}") from None
    # A missing optional argument makes `when` fail; another response may fit.
    return outcome.holds
