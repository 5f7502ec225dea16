"""From a planned fault to the error that a provider would send."""

from __future__ import annotations

from typing import Final

from tests.simulator.answers import Refusal
from tests.simulator.script import Fault

RULE: Final = "fault"
STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
MESSAGES: Final = {
    400: "The request was not accepted.",
    401: "invalid x-api-key",
    402: "Your credit balance is too low.",
    403: "Your key does not have permission to use this resource.",
    429: "This request would exceed your rate limit.",
    500: "Internal server error",
    503: "The server is temporarily unavailable.",
    504: "The request timed out.",
    529: "Overloaded",
}


def planned(fault: Fault) -> Refusal:
    """The refusal that a fault asks for; inside a stream too, where the status is 200 whatever it says."""
    status = fault.status if (fault.status or 0) >= 400 else STATUSES.get(fault.type, 500)
    assert status is not None
    message = fault.message or MESSAGES.get(status, "This failure was planned.")
    return Refusal(
        RULE, status, message, kind=fault.type, code=fault.type or None, headers=dict(fault.headers)
    )
