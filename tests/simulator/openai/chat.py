"""OpenAI's Chat Completions, as OpenAI and as compatible servers speak them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from runtime.context.cache_model import Block
from runtime.context.tokens import count_tokens
from runtime.conversation.messages import Usage
from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal, compact
from tests.simulator.openai.errors import error_body
from tests.simulator.profiles import Profiles
from tests.simulator.script import Call, Say, Think
from tests.simulator.shaping import ShapedPart

FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "stop",
}


class ChatApi:
    """`POST /v1/chat/completions`."""

    name = "chat"
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
        model = self._profiles.find(body["model"], "openai", "openai-chat")
        if model is None:
            raise Refusal("O02", 404, f"The model `{body['model']}` does not exist.", code="model_not_found")
        blocks = [Block(compact(m), count_tokens(compact(m), "dialogue", model)[0]) for m in body["messages"]]
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or model.max_output
        return Prepared(body, model, account or "", bool(body.get("stream")), blocks, output_limit=limit)

    # -- answers --------------------------------------------------------------------------------------------

    def events(self, answering: Answering) -> Iterator[Event]:
        """Chunks: the role, the text and the calls in pieces, why it stopped, the usage if asked for."""
        quirks = answering.reply.reply.quirks
        usage = (answering.request.body.get("stream_options") or {}).get("include_usage")
        shows_usage = bool(usage) and "no_usage" not in quirks
        chunks = _Chunks(answering, shows_usage)
        if "null_content" in quirks:
            yield chunks.bare(prompt_filter_results=[])
        yield chunks.delta({"role": "assistant", "content": None if "null_content" in quirks else ""})
        for number, part in _numbered(answering.reply.parts):
            for delta in part_deltas(part, number, answering):
                yield chunks.delta(delta, is_delta=True)
        if "unknown_events" in quirks:
            yield chunks.delta({"novelty": "?"})
        yield chunks.delta({}, finish=finish_reason(answering), final=True)
        if shows_usage:
            yield chunks.bare(final=True, usage=usage_json(answering))
        yield Event("[DONE]", final=True)

    def whole(self, answering: Answering) -> Json:
        """The reply in one object."""
        quirks = answering.reply.reply.quirks
        choice = {
            "index": 0,
            "message": _message(answering),
            "finish_reason": finish_reason(answering),
            "logprobs": None,
        }
        whole = {**envelope(answering, "chat.completion"), "choices": [choice]}
        return whole if "no_usage" in quirks else {**whole, "usage": usage_json(answering)}

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error."""
        return error_body(refusal)

    def error_event(self, refusal: Refusal) -> Event:
        """The error inside a stream."""
        return Event(error_body(refusal))


def envelope(answering: Answering, kind: str) -> Json:
    """What every chunk and every completion has."""
    return {
        "id": f"chatcmpl-sim{answering.number:06d}",
        "object": kind,
        "created": int(answering.at),
        "model": answering.request.model.id,
    }


def finish_reason(answering: Answering) -> str:
    """Why it stopped, in OpenAI's words; a word of its own is passed on."""
    if "finish_stop" in answering.reply.reply.quirks:
        return "stop"
    return FINISH.get(answering.reply.stop, answering.reply.stop)


def usage_json(answering: Answering) -> Json:
    """Figures in OpenAI's form: the prompt's include what was cached and written."""
    usage: Usage = answering.usage
    figures = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.read,
            "cache_write_tokens": usage.write5m + usage.write1h,
        },
        "completion_tokens_details": {"reasoning_tokens": answering.reply.thinking_tokens},
    }
    return {**figures, **(answering.reply.reply.usage or {})}


class _Chunks:
    """Chunks of one stream. Where usage was asked for, all but the last carry `usage: null`."""

    def __init__(self, answering: Answering, with_usage: bool) -> None:
        self._head = envelope(answering, "chat.completion.chunk")
        self._usage: Json = {"usage": None} if with_usage else {}

    def delta(
        self, delta: Json, *, finish: str | None = None, is_delta: bool = False, final: bool = False
    ) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return Event({**self._head, "choices": [choice], **self._usage}, delta=is_delta, final=final)

    def bare(self, *, final: bool = False, **more: Any) -> Event:
        """A chunk without choices."""
        return Event({**self._head, "choices": [], **self._usage, **more}, final=final)


def _numbered(parts: tuple[ShapedPart, ...]) -> Iterator[tuple[int, ShapedPart]]:
    """Each part with the index that it has among the calls."""
    calls = 0
    for part in parts:
        yield calls, part
        calls += isinstance(part.part, Call)


def part_deltas(part: ShapedPart, number: int, answering: Answering) -> Iterator[Json]:
    """The deltas of one part."""
    quirks = answering.reply.reply.quirks
    match part.part:
        case Say():
            key = "refusal" if answering.reply.stop == "refusal" else "content"
            yield from ({key: piece} for piece in part.pieces)
        case Think() if "think_tags" in quirks:
            yield from ({"content": piece} for piece in ("<think>", *part.pieces, "</think>"))
        case Think() if "reasoning_content" in quirks:
            yield from ({"reasoning_content": piece} for piece in part.pieces)
        case Call():
            yield from ({"tool_calls": [piece]} for piece in _call_pieces(part, number, answering))
        case _:
            pass


def _call_pieces(part: ShapedPart, number: int, answering: Answering) -> Iterator[Json]:
    quirks = answering.reply.reply.quirks
    index: Json = {} if "no_index" in quirks else {"index": number}
    head = {**index, **call_json(part, number, answering)}
    if quirks & {"arguments_object", "one_chunk_calls"}:
        yield head
        return
    yield {**head, "function": {"name": head["function"]["name"], "arguments": ""}}
    yield from ({**index, "function": {"arguments": piece}} for piece in part.pieces if piece)


def call_json(part: ShapedPart, number: int, answering: Answering) -> Json:
    """A whole tool call."""
    quirks = answering.reply.reply.quirks
    assert isinstance(part.part, Call)
    arguments: Any = part.whole
    if "arguments_object" in quirks:
        arguments = dict(part.part.args)
    call: Json = {"type": "function", "function": {"name": part.part.name, "arguments": arguments}}
    call_id = part.part.id or f"call_sim{answering.number:04d}_{number}"
    return call if "no_ids" in quirks else {"id": call_id, **call}


def _message(answering: Answering) -> Json:
    message: Json = {"role": "assistant", "content": None, "refusal": None}
    for number, part in _numbered(answering.reply.parts):
        if isinstance(part.part, Call):
            message.setdefault("tool_calls", []).append(call_json(part, number, answering))
            continue
        for delta in part_deltas(part, number, answering):
            for key, piece in delta.items():
                message[key] = (message.get(key) or "") + piece
    return message
