"""Who may ask, which models there are, and which rules hold for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.context.models import ModelRecord, record
from tests.simulator.script import QUIRKS


@dataclass(slots=True)
class Profiles:
    """The simulator's settings. The models are those of `models.toml` and those that a test adds."""

    keys: dict[str, str] | None = None
    """Key -> account. None: every key is good, and an account of its own."""
    retired: set[str] = field(default_factory=set)
    """Models that are known no more."""
    added: dict[str, ModelRecord] = field(default_factory=dict)
    quirks: dict[str, frozenset[str]] = field(default_factory=dict)
    """Model -> what is odd about each of its answers: a sloppy compatible server."""
    off: set[tuple[str, str | None]] = field(default_factory=set)
    """(rule, model) pairs that are not checked; a model of None stands for all."""

    def add(self, model: ModelRecord, *quirks: str) -> None:
        """Makes a model known, on any of the APIs that its provider speaks."""
        if unknown := set(quirks) - QUIRKS:
            raise ValueError(f"unknown quirks {sorted(unknown)}")
        self.added[model.id] = model
        self.quirks[model.id] = frozenset(quirks)

    def add_local(self, model_id: str, *quirks: str, window: int = 32_768) -> ModelRecord:
        """Makes a model of an OpenAI-compatible local server known."""
        entry = record(model_id, "openai-chat")
        entry = entry.model_copy(update={"window": window, "known": True})
        self.add(entry, *quirks)
        return entry

    def switch_off(self, rule: str, model: str | None = None) -> None:
        """Does not check that rule, for one model or for all."""
        self.off.add((rule, model))

    def checks(self, rule: str, model: str) -> bool:
        """Whether the rule holds for the model."""
        return not {(rule, None), (rule, model)} & self.off

    def find(self, model_id: str, *providers: str) -> ModelRecord | None:
        """The model as one of these providers offers it; None for an unknown or retired one."""
        if model_id in self.retired:
            return None
        added = self.added.get(model_id)
        if added is not None:
            return added if added.provider in providers else None
        found = (record(model_id, provider) for provider in providers)
        return next((entry for entry in found if entry.known), None)

    def account(self, headers: Mapping[str, str]) -> str | None:
        """The account of the key; None for a wrong one. Raises KeyError without any."""
        key = key_of(headers)
        if key is None:
            raise KeyError("authorization")
        if self.keys is not None:
            return self.keys.get(key)
        return "account_" + hashlib.blake2b(key.encode(), digest_size=4).hexdigest()


def key_of(headers: Mapping[str, str]) -> str | None:
    """The key of a request, from `Authorization: Bearer` or `x-api-key`."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or None
