"""A part of the document as it was written, as plain JSON."""

from __future__ import annotations

import json
from typing import Any

from runtime.playbook import DocumentPart


def as_given(part: DocumentPart) -> dict[str, Any]:
    """Without what is only a default. Takes any text: pydantic's JSON refuses halves of surrogate pairs."""
    given: dict[str, Any] = json.loads(json.dumps(part.model_dump(by_alias=True, exclude_unset=True)))
    return given


def canonical(part: DocumentPart) -> str:
    """One text for what means the same, defaults included."""
    return json.dumps(part.model_dump(by_alias=True), sort_keys=True)
