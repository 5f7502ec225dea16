"""The models a session can be run with: those that an adapter exists for, and whether a key is at hand."""

from __future__ import annotations

import os

from builder.api.schemas import OfferedModel
from runtime.context.models import table

REHEARSAL = OfferedModel(
    id="rehearsal",
    provider="rehearsal",
    label="Rehearsal (no model)",
    available=True,
    note="Plays the prompts and the playbook's own lines; needs no key.",
)


def offered_models() -> tuple[OfferedModel, ...]:
    """The rehearsal first, then the vendors' models in the table's order."""
    available = bool(os.environ.get("ANTHROPIC_API_KEY"))
    note = "" if available else "Needs ANTHROPIC_API_KEY where the server is started."
    vendors = (
        OfferedModel(
            id=record.id,
            provider=record.provider,
            label=record.label or record.id,
            available=available,
            note=note,
        )
        for record in table().records.values()
        if record.provider == "anthropic"
    )
    return (REHEARSAL, *vendors)
