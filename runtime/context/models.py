"""What is known of each model: window, prices, caching rules, capabilities. Read from `models.toml`, once.

Rule: a model that the file does not know gets its provider's conservative entry and no prices, so that its
cost shows as unknown, never as 0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from runtime.conversation.base import Value

MODELS_FILE: Final = Path(__file__).with_name("models.toml")
STALE: Final = timedelta(days=274)
"""Nine months: prices and rules of models change faster than that."""
_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")
"""A release's day behind a model's name; the name without it is listed."""


class Prices(Value):
    """US dollars per million tokens."""

    input: float
    write5m: float
    write1h: float
    read: float
    output: float


class Tier(Prices):
    """Prices of every token of a request whose input (cached included) has more than `above` tokens."""

    above: int


class ModelRecord(Value):
    """One model: what fits, what it costs, what it caches and which settings it takes."""

    id: str
    provider: str
    label: str = ""
    known: bool = True
    """False: a conservative guess for a model that `models.toml` does not list."""
    window: int
    """Input tokens that fit."""
    max_output: int
    prices: Prices | None = None
    """None: unknown."""
    tiers: tuple[Tier, ...] = ()
    minimum_cacheable: int = 0
    """Tokens a prefix needs before the provider caches it; shorter ones are silently not cached."""
    look_back: int = 20
    """Positions searched backwards from a mark for an earlier entry, the mark included; 0: no limit."""
    ttls: tuple[str, ...] = ("5m",)
    points: int = 4
    caching: Literal["marks", "breakpoints", "automatic"] = "marks"
    """Which rules of `cache_model.py` hold."""
    cache_step: int = 1
    """Tokens: the steps in which an automatic cache is read."""
    tokenizer: str = "o200k"
    tools: bool = True
    """Takes tools; where it does not, a transition is asked as a choice that a schema constrains."""
    sampling: bool = False
    """Takes temperature and topP."""
    sampling_together: bool = True
    """Takes both of them in one request."""
    sampling_unreasoned: bool = False
    """Takes them with effort `none` only."""
    stop_sequences: bool = True
    max_completion_tokens: bool = False
    """The Chat Completions API wants the output limit under this newer name."""
    forced_tool_choice: bool = False
    tool_choice_keeps_cache: bool = False
    """A changed tool choice leaves the cached messages valid."""
    efforts: tuple[str, ...] = ()
    """Values of `effort` that the model takes."""
    prefill: bool = False
    system_in_messages: bool = False
    thinking: tuple[str, ...] = ()
    thinking_always: bool = False
    binds_thinking: bool = False
    """A thinking block is valid only under the very prefix it was made under."""
    retires: str = ""
    """The day, as `YYYY-MM-DD`, from which the provider no longer offers it; empty: none is known."""
    source: str = ""
    date: str = ""
    """When the entry was written from its source, as `YYYY-MM-DD`."""
    confirmed: str = ""
    """When it was last compared with its source and found right."""

    def lifetime(self, ttl: str) -> str:
        """The model's own lifetime for a point planned with that one: its shortest where it has no such."""
        return ttl if ttl in self.ttls or not self.ttls else self.ttls[0]

    @property
    def read_multiplier(self) -> float:
        """Price of a token read from the cache, in input tokens; 0.1 where prices are unknown."""
        return self.prices.read / self.prices.input if self.prices else 0.1

    def write_multiplier(self, ttl: str) -> float:
        """Price of a token written with that lifetime, in input tokens; 1.25 and 2 where unknown."""
        if self.prices is None:
            return 2.0 if ttl == "1h" else 1.25
        return (self.prices.write1h if ttl == "1h" else self.prices.write5m) / self.prices.input


class TokenFactors(Value):
    """Factors on an o200k count, per kind of text."""

    prose: float = 1.0
    code: float = 1.0
    json_: float = Field(default=1.0, alias="json")
    cjk: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The whole of `models.toml`."""

    date: str
    records: Mapping[str, ModelRecord]
    defaults: Mapping[str, Mapping[str, Any]]
    factors: Mapping[str, TokenFactors]


@lru_cache(maxsize=1)
def table() -> ModelTable:
    """The model table that ships with this version."""
    return read_table(MODELS_FILE.read_text(encoding="utf-8"))


def read_table(text: str) -> ModelTable:
    """Reads a table; an unknown field or a missing one is a validation error that names it."""
    data = tomllib.loads(text)
    defaults: dict[str, dict[str, Any]] = data["providers"]
    records = {
        model_id: ModelRecord.model_validate({"id": model_id, **defaults[entry["provider"]], **entry})
        for model_id, entry in data["models"].items()
    }
    factors = {name: TokenFactors.model_validate(entry) for name, entry in data["tokenizers"].items()}
    return ModelTable(date=data["date"], records=records, defaults=defaults, factors=factors)


def stale_entries(models: ModelTable, today: date) -> tuple[str, ...]:
    """Ids of the entries that nobody wrote or confirmed within nine months before `today`."""
    return tuple(
        entry.id
        for entry in models.records.values()
        if today - date.fromisoformat(max(entry.date, entry.confirmed)) > STALE
    )


def record(model_id: str, provider: str | None = None) -> ModelRecord:
    """The record of a model; a conservative one, without prices, for a model that is not listed.

    `provider` decides for ids that several providers use and for unknown ids; without it the id's first word
    decides (`claude…` is Anthropic's, `gpt…` OpenAI's), else a compatible server is assumed.
    """
    known = table().records.get(_DATED.sub("", model_id))
    if known is not None and provider in (None, known.provider):
        return known if known.id == model_id else known.model_copy(update={"id": model_id})
    chosen = provider or guess_provider(model_id)
    defaults = table().defaults.get(chosen) or table().defaults["openai-chat"]
    entry = {**defaults, "label": model_id}
    return ModelRecord.model_validate(
        {"id": model_id, "provider": chosen, "known": False, "date": table().date, **entry}
    )


def guess_provider(model_id: str) -> str:
    """The provider that an id's first word names; `openai-chat` (a compatible server) for any other."""
    listed = table().records.get(_DATED.sub("", model_id))
    if listed is not None:
        return listed.provider
    if model_id.startswith("claude"):
        return "anthropic"
    if model_id.startswith(("gpt", "o1", "o3", "o4")):
        return "openai"
    return "openai-chat"
