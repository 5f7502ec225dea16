"""empty-prompt, long-prompt: a stage that tells the model nothing, or very much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.outline import Outline
from runtime.context.tokens import characters_estimate

LONG: Final = 4_000
"""Tokens, by a count of characters: the same wherever the check runs."""


def check(outline: Outline) -> Iterator[Diagnostic]:
    """A prompt of blanks is empty too."""
    playbook = outline.playbook
    everywhere = playbook.global_system_prompt or ""
    if (tokens := _tokens(everywhere)) > LONG:
        yield warning("long-prompt", _long("The prompt of the whole playbook", tokens), "/globalSystemPrompt")
    for stage in playbook.stages:
        path, prompt = outline.stage_path(stage, "systemPrompt"), stage.system_prompt
        if not prompt.strip():
            message = f"“{stage.name}” has no prompt: the model is not told what to do there."
            yield warning("empty-prompt", message, path, stage=stage.id)
        elif (tokens := _tokens(prompt)) > LONG:
            yield warning("long-prompt", _long(f"The prompt of “{stage.name}”", tokens), path, stage=stage.id)


def _tokens(text: str) -> int:
    return characters_estimate(text) if 2 * len(text) > LONG else 0


def _long(what: str, tokens: int) -> str:
    return (
        f"{what} has about {tokens:,} tokens. Models follow a shorter one better: "
        "what only some turns need can come from a tool, or from a stage of its own."
    )
