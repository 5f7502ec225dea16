"""bad-tool-name, bad-playbook-id, missing-name: names that a run, a provider or a file could not take."""

from __future__ import annotations

import re
from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.fixes import rename_tool
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook.base import PLAYBOOK_ID
from runtime.playbook.runnable import is_tool_name


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Errors at the field where the name is typed. What only refers to a tool is `unknown-tool`."""
    playbook = outline.playbook
    if not re.fullmatch(PLAYBOOK_ID, playbook.id):
        message = "A playbook's id is 1 to 64 letters, digits, _, . and -." + _example(playbook.id)
        yield error("bad-playbook-id", message, "/id")
    for placed in outline.tools:
        name = placed.tool.name
        if not is_tool_name(name):
            message = f"“{name}” is no tool name: models take 1 to 64 letters, digits, _ and -."
            better = _better(name)
            fix = rename_tool(name, better) if better and better not in outline.tool_names else None
            path = f"{placed.path}/name"
            yield error("bad-tool-name", message + _example(name), path, stage=placed.stage_id, fix=fix)
    names = {
        "variables": [variable.name for variable in playbook.variables],
        "agents": [agent.name for agent in playbook.agents],
    }
    for what, typed in names.items():
        for index, name in enumerate(typed):
            if not name.strip():
                message = f"One of the {what} has no name."
                yield error("missing-name", message, pointer(what, index, "name"))


def _better(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_\-]+", "_", name).strip("_")[:64]


def _example(name: str) -> str:
    better = _better(name)
    return f" For example “{better}”." if better else ""
