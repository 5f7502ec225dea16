"""Tools that give what the script says; all others are the runner's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import ToolDefinition
from runtime.runner.ports import Clock, Tools
from runtime.runner.replay.script import ScriptedTool
from runtime.tools.toolbox import failure
from runtime.tools.wellformed import well_formed


class ScriptedTools:
    """Answers the tools of a script; what the script does not name goes to `others`."""

    def __init__(self, script: Mapping[str, ScriptedTool], others: Tools, clock: Clock) -> None:
        self._script, self._others, self._clock = script, others, clock

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """The scripted result, after `sleep_s` on the script's clock."""
        scripted = self._script.get(call.name)
        if scripted is None:
            return await self._others.run(tool, call, roots)
        if scripted.sleep_s:
            await self._clock.sleep(scripted.sleep_s)
        result, error = answer(scripted, call.arguments or {})
        if error is not None:
            return failure(call, error)
        return ToolMessage(
            call_id=call.call_id, tool_name=call.name, success=True, result=well_formed(result)
        )


def answer(tool: ScriptedTool, arguments: Mapping[str, Any]) -> tuple[Any, str | None]:
    """(result, error) of a scripted tool for these arguments."""
    if tool.raises is not None:
        return None, tool.raises if isinstance(tool.raises, str) and tool.raises else "The tool failed."
    for argument, results in tool.returns_by.items():
        value = as_text(arguments.get(argument))
        if value in results:
            return results[value], None
    if tool.returns_by and "returns" not in tool.model_fields_set:
        named = ", ".join(f"{name}={as_text(arguments.get(name))}" for name in tool.returns_by)
        return None, f"The script has no result for {named}."
    return tool.returns, None


def as_text(value: Any) -> str:
    """A value as a key of `returns_by` names it: `true`, `3`, `red`, `null`."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)
