"""Which HTTP headers carry secrets, and whether a value is one or only names one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

REFERENCE: Final = "{{secret."
_SECRET_HEADER = re.compile(r"authorization|cookie|api[-_]?key|token|secret|password", re.IGNORECASE)


def literal_secrets(headers: Mapping[str, Any]) -> list[str]:
    """Names of the headers whose value is a secret itself instead of a reference to one."""
    return [
        name
        for name, value in headers.items()
        if _SECRET_HEADER.search(name) and isinstance(value, str) and value and REFERENCE not in value
    ]
