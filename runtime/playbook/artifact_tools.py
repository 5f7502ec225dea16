"""The engine's own tools `SaveArtifact` and `LoadArtifact`, and where a playbook offers them; pure tables."""

from __future__ import annotations

from typing import Any, Final

from runtime.playbook.playbook import Playbook, Stage
from runtime.playbook.policy import artifact_setting
from runtime.playbook.tools import ToolDefinition

SAVE: Final = "SaveArtifact"
LOAD: Final = "LoadArtifact"
ARTIFACT_TOOLS: Final = (SAVE, LOAD)


def _tool(name: str, description: str, properties: dict[str, Any], required: list[str]) -> ToolDefinition:
    parameters = {"type": "object", "properties": properties, "required": required}
    return ToolDefinition(name=name, description=description, parameters=parameters)


DEFINITIONS: Final = (
    _tool(
        SAVE,
        "Keep a long value under a name.",
        {"name": {"type": "string"}, "summary": {"type": "string"}, "value": {}},
        ["name", "summary", "value"],
    ),
    _tool(
        LOAD,
        "Read an artifact, or a part of it. To hand it to a tool, give $name as the whole argument instead.",
        {"name": {"type": "string"}, "offset": {"type": "integer"}, "length": {"type": "integer"}},
        ["name"],
    ),
)
"""Short, because every request carries them: what they refuse, they say in words."""


def offers_artifact_tools(playbook: Playbook, stage: Stage) -> bool:
    """Whether the document lets the model save and load artifacts in `stage`."""
    return stage.kind != "raw" and bool(artifact_setting("artifact_tools", stage.context, playbook.context))


def ever_offers_artifact_tools(playbook: Playbook) -> bool:
    """Whether a stage of the document does."""
    return any(offers_artifact_tools(playbook, stage) for stage in playbook.stages)
