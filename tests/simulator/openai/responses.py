"""OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterator

from runtime.context.cache_model import Block
from runtime.context.tokens import count_tokens
from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal, compact
from tests.simulator.openai import response_stream
from tests.simulator.openai.errors import code_of, error_body
from tests.simulator.profiles import Profiles


class ResponsesApi:
    """`POST /v1/responses`."""

    name = "responses"
    ping = Event("")

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        try:
            account = self._profiles.account(request.headers)
        except KeyError:
            raise Refusal("O01", 401, "You didn't provide an API key.", code="invalid_api_key") from None
        body = json.loads(request.body)
        model = self._profiles.find(body["model"], "openai")
        if model is None:
            raise Refusal("O02", 404, f"The model `{body['model']}` does not exist.", code="model_not_found")
        given = (
            body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
        )
        blocks = [Block(compact(m), count_tokens(compact(m), "dialogue", model)[0]) for m in given]
        limit = body.get("max_output_tokens") or model.max_output
        return Prepared(body, model, account or "", bool(body.get("stream")), blocks, output_limit=limit)

    def events(self, answering: Answering) -> Iterator[Event]:
        """The stream."""
        return response_stream.events(answering)

    def whole(self, answering: Answering) -> Json:
        """The reply in one object."""
        return response_stream.response(answering)

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error."""
        return error_body(refusal)

    def error_event(self, refusal: Refusal) -> Event:
        """The error inside a stream: an event of its own."""
        data = {"type": "error", "code": code_of(refusal), "message": refusal.message, "param": refusal.param}
        return Event({**data, "sequence_number": 99}, "error")
