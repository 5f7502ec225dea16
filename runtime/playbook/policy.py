"""Context policy: what may be done to the window, for the playbook and for one stage (context.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runtime.playbook.base import DocumentPart


class StageContextPolicy(DocumentPart):
    """The settings that a stage can override; None means "as the playbook says"."""

    artifact_threshold: int | None = Field(default=None, ge=1)
    """Characters (code points) above which a result becomes an artifact. Default 500."""
    artifact_preview: int | None = Field(default=None, ge=1)
    """Characters of an artifact that are loaded at once. Default 20,000."""
    artifact_tools: bool | None = None
    compaction: bool | None = None
    budget_tokens: int | None = Field(default=None, ge=1)
    """Tokens a window may have. Default 60 % of the model's window."""
    budget_target: int | None = Field(default=None, ge=1)
    """Tokens a compaction brings the window down to. Default half the budget."""
    keep_recent: int | None = Field(default=None, ge=0)
    """Tokens of newest turns that are never compacted. Default a fifth of the budget."""
    summaries: Literal["model_given", "llm", "rules"] | None = None
    cache_points: int | None = Field(default=None, ge=0, le=4)


class ContextPolicy(StageContextPolicy):
    """The playbook-wide policy."""

    layout: Literal["append", "swap"] | None = None
    cache_ttl: Literal["auto", "5m", "1h"] | None = None
    state_compression: bool | None = None
    full_state_interval: int | None = Field(default=None, ge=1)
    """P-frames between two I-frames. Default 8."""
