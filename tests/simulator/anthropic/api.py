"""Anthropic's Messages API: from a request to a checked one, from a reply to its events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from runtime.context.cache_model import Block
from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal, compact
from tests.simulator.anthropic import streaming
from tests.simulator.anthropic.conversation import block_tokens, conversation, unmarked
from tests.simulator.profiles import Profiles
from tests.simulator.script import Call, Say, Think
from tests.simulator.shaping import ShapedPart

ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class AnthropicApi:
    """`POST /v1/messages`."""

    name = "messages"
    ping = Event({"type": "ping"}, "ping")

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        try:
            account = self._profiles.account(request.headers)
        except KeyError:
            raise Refusal("A01", 401, "missing credentials") from None
        body = json.loads(request.body)
        model = self._profiles.find(body["model"], "anthropic")
        if model is None:
            raise Refusal("A06", 404, f"model: {body['model']}")
        talk = conversation(body)
        blocks = [
            Block(f"{place} {compact(unmarked(block))}", block_tokens(place, block, model))
            for place, block in talk.all_blocks()
        ]
        return Prepared(
            body,
            model,
            account or "",
            bool(body.get("stream")),
            blocks,
            output_limit=body["max_tokens"],
            stop_sequences=body.get("stop_sequences") or (),
        )

    def events(self, answering: Answering) -> Iterator[Event]:
        """The stream."""
        return streaming.events(answering, self._blocks(answering))

    def whole(self, answering: Answering) -> Json:
        """The reply in one object."""
        return streaming.message(answering, self._blocks(answering))

    def _blocks(self, answering: Answering) -> list[Json]:
        return [
            self._block(part, f"toolu_sim{answering.number:04d}_{index}")
            for index, part in enumerate(answering.reply.parts)
        ]

    def _block(self, shaped: ShapedPart, call_id: str) -> Json:
        match shaped.part:
            case Say():
                return {"type": "text", "text": shaped.whole}
            case Call(name=name, id=given):
                return {
                    "type": "tool_use",
                    "id": given or call_id,
                    "name": name,
                    "input": _input(shaped.whole),
                }
            case Think():
                return {"type": "thinking", "thinking": shaped.whole, "signature": "later"}

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error."""
        kind = refusal.kind or ERROR_TYPES.get(refusal.status, "api_error")
        error = {"type": kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": f"req_sim{number:06d}"}

    def error_event(self, refusal: Refusal) -> Event:
        """The error inside a stream."""
        body = self.error(refusal, 0)
        return Event({"type": "error", "error": body["error"]}, "error")


def _input(arguments: str) -> Json:
    """What the API makes of arguments that were cut off: what could be read of them, silently."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
