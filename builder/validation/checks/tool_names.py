"""reserved-tool-name, duplicate-id, tool-name-conflict: each tool name means one tool."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import rename_tool, replace_at
from builder.validation.given import as_given, canonical
from builder.validation.outline import Outline, PlacedTool
from runtime.playbook.engine_tools import RESERVED_TOOLS


def check(outline: Outline) -> Iterator[Diagnostic]:
    """The same tool may be defined in several stages, as long as the definitions are equal."""
    first: dict[str, PlacedTool] = {}
    in_holder: dict[tuple[str | None, str], PlacedTool] = {}
    for placed in outline.tools:
        name, path = placed.tool.name, f"{placed.path}/name"
        if name in RESERVED_TOOLS:
            message = f"“{name}” is a tool of the engine itself; give yours another name."
            wanted = f"my_{name}"
            fix = rename_tool(name, wanted) if wanted not in outline.tool_names else None
            yield error("reserved-tool-name", message, path, stage=placed.stage_id, fix=fix)
        same_place = in_holder.setdefault((placed.stage_id, name), placed)
        other = first.setdefault(name, placed)
        if same_place is not placed:
            message = f"Two tools of one stage have the name “{name}”; the model could not tell them apart."
            related = (f"{same_place.path}/name",)
            yield error("duplicate-id", message, path, related=related, stage=placed.stage_id)
        elif (
            other is not placed
            and other.tool != placed.tool
            and canonical(other.tool) != canonical(placed.tool)
        ):
            yield _conflict(placed, other)


def _conflict(placed: PlacedTool, other: PlacedTool) -> Diagnostic:
    message = (
        f"“{placed.tool.name}” is defined differently elsewhere. The tools then change with the stage, "
        "and the cached part of the window is lost at each change."
    )
    return warning(
        "tool-name-conflict",
        message,
        f"{placed.path}/name",
        related=(f"{other.path}/name",),
        stage=placed.stage_id,
        fix=replace_at(
            "Take the other definition", placed.path, {"name": placed.tool.name}, as_given(other.tool)
        ),
    )
