"""empty-prompt: a stage that tells the model nothing."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A prompt of blanks is empty too."""
    for stage in outline.playbook.stages:
        if not stage.system_prompt.strip():
            message = f"“{stage.name}” has no prompt: the model is not told what to do there."
            yield warning("empty-prompt", message, outline.stage_path(stage, "systemPrompt"), stage=stage.id)
