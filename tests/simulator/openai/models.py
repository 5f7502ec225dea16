"""What OpenAI's rules ask of a model: its generation, and what it refuses."""

from __future__ import annotations

import re
from typing import Final

from runtime.context.models import ModelRecord

_GENERATION: Final = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?:-.*)?")
ALWAYS_REASONS: Final = frozenset({"gpt-6-astra", "gpt-6.1-sol"})
EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh")


def is_native(model: ModelRecord) -> bool:
    """OpenAI's own, not a compatible server's."""
    return model.provider == "openai"


def generation(model: ModelRecord) -> tuple[int, int]:
    """(6, 2) for gpt-6.2; (0, 0) for other names."""
    found = _GENERATION.fullmatch(model.id)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def reasons(model: ModelRecord) -> bool:
    """A reasoning model of OpenAI."""
    return is_native(model) and generation(model) >= (5, 0)


def must_reason(model: ModelRecord) -> bool:
    """Refuses the effort `none`."""
    return model.id in ALWAYS_REASONS or (is_native(model) and generation(model) == (6, 2))


def tools_need_responses(model: ModelRecord) -> bool:
    """Takes function tools on Chat Completions only without reasoning."""
    return is_native(model) and generation(model) >= (5, 6)
