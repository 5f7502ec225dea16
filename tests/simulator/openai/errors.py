"""Errors in OpenAI's form."""

from __future__ import annotations

from typing import Final

from tests.simulator.answers import Json, Refusal

TYPES: Final = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
    503: "service_unavailable_error",
}
CODES: Final = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def error_body(refusal: Refusal) -> Json:
    """`{"error": {message, type, param, code}}`."""
    return {
        "error": {
            "message": refusal.message,
            "type": refusal.kind or TYPES.get(refusal.status, "server_error"),
            "param": refusal.param,
            "code": code_of(refusal),
        }
    }


def code_of(refusal: Refusal) -> str | None:
    """The error's code; the usual one of its status where none is given."""
    return refusal.code or CODES.get(refusal.status)
