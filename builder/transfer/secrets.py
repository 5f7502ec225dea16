"""Keeps keys out of exported files: a value typed into a header leaves as a reference to a named secret."""

from __future__ import annotations

import re
from typing import Any

from builder.validation.secret_headers import REFERENCE, literal_secrets


def without_secrets(value: Any, owner: str = "tool") -> Any:
    """The value with every literal secret in a `headers` object replaced by `{{secret.OWNER_HEADER}}`."""
    if isinstance(value, list):
        return [without_secrets(item, owner) for item in value]
    if not isinstance(value, dict):
        return value
    name = value.get("name")
    owner = name if isinstance(name, str) and name else owner
    return {
        key: _headers(item, owner)
        if key == "headers" and isinstance(item, dict)
        else without_secrets(item, owner)
        for key, item in value.items()
    }


def _headers(headers: dict[str, Any], owner: str) -> dict[str, Any]:
    hidden = literal_secrets(headers)
    return {
        name: REFERENCE + re.sub(r"\W+", "_", f"{owner}_{name}").upper() + "}}" if name in hidden else value
        for name, value in headers.items()
    }
