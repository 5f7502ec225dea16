"""What answers the tool calls: registry, mock, expression; http, mcp and python follow."""
