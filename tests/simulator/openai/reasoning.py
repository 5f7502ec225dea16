"""Encrypted reasoning that came back: good only for the model, account and prefix that it was made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.simulator.answers import Json, Refusal
from tests.simulator.openai.caching import plain
from tests.simulator.signing import Who, extend, verdict

REASONS: Final = {"moved": "prefix_mismatch", "foreign": "model_mismatch", "edited": "organization_mismatch"}


@dataclass(slots=True)
class Reading:
    """The items the model reads, what was removed from them, and where its own reasoning will stand."""

    items: list[Json]
    transformations: list[Json]
    prefix: str


def read_reasoning(head: Sequence[Json], items: Sequence[Json], who: Who, *, checks: bool) -> Reading:
    """Leaves out reasoning that does not belong here, and says so. Raises Refusal for what was never ours."""
    prefix = ""
    for part in head:
        prefix = extend(prefix, "head", part)
    reading = Reading([], [], prefix)
    for item in items:
        if item.get("type") == "reasoning" and checks:
            reason = _reason(item, who, reading.prefix)
            if reason is not None:
                removed = {"type": "reasoning", "id": item.get("id") or "", "action": "removed"}
                reading.transformations.append({**removed, "reason": reason})
                continue
        reading.items.append(item)
        reading.prefix = extend(reading.prefix, "item", plain(item))
    return reading


def _reason(item: Json, who: Who, prefix: str) -> str | None:
    """Why the item is left out; None if it stays."""
    sealed = item.get("encrypted_content")
    if not sealed:
        message = f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is false."
        raise Refusal("O09", 404, message, param="input")
    found = verdict(sealed, who, prefix, "")
    if found == "forged":
        message = "The encrypted content could not be verified."
        raise Refusal("O09", 400, message, code="invalid_encrypted_content", param="input")
    return REASONS.get(found)
