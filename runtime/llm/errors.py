"""From what a provider answers to the errors of `base.py`: by status and type, never by a retryable wording.

Rule: no error carries a key or a raw body; what a provider says about a wrong request is quoted, short and
masked, because nobody could mend the request without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from runtime.llm.base import (
    BadRequest,
    ConnectionLost,
    ContextTooLong,
    LLMError,
    NotAllowed,
    Overloaded,
    QuotaSpent,
    RateLimited,
)

QUOTED: Final = 300
TOO_LONG: Final = "The conversation is longer than this model can read."
_SECRET = re.compile(r"(?i)\b(sk-[\w-]{6,}|bearer\s+\S+|[\w-]{40,})")
_TOO_LONG = re.compile(
    r"(?i)prompt is too long|context.?(length|window)|available context size|maximum context|context size"
)

_STATUS_OF_TYPE: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_QUOTA_TYPES: Final = frozenset({"billing_error", "insufficient_quota", "credit_balance_exhausted"})
_QUOTA_ENDING: Final = "_spend_limit_exceeded"
_CONNECTION_TYPES: Final = frozenset({"connection_error", "timeout", "connection_lost"})
_TOO_LONG_TYPES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error"})


def provider_error(
    kind: str | None, status: int | None, message: str = "", retry_after: float | None = None
) -> LLMError:
    """The error for a provider's answer. `kind` is its error type and decides where the status cannot.

    An error inside a stream comes with status 200, or with none: there the type alone tells what happened.
    """
    name = kind or ""
    known = int(name) if name.isdecimal() and len(name) == 3 else _STATUS_OF_TYPE.get(name)
    code = known if status in (None, 200) else status
    if name in _CONNECTION_TYPES:
        return ConnectionLost("The connection to the model was lost.", status=status)
    if name in _TOO_LONG_TYPES:
        return ContextTooLong(TOO_LONG, status=code or 400)
    if name in _QUOTA_TYPES or name.endswith(_QUOTA_ENDING) or code == 402:
        return QuotaSpent("The account of this key has no credit left.", status=code)
    if code == 429:
        return RateLimited(
            "The provider asks to wait: too many requests.", status=429, retry_after=retry_after
        )
    if code in (401, 403):
        return NotAllowed("The provider does not accept the key, or not for this model.", status=code)
    if code in (408, 409):
        return ConnectionLost("The provider gave up on the request.", status=code, retry_after=retry_after)
    if code is not None and 400 <= code < 500:
        return _bad_request(code, message)
    return Overloaded(
        "The provider is overloaded or has a fault just now.", status=code, retry_after=retry_after
    )


def _bad_request(status: int, message: str) -> LLMError:
    if status == 413 or _TOO_LONG.search(message):
        return ContextTooLong(TOO_LONG, status=status)
    if status == 404:
        return BadRequest(f"The provider does not know this model. {quoted(message)}".strip(), status=status)
    return BadRequest(f"The provider refuses the request. {quoted(message)}".strip(), status=status)


def quoted(message: str) -> str:
    """A provider's words, in one line, at most `QUOTED` characters, with anything like a key masked."""
    line = _SECRET.sub("***", " ".join(message.split()))
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after`; None if absent or neither a number nor a date.

    A date is taken from the answer's own `date`: our clock and the provider's need not agree.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(name, ""))
        if seconds is not None:
            return max(0.0, seconds * unit)
    then, now = _date(headers.get("retry-after", "")), _date(headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then is not None and now is not None else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _date(text: str) -> datetime | None:
    """A date of HTTP, which is always in GMT."""
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)
    except ValueError:
        return None
