"""What answers the tool calls: mock, expression; http, mcp, python and client follow."""

from runtime.tools.errors import ToolFailed
from runtime.tools.toolbox import ToolBox

__all__ = ["ToolBox", "ToolFailed"]
