"""ToolBox: answers a tool call as its implementation says. Whatever a tool does, the answer is a message."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, assert_never

from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import (
    ClientImplementation,
    ExpressionImplementation,
    HttpImplementation,
    McpImplementation,
    MockImplementation,
    PythonImplementation,
    ToolDefinition,
    ToolImplementation,
)
from runtime.tools.errors import ToolFailed
from runtime.tools.expression import run_expression
from runtime.tools.mock import run_mock
from runtime.tools.wellformed import well_formed

logger = logging.getLogger(__name__)


class ToolBox:
    """Runs tools of the types this version has. `sleep` is what a mock's delay waits with."""

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """The one result of the call, as plain JSON; an error result for everything that goes wrong."""
        names = {**roots, "arguments": dict(call.arguments or {})}
        try:
            result = await self._result(tool.implementation, names)
        except ToolFailed as error:
            return failure(call, error.message)
        except Exception as error:
            # What a tool raises may hold paths or secrets: the log gets it, the model does not.
            logger.exception("the tool %s raised", tool.name)
            return failure(call, f"The tool failed inside ({type(error).__name__}).")
        return ToolMessage(
            call_id=call.call_id, tool_name=call.name, success=True, result=well_formed(result)
        )

    async def _result(self, implementation: ToolImplementation | None, roots: Mapping[str, Any]) -> Any:
        match implementation:
            case None:
                raise ToolFailed("This tool is not implemented.")
            case MockImplementation():
                return await run_mock(implementation, roots, self._sleep)
            case ExpressionImplementation():
                return run_expression(implementation, roots)
            case HttpImplementation():
                raise ToolFailed("HTTP tools come with a later release.")
            case McpImplementation():
                raise ToolFailed("MCP tools come with a later release.")
            case PythonImplementation():
                raise ToolFailed("Python tools come with a later release.")
            case ClientImplementation():
                raise ToolFailed("Client tools come with a later release.")
            case _:
                assert_never(implementation)


def failure(call: ToolCall, error: str) -> ToolMessage:
    """An error result."""
    return ToolMessage(call_id=call.call_id, tool_name=call.name, success=False, error=error)
