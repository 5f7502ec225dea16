"""OpenAI's Chat Completions, as OpenAI and as compatible servers speak them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from runtime.context.models import ModelRecord
from runtime.conversation.messages import Usage
from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal
from tests.simulator.openai.caching import Prompt, prompt
from tests.simulator.openai.errors import error_body
from tests.simulator.openai.models import is_native
from tests.simulator.openai.rules_chat import check_answers, check_content, check_reasoning_with_tools
from tests.simulator.openai.rules_common import check_sampling, check_tools, opened, too_long
from tests.simulator.openai.schema import CHAT
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
    id_header = "x-request-id"
    counts_reads = True
    rate_rule = "O13"
    prewarmed_stop = "end_turn"

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        account, body, model = opened(request, self._profiles, CHAT, "openai", "openai-chat")
        self._check(body, model)
        found = self._prompt(body, model)
        tokens = sum(block.tokens for block in found.blocks)
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        refusal = too_long(tokens, model, 0 if is_native(model) else limit or 0)
        if refusal is not None and self._profiles.checks("O12", model.id):
            raise refusal
        options = body.get("prompt_cache_options") or {}
        stop = body.get("stop") or []
        return Prepared(
            body,
            model,
            account,
            bool(body.get("stream")),
            found.blocks,
            found.marks,
            implicit=options.get("mode") != "explicit",
            cache_key=body.get("prompt_cache_key") or "",
            output_limit=limit or model.max_output,
            stop_sequences=[stop] if isinstance(stop, str) else stop,
        )

    def _check(self, body: Json, model: ModelRecord) -> None:
        messages, functions = body["messages"], [tool["function"] for tool in body.get("tools") or ()]
        effort = body.get("reasoning_effort")
        checks: list[tuple[str, Callable[[], None]]] = [
            ("O04", lambda: check_sampling(body, model, effort, "reasoning_effort")),
            ("O05", lambda: check_reasoning_with_tools(body, model)),
            ("O08", lambda: check_content(messages)),
            ("O06", lambda: check_answers(messages)),
            ("O08", lambda: check_tools(body, functions, "tools[{}].function.name")),
        ]
        for rule, check in checks:
            if self._profiles.checks(rule, model.id):
                check()

    def _prompt(self, body: Json, model: ModelRecord) -> Prompt:
        settings = {
            "parallel": body.get("parallel_tool_calls", True),
            "format": body.get("response_format"),
            "effort": body.get("reasoning_effort"),
            "verbosity": body.get("verbosity"),
        }
        ttl = (body.get("prompt_cache_options") or {}).get("ttl")
        return prompt(settings, body.get("tools") or (), None, body["messages"], model, ttl, _nothing)

    def counted(self, prepared: Prepared) -> Json:
        """Nobody asks this API to count."""
        return {"input_tokens": prepared.input_tokens}

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


def _nothing(item: Json) -> int:
    """Messages hide no tokens."""
    return 0


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
