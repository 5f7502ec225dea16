"""Tools: mock and expression answer, the others say what they are, and every answer is plain JSON."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import ToolDefinition
from runtime.tools import ToolBox
from runtime.tools.wellformed import MAX_CHARACTERS, NO_RESULT, well_formed

ROOTS: dict[str, Any] = {"vars": {"free": 2}, "turn": {}, "stage": {}, "session": {}, "data": {}}


async def answer(implementation: dict[str, Any] | None, **arguments: Any) -> ToolMessage:
    tool = ToolDefinition.model_validate({"name": "t", "implementation": implementation})
    return await ToolBox().run(tool, ToolCall(call_id="c1", name="t", arguments=arguments), ROOTS)


def mock(*responses: dict[str, Any]) -> dict[str, Any]:
    return {"type": "mock", "responses": list(responses)}


async def test_a_mock_answers_with_the_first_response_that_fits() -> None:
    script = mock(
        {"when": 'arguments.kind == "city"', "result": 1},
        {"when": "vars.free > 1", "result": {"n": 2}},
        {"result": 3},
    )
    assert (await answer(script, kind="city")).result == 1
    assert (await answer(script, kind="cargo")).result == {"n": 2}
    assert (await answer(script)).result == {"n": 2}


async def test_a_mock_can_fail() -> None:
    message = await answer(mock({"error": "The system is down."}))
    assert (message.success, message.error, message.result) == (False, "The system is down.", None)


async def test_a_mock_without_a_fitting_response_says_so() -> None:
    message = await answer(mock({"when": "false", "result": 1}))
    assert "No response" in (message.error or "")


async def test_a_mock_waits_as_long_as_it_is_told() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    tool = ToolDefinition.model_validate({"name": "t", "implementation": mock({"result": 1, "delayMs": 250})})
    await ToolBox(sleep).run(tool, ToolCall(call_id="c", name="t", arguments={}), ROOTS)
    assert waited == [0.25]


async def test_an_expression_computes_its_result() -> None:
    message = await answer({"type": "expression", "expression": "arguments.n * vars.free"}, n=21)
    assert message.result == 42


@pytest.mark.parametrize("source", ["arguments.missing", "1 +", ""])
async def test_an_expression_that_fails_is_an_error_result(source: str) -> None:
    message = await answer({"type": "expression", "expression": source})
    assert (message.success, bool(message.error)) == (False, True)


@pytest.mark.parametrize(
    "implementation",
    [
        {"type": "http", "url": "http://x"},
        {"type": "mcp", "server": "s", "tool": "t"},
        {"type": "python", "name": "f"},
        {"type": "client"},
    ],
)
async def test_a_type_that_comes_later_says_so(implementation: dict[str, Any]) -> None:
    assert "later release" in ((await answer(implementation)).error or "")


async def test_a_tool_without_implementation_says_so() -> None:
    assert (await answer(None)).error == "This tool is not implemented."


class _Loop(list[Any]):
    """A list that holds itself."""


def endless() -> Any:
    loop = _Loop()
    loop.append(loop)
    return loop


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2030, 1, 2, tzinfo=UTC), "2030-01-02T00:00:00Z"),
        (Decimal("1.10"), "1.10"),
        (None, NO_RESULT),
        ("", NO_RESULT),
        ({"a": None, "b": True}, {"a": None, "b": True}),
        ({1: "a", "1": "b"}, {"1": "a", "1'": "b"}),
        ({1, 2}, [1, 2]),
        ("lone \ud800", "lone \ufffd"),
    ],
)
def test_a_result_is_made_readable(value: Any, expected: Any) -> None:
    """B049."""
    assert well_formed(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        b"\xff\x00",
        math.nan,
        math.inf,
        Decimal("NaN"),
        10**400,
        object(),
        endless(),
        deep(5000),
        iter([]),
        {object(): math.nan},
        list(range(300_000)),
    ],
)
def test_whatever_a_tool_returns_becomes_valid_json(value: Any) -> None:
    """B049: no bare NaN or Infinity, nothing endless, nothing huge without saying so."""
    text = json.dumps(well_formed(value), allow_nan=False)
    assert len(text) < 5_000_000
    assert "0x" not in text


def test_a_huge_text_is_cut_and_says_so() -> None:
    result = well_formed("x" * (MAX_CHARACTERS + 1))
    assert result.endswith(f"(shortened: {MAX_CHARACTERS + 1} characters in all)")
