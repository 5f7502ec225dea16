"""`GET /v1/models`, in the form of whichever SDK asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.context.models import ModelRecord, table
from tests.simulator.answers import HttpRequest, Json
from tests.simulator.profiles import Profiles

PATH: Final = "/v1/models"
CREATED: Final = 1_790_000_000


def models_answer(request: HttpRequest, profiles: Profiles) -> tuple[int, Json]:
    """Status and body: the list, or one model of it."""
    anthropic = "anthropic-version" in request.headers
    try:
        account = profiles.account(request.headers)
    except KeyError:
        account = None
    if account is None:
        return 401, _error(
            anthropic, "authentication_error", "invalid_api_key", "Incorrect API key provided."
        )
    offered = _offered(profiles, ("anthropic",) if anthropic else ("openai", "openai-chat"))
    shown = [_anthropic(entry) if anthropic else _openai(entry) for entry in offered.values()]
    wanted = request.path.removeprefix(PATH).strip("/")
    if not wanted:
        return 200, _anthropic_list(shown) if anthropic else {"object": "list", "data": shown}
    found = next((entry for entry in shown if entry["id"] == wanted), None)
    if found is None:
        return 404, _error(anthropic, "not_found_error", "model_not_found", f"model: {wanted}")
    return 200, found


def _offered(profiles: Profiles, providers: tuple[str, ...]) -> Mapping[str, ModelRecord]:
    known = {**table().records, **profiles.added}
    return {
        model_id: entry
        for model_id, entry in known.items()
        if entry.provider in providers and model_id not in profiles.retired
    }


def _anthropic(entry: ModelRecord) -> Json:
    return {
        "type": "model",
        "id": entry.id,
        "display_name": entry.label or entry.id,
        "created_at": "2026-09-01T00:00:00Z",
        "max_input_tokens": entry.window,
        "max_tokens": entry.max_output,
    }


def _anthropic_list(shown: list[Json]) -> Json:
    ids = [entry["id"] for entry in shown]
    return {
        "data": shown,
        "has_more": False,
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
    }


def _openai(entry: ModelRecord) -> Json:
    return {"id": entry.id, "object": "model", "created": CREATED, "owned_by": entry.provider}


def _error(anthropic: bool, kind: str, code: str, message: str) -> Json:
    if anthropic:
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
