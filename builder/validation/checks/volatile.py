"""volatile-prompt: a clock or an id early in a prompt, so that what follows cannot be read from the cache.

A placeholder is filled when its stage is entered. The prompt of the first stage stands at the head of every
conversation, in the `swap` layout that of each stage: as long as it is the same text, the provider has it
cached from the conversation before. What follows a value that is new each time is written anew instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import replace_at
from builder.validation.outline import Outline
from builder.validation.references import references
from runtime.context.models import ModelRecord, record
from runtime.context.tokens import characters_estimate
from runtime.playbook import LLMConfig, SetAction, Stage
from runtime.playbook.engine_tools import tool_conflicts
from runtime.playbook.placeholders import Placeholder, expression_of, placeholders

SESSIONS_A_YEAR: Final = 1_000 * 365
MATTERS: Final = 100
"""Tokens after the value, from which on it is worth a word."""
USUAL_MODEL: Final = "claude-sonnet-5"
"""Whose prices are taken where the playbook names no model."""
_MESSAGE: Final = "|message"
# A date without its time is the same all day, and its text is cached as long as anybody talks.
_SLOW: Final = re.compile(r"\bnow\s*\.\s*get(?:FullYear|Month|Date|DayOf\w+|Hours)\s*\(")


def check(outline: Outline) -> Iterator[Diagnostic]:
    """The first such value of each prompt; a message of its own (`|message`) stands at the end."""
    playbook = outline.playbook
    swaps = playbook.context.layout == "swap" or bool(tool_conflicts(playbook))
    first = outline.stages.get(playbook.initial_stage)
    stages = outline.stages.values() if swaps else [first] if first is not None else []
    for stage in stages:
        value = _first_value(stage)
        if value is not None and stage.kind != "raw":
            yield from _judge(outline, stage, value)


def _first_value(stage: Stage) -> Placeholder | None:
    if "{" not in stage.system_prompt:
        return None
    changing = _changing_variables(stage)
    for placeholder in placeholders(stage.system_prompt):
        if not placeholder.own_message and _is_new_each_time(expression_of(placeholder), changing):
            return placeholder
    return None


def _is_new_each_time(source: str, changing: frozenset[str] = frozenset()) -> bool:
    for path in references(_SLOW.sub("stage.day(", source)):
        clock = path[0] == "now" or path[:2] in (("session", "id"), ("turn", "userMessage"))
        if clock or (path[0] == "vars" and len(path) > 1 and path[1] in changing):
            return True
    return False


def _changing_variables(stage: Stage) -> frozenset[str]:
    """Variables that the stage sets from such a value as it is entered."""
    sets = [action.set for action in stage.on_enter if isinstance(action, SetAction)]
    return frozenset(name for values in sets for name, source in values.items() if _is_new_each_time(source))


def _judge(outline: Outline, stage: Stage, value: Placeholder) -> Iterator[Diagnostic]:
    prompt = stage.system_prompt
    model = _model(outline, stage)
    behind = characters_estimate(prompt[value.end :]) if value.end < len(prompt) else 0
    if behind < MATTERS:
        return
    shown = prompt[value.start : value.end]
    message = (
        f"“{shown}” is new in each conversation: the about {behind:,} tokens behind it cannot be read from "
        f"the cache.{_cost(behind, model)} Put it at the end, or give it a message of its own: "
        f"“{shown[:-1]}{_MESSAGE}}}”."
    )
    moved = prompt[: value.end - 1] + _MESSAGE + prompt[value.end - 1 :]
    path = outline.stage_path(stage, "systemPrompt")
    fix = replace_at("Give it a message of its own", path, prompt, moved)
    yield warning("volatile-prompt", message, path, stage=stage.id, fix=fix)


def _model(outline: Outline, stage: Stage) -> ModelRecord:
    configs = [config for config in (stage.llm_config, outline.playbook.default_llm_config) if config]
    chosen = next((config for config in configs if config.model), LLMConfig(model=USUAL_MODEL))
    return record(chosen.model or USUAL_MODEL, chosen.provider)


def _cost(tokens: int, model: ModelRecord) -> str:
    """What writing instead of reading costs in a year; nothing where the model has no prices or no cache."""
    if model.prices is None or not model.ttls:
        return ""
    dollars = SESSIONS_A_YEAR * tokens * (model.prices.write5m - model.prices.read) / 1_000_000
    return (
        f" With {model.label or model.id} and 1,000 conversations a day that is about ${dollars:,.0f} a year."
    )
