"""The JSON Schema of a playbook file, for editors and other programs; generated from the models."""

from __future__ import annotations

from typing import Any

from builder.transfer.writing import SCHEMA_ID
from runtime.playbook import Playbook


def playbook_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12. Unknown fields are allowed: they are kept."""
    schema = Playbook.model_json_schema(mode="validation")
    schema["properties"] = {"$schema": {"type": "string"}, **schema["properties"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "Playbook",
    }
