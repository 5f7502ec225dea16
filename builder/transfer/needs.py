"""What a playbook needs where it runs and cannot bring along: secrets, servers, functions, playbooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from builder.transfer.report import ReportEntry
from builder.validation.pointers import pointer
from runtime.playbook import (
    HttpImplementation,
    McpImplementation,
    Playbook,
    PythonImplementation,
    ToolDefinition,
)

NEEDS_PLAYBOOK: Final = "needs-playbook"
"""The code of an entry at `/agents/INDEX/playbook`."""
_SECRET: Final = re.compile(r"\{\{secret\.([A-Za-z0-9_]+)\}\}")


def needs(playbook: Playbook) -> Iterator[ReportEntry]:
    """One entry for each thing, at the first place that uses it, in document order."""
    seen: set[tuple[str, str]] = set()
    for kind, name, path in _uses(playbook):
        if (kind, name) not in seen:
            seen.add((kind, name))
            yield ReportEntry(level="info", path=path, code=f"needs-{kind}", message=_words(kind, name))


def _uses(playbook: Playbook) -> Iterator[tuple[str, str, str]]:
    for index, tool in enumerate(playbook.global_tools):
        yield from _of_tool(tool, pointer("globalTools", index, "implementation"))
    for place, stage in enumerate(playbook.stages):
        for index, tool in enumerate(stage.tools):
            yield from _of_tool(tool, pointer("stages", place, "tools", index, "implementation"))
    for index, agent in enumerate(playbook.agents):
        yield "playbook", agent.playbook, pointer("agents", index, "playbook")


def _of_tool(tool: ToolDefinition, path: str) -> Iterator[tuple[str, str, str]]:
    match tool.implementation:
        case HttpImplementation() as http:
            for name in _SECRET.findall(http.model_dump_json()):
                yield "secret", name, path
        case McpImplementation(server=server):
            yield "server", server, path
        case PythonImplementation(name=name):
            yield "function", name, path
        case _:
            return


def _words(kind: str, name: str) -> str:
    what = {
        "secret": f"the secret “{name}”: define it on this server",
        "server": f"the MCP server “{name}”: an administrator registers it",
        "function": f"the Python function “{name}”: the operator registers it",
        "playbook": f"the playbook “{name}”, which it calls as an agent: import it as well",
    }[kind]
    return f"It needs {what}, if it is not there yet."
