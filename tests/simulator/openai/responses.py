"""OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runtime.context.models import ModelRecord
from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal
from tests.simulator.openai import response_stream
from tests.simulator.openai.caching import prompt
from tests.simulator.openai.errors import code_of, error_body
from tests.simulator.openai.reasoning import read_reasoning
from tests.simulator.openai.response_stream import Extra
from tests.simulator.openai.rules_common import check_sampling, check_tools, opened, too_long
from tests.simulator.openai.rules_responses import check_items
from tests.simulator.openai.schema import RESPONSES
from tests.simulator.profiles import Profiles
from tests.simulator.signing import Who


@dataclass(frozen=True, slots=True)
class Stored:
    """A response and all that led to it; without items it was not to be stored."""

    items: tuple[Json, ...] | None


class ResponsesApi:
    """`POST /v1/responses` and `POST /v1/responses/input_tokens`."""

    name = "responses"
    ping = Event("")
    id_header = "x-request-id"
    counts_reads = True
    rate_rule = "O13"
    prewarmed_stop = "end_turn"

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles
        self._stored: dict[str, Stored] = {}
        self._reasoning_tokens: dict[str, int] = {}

    # -- requests -------------------------------------------------------------------------------------------

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        account, body, model = opened(request, self._profiles, RESPONSES, "openai")
        reasoning = body.get("reasoning") or {}
        if self._profiles.checks("O04", model.id):
            check_sampling(body, model, reasoning.get("effort"), "reasoning.effort")
        if self._profiles.checks("O08", model.id):
            check_tools(body, body.get("tools") or (), "tools[{}].name")
        items = [*self._earlier(body), *_items(body)]
        if self._profiles.checks("O09", model.id):
            check_items(items)
        who = Who(model.id, account)
        head = [*(body.get("tools") or ()), {"instructions": body.get("instructions")}]
        reading = read_reasoning(head, items, who, checks=self._profiles.checks("O09", model.id))
        extra = Extra(who, reading.prefix, tuple(items), tuple(reading.transformations))
        return self._prepared(body, model, account, reading.items, extra)

    def _earlier(self, body: Json) -> tuple[Json, ...]:
        """The items of the response that this one goes on from (O10)."""
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        stored = self._stored.get(previous)
        param = "previous_response_id"
        if stored is None:
            message = f"Previous response with id '{previous}' not found."
            raise Refusal("O10", 404, message, code="previous_response_not_found", param=param)
        if stored.items is None:
            message = f"Previous response with id '{previous}' was not stored: `store` was false."
            raise Refusal("O10", 400, message, code="previous_response_not_found", param=param)
        return stored.items

    def _prepared(
        self, body: Json, model: ModelRecord, account: str, items: list[Json], extra: Extra
    ) -> Prepared:
        options = body.get("prompt_cache_options") or {}
        settings = {
            "parallel": body.get("parallel_tool_calls", True),
            "text": body.get("text"),
            "effort": (body.get("reasoning") or {}).get("effort"),
            "context_management": body.get("context_management"),
        }
        tools, instructions = body.get("tools") or (), body.get("instructions")
        found = prompt(settings, tools, instructions, items, model, options.get("ttl"), self._hidden)
        refusal = too_long(sum(block.tokens for block in found.blocks), model)
        if refusal is not None and self._profiles.checks("O12", model.id):
            raise refusal
        return Prepared(
            body,
            model,
            account,
            bool(body.get("stream")),
            found.blocks,
            found.marks,
            implicit=options.get("mode") != "explicit",
            cache_key=body.get("prompt_cache_key") or "",
            output_limit=body.get("max_output_tokens") or model.max_output,
            only_caches=bool(options.get("prewarm")),
            extra={"responses": extra},
        )

    def _hidden(self, item: Json) -> int:
        """Tokens of sealed reasoning."""
        return self._reasoning_tokens.get(item.get("encrypted_content") or "", 0)

    def counted(self, prepared: Prepared) -> Json:
        """The answer of `input_tokens`."""
        return {"object": "response.input_tokens", "input_tokens": prepared.input_tokens}

    # -- answers --------------------------------------------------------------------------------------------

    def events(self, answering: Answering) -> Iterator[Event]:
        """The stream."""
        self._keep(answering)
        return response_stream.events(answering)

    def whole(self, answering: Answering) -> Json:
        """The reply in one object."""
        self._keep(answering)
        return response_stream.response(answering)

    def _keep(self, answering: Answering) -> None:
        made = response_stream.items(answering)
        for item in made:
            if "encrypted_content" in item:
                self._reasoning_tokens[item["encrypted_content"]] = answering.reply.thinking_tokens
        extra: Extra = answering.request.extra["responses"]
        stored = answering.request.body.get("store", True) is not False
        items = (*extra.items, *made) if stored else None
        self._stored[response_stream.response_id(answering)] = Stored(items)

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error."""
        return error_body(refusal)

    def error_event(self, refusal: Refusal) -> Event:
        """The error inside a stream: an event of its own."""
        data = {"type": "error", "code": code_of(refusal), "message": refusal.message, "param": refusal.param}
        return Event({**data, "sequence_number": 99}, "error")


def _items(body: Json) -> list[Json]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given
