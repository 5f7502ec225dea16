"""Python functions as tools: for a program that runs a playbook and has the tools' code itself."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import ToolDefinition
from runtime.tools.errors import ToolFailed
from runtime.tools.toolbox import ToolBox, failure
from runtime.tools.wellformed import well_formed

ToolFunction = Callable[..., Any]
"""Gets the call's arguments by name; its result, awaited if need be, is plain JSON. A ToolFailed's message is
told to the model, any other exception only by its name."""

logger = logging.getLogger(__name__)


class FunctionTools:
    """Answers the calls of tools that a function is given for; `others` answers the rest."""

    def __init__(self, functions: Mapping[str, ToolFunction], others: ToolBox) -> None:
        self._functions = dict(functions)
        self._others = others

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """The one result of the call. A function that blocks holds up its whole program: make it async."""
        function = self._functions.get(tool.name)
        if function is None:
            return await self._others.run(tool, call, roots)
        try:
            result = function(**(call.arguments or {}))
            result = await result if inspect.isawaitable(result) else result
        except ToolFailed as error:
            return failure(call, error.message)
        except Exception as error:
            logger.exception("the function of the tool %s raised", tool.name)
            return failure(call, f"The tool failed inside ({type(error).__name__}).")
        return ToolMessage(
            call_id=call.call_id, tool_name=call.name, success=True, result=well_formed(result)
        )
