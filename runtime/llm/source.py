"""Connections: which model answers a stage. Without a key it is the rehearsal model, and it says so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runtime.context.models import ModelRecord, guess_provider, record, table
from runtime.llm.anthropic import AnthropicLLM
from runtime.llm.base import LLM, NotAllowed
from runtime.llm.rehearsal import REHEARSAL, RehearsalLLM
from runtime.playbook import LLMConfig

DEFAULT_MODELS: Final[Mapping[str, str]] = {"anthropic": "claude-sonnet-5"}
"""The model of a stage that names a provider only."""
LABEL: Final = "Rehearsal (no model)"
NOTE: Final = "Fixed rules play the model's part, free and offline. Set ANTHROPIC_API_KEY to talk to Claude."


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """One line of the model menu."""

    id: str
    provider: str
    label: str
    available: bool
    note: str = ""


class Connections:
    """The connections that the environment gives: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, rehearsal: RehearsalLLM | None = None
    ) -> None:
        values = os.environ if environ is None else environ
        self._rehearsal = rehearsal or RehearsalLLM()
        key = values.get("ANTHROPIC_API_KEY", "").strip()
        self._anthropic = AnthropicLLM(key, values.get("ANTHROPIC_BASE_URL") or None) if key else None

    def get(self, config: LLMConfig, using_model: str | None = None) -> tuple[LLM, ModelRecord]:
        """The model that answers. Raises NotAllowed for a model that the session chose and no key can reach.

        A document's wish that no key can fulfil is played by the rehearsal model: a playbook always plays.
        """
        if using_model is not None and using_model != REHEARSAL:
            return self._chosen(using_model)
        if using_model == REHEARSAL or config.provider == REHEARSAL or self._anthropic is None:
            return self._rehearsal, record(REHEARSAL)
        model = config.model or DEFAULT_MODELS.get(config.provider or "", "")
        provider = config.provider or (guess_provider(model) if model else "")
        if provider != "anthropic" or not model:
            return self._rehearsal, record(REHEARSAL)
        return self._anthropic, record(model, "anthropic")

    def _chosen(self, model: str) -> tuple[LLM, ModelRecord]:
        if guess_provider(model) != "anthropic":
            raise NotAllowed(f"This release has no connection for the model {model}.")
        if self._anthropic is None:
            raise NotAllowed(f"{model} needs a key: set ANTHROPIC_API_KEY and start again.")
        return self._anthropic, record(model, "anthropic")

    def models(self) -> list[OfferedModel]:
        """The model menu: the rehearsal model first, then the listed ones of providers spoken here."""
        has_key = self._anthropic is not None
        offered = [OfferedModel(REHEARSAL, REHEARSAL, LABEL, True, NOTE)]
        offered += [
            OfferedModel(
                entry.id, entry.provider, entry.label, has_key, "" if has_key else "needs ANTHROPIC_API_KEY"
            )
            for entry in table().records.values()
            if entry.provider == "anthropic"
        ]
        return offered

    async def aclose(self) -> None:
        """Closes what is open in the running loop."""
        if self._anthropic is not None:
            await self._anthropic.aclose()
