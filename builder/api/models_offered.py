"""The model menu, as the API shows it."""

from __future__ import annotations

from dataclasses import asdict

from builder.api.schemas import OfferedModel
from runtime.llm.source import Connections


def offered_models() -> tuple[OfferedModel, ...]:
    """The rehearsal first, then the models that an adapter exists for, whether or not a key is at hand."""
    return tuple(OfferedModel(**asdict(model)) for model in Connections().models())
