"""Context policy: what may be done to the window, for the playbook and for one stage (context.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from runtime.playbook.base import DocumentPart, Flag, Integer, Whole

ARTIFACT_DEFAULTS: Final[Mapping[str, Any]] = {
    "artifact_threshold": 500,
    "artifact_preview": 20_000,
    "artifact_tools": True,
}
"""What holds where no policy says anything; lengths in characters (code points)."""


class StageContextPolicy(DocumentPart):
    """The settings that a stage can override; None means "as the playbook says"."""

    artifact_threshold: Whole | None = Field(default=None, ge=1)
    """Characters (code points) above which a result becomes an artifact. Default 500."""
    artifact_preview: Whole | None = Field(default=None, ge=1)
    """Characters of an artifact that are loaded at once. Default 20,000."""
    artifact_tools: Flag | None = None
    compaction: Flag | None = None
    budget_tokens: Whole | None = Field(default=None, ge=1)
    """Tokens a window may have. Default 60 % of the model's window."""
    budget_target: Whole | None = Field(default=None, ge=1)
    """Tokens a compaction brings the window down to. Default half the budget."""
    keep_recent: Whole | None = Field(default=None, ge=0)
    """Tokens of newest turns that are never compacted. Default a fifth of the budget."""
    summaries: Literal["model_given", "llm", "rules"] | None = None
    cache_points: Integer | None = Field(default=None, ge=0, le=4)


class ContextPolicy(StageContextPolicy):
    """The playbook-wide policy."""

    layout: Literal["append", "swap"] | None = None
    cache_ttl: Literal["auto", "5m", "1h"] | None = None
    state_compression: Flag | None = None
    full_state_interval: Whole | None = Field(default=None, ge=1)
    """P-frames between two I-frames. Default 8."""


def artifact_setting(name: str, *layers: StageContextPolicy | None) -> Any:
    """A setting about artifacts: of the first of `layers` that has it (the strongest is the first), else its
    default."""
    given = (getattr(layer, name) for layer in layers if layer is not None)
    return next((value for value in given if value is not None), ARTIFACT_DEFAULTS[name])
