"""What the rules look at: one Messages request with all that is known about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from runtime.context.models import ModelRecord
from tests.simulator.answers import Json
from tests.simulator.anthropic.conversation import Conversation

OLD_VERSION: Final = "2023-06-01"
VERSION: Final = "2026-10-21"
VERSIONS: Final = frozenset({OLD_VERSION, VERSION})
_GENERATION: Final = re.compile(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?")


@dataclass(frozen=True, slots=True)
class Checked:
    """A request whose fields are known to be well formed."""

    body: Json
    model: ModelRecord
    version: str
    betas: frozenset[str]
    talk: Conversation
    counting: bool
    """`count_tokens`: there is no output, so no limit of it."""
    paused: bool = False
    """Its last turn is one that the simulator paused: it may be sent back to go on."""

    def get(self, *path: str) -> Any:
        """The value at that path of the body; None where nothing is."""
        value: Any = self.body
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    @property
    def generation(self) -> tuple[int, int]:
        """(5, 5) for 5.5; models with other names count as (5, 0)."""
        return generation(self.model.id)

    @property
    def thinking(self) -> str:
        """The thinking mode that holds: the one asked for, else the model's own."""
        asked = self.get("thinking", "type")
        if asked is not None:
            return str(asked)
        return "adaptive" if "adaptive" in self.model.thinking else "disabled"

    @property
    def forces_tools(self) -> bool:
        """Whether the tool choice leaves the model none."""
        return self.get("tool_choice", "type") in ("any", "tool")


Rule = Callable[[Checked], str | None]
"""Returns what is wrong, in words; None for a request that keeps the rule."""


def generation(model_id: str) -> tuple[int, int]:
    """The numbers in a model's id."""
    found = _GENERATION.fullmatch(model_id)
    return (int(found[1]), int(found[2] or 0)) if found else (5, 0)
