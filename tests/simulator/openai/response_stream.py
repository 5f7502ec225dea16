"""A reply as the Responses API streams it, and as one response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.simulator.answers import Answering, Event, Json
from tests.simulator.openai.caching import plain
from tests.simulator.script import Call, Say, Think
from tests.simulator.shaping import ShapedPart
from tests.simulator.signing import Who, extend, sign

INCOMPLETE = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "content_filter": "content_filter",
}


@dataclass(frozen=True, slots=True)
class Extra:
    """What the answer needs to know of the request."""

    who: Who
    prefix: str
    items: tuple[Json, ...]
    transformations: tuple[Json, ...]


def events(answering: Answering) -> Iterator[Event]:
    """`created`, `in_progress`, each item from `added` to `done`, then how it ended."""
    stream = _Stream()
    yield stream.event("response.created", response=_open(answering))
    yield stream.event("response.in_progress", response=_open(answering))
    if "unknown_events" in answering.reply.reply.quirks:
        yield stream.event("response.novelty", novelty={"at": 1})
    for index, (part, item) in enumerate(zip(_shown(answering), items(answering), strict=True)):
        yield from _item(stream, index, part, item)
    whole = response(answering)
    yield stream.event(f"response.{whole['status']}", final=True, response=whole)


def response(answering: Answering) -> Json:
    """The whole response."""
    reason = INCOMPLETE.get(answering.reply.stop)
    failed = answering.reply.stop == "failed"
    whole = _envelope(answering, "failed" if failed else "incomplete" if reason else "completed")
    whole["output"] = items(answering)
    whole["incomplete_details"] = {"reason": reason} if reason else None
    if failed:
        whole["error"] = {"code": "server_error", "message": "The model failed to answer."}
    if "no_usage" not in answering.reply.reply.quirks:
        whole["usage"] = usage_json(answering)
    return whole


def items(answering: Answering) -> list[Json]:
    """The output items, whole."""
    extra: Extra = answering.request.extra["responses"]
    prefix, made = extra.prefix, []
    for index, part in enumerate(_shown(answering)):
        item = _whole_item(index, part, answering, prefix)
        made.append(item)
        prefix = extend(prefix, "item", plain(item))
    return made


def response_id(answering: Answering) -> str:
    """The id of the response."""
    return f"resp_sim{answering.number:06d}"


def usage_json(answering: Answering) -> Json:
    """Figures in the form of this API: the input's include what was cached and written."""
    usage = answering.usage
    figures = {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.read,
            "cache_write_tokens": usage.write5m + usage.write1h,
            "cache_write_tokens_details": {"ttl_30m_tokens": usage.write5m, "ttl_12h_tokens": usage.write1h},
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": answering.reply.thinking_tokens},
        "total_tokens": usage.input + usage.output,
    }
    return {**figures, **(answering.reply.reply.usage or {})}


class _Stream:
    """Numbers the events."""

    def __init__(self) -> None:
        self._numbers = count()

    def event(self, kind: str, *, is_delta: bool = False, final: bool = False, **data: Any) -> Event:
        numbered = {"type": kind, "sequence_number": next(self._numbers), **data}
        return Event(numbered, kind, delta=is_delta, final=final)


def _envelope(answering: Answering, status: str) -> Json:
    body = answering.request.body
    extra: Extra = answering.request.extra["responses"]
    return {
        "id": response_id(answering),
        "object": "response",
        "created_at": int(answering.at),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": answering.request.model.id,
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning", {"effort": None, "summary": None}),
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text", {"format": {"type": "text"}}),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": body.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": None,
        "metadata": body.get("metadata", {}),
        "prompt_cache_key": body.get("prompt_cache_key"),
        "input_transformations": list(extra.transformations),
    }


def _open(answering: Answering) -> Json:
    return _envelope(answering, "in_progress")


def _shown(answering: Answering) -> list[ShapedPart]:
    """The parts that become items: with the effort `none` nothing is thought."""
    effort = (answering.request.body.get("reasoning") or {}).get("effort")
    parts = answering.reply.parts
    return [part for part in parts if effort != "none" or not isinstance(part.part, Think)]


def _whole_item(index: int, shaped: ShapedPart, answering: Answering, prefix: str) -> Json:
    last = index == len(_shown(answering)) - 1
    status = "incomplete" if last and answering.reply.stop in INCOMPLETE else "completed"
    tag = f"sim{answering.number:06d}_{index}"
    match shaped.part:
        case Think():
            return {
                "type": "reasoning",
                "id": f"rs_{tag}",
                "summary": _summary(shaped, answering),
                **_encrypted(answering, prefix),
            }
        case Call(name=name, id=given):
            call = {
                "type": "function_call",
                "id": f"fc_{tag}",
                "call_id": given or f"call_{tag}",
                "name": name,
            }
            return {**call, "arguments": shaped.whole, "status": status}
        case Say():
            content = _content(shaped.whole, answering)
            return {
                "type": "message",
                "id": f"msg_{tag}",
                "role": "assistant",
                "status": status,
                "content": [content],
            }


def _content(text: str, answering: Answering) -> Json:
    if answering.reply.stop == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(shaped: ShapedPart, answering: Answering) -> list[Json]:
    asked = (answering.request.body.get("reasoning") or {}).get("summary")
    return [{"type": "summary_text", "text": shaped.whole}] if asked else []


def _encrypted(answering: Answering, prefix: str) -> Json:
    if "reasoning.encrypted_content" not in (answering.request.body.get("include") or ()):
        return {}
    extra: Extra = answering.request.extra["responses"]
    return {"encrypted_content": sign(extra.who, prefix, "")}


def _item(stream: _Stream, index: int, shaped: ShapedPart, item: Json) -> Iterator[Event]:
    at: Json = {"output_index": index}
    opened = {**item, "status": "in_progress"} if "status" in item else dict(item)
    match item["type"]:
        case "message":
            yield stream.event("response.output_item.added", **at, item={**opened, "content": []})
            yield from _text(stream, index, shaped, item)
        case "function_call":
            yield stream.event("response.output_item.added", **at, item={**opened, "arguments": ""})
            yield from _arguments(stream, index, shaped, item)
        case _:
            opened.pop("encrypted_content", None)
            yield stream.event("response.output_item.added", **at, item={**opened, "summary": []})
            yield from _reasoning(stream, index, shaped, item)
    yield stream.event("response.output_item.done", **at, item=item)


def _text(stream: _Stream, index: int, shaped: ShapedPart, item: Json) -> Iterator[Event]:
    part = item["content"][0]
    key = "text" if part["type"] == "output_text" else "refusal"
    at: Json = {"item_id": item["id"], "output_index": index, "content_index": 0}
    more: Json = {"logprobs": []} if key == "text" else {}
    yield stream.event("response.content_part.added", **at, part={**part, key: ""})
    for piece in shaped.pieces:
        yield stream.event(f"response.{_kind(part)}.delta", is_delta=True, **at, delta=piece, **more)
    yield stream.event(f"response.{_kind(part)}.done", **at, **_keyed(key, shaped.whole), **more)
    yield stream.event("response.content_part.done", **at, part=part)


def _keyed(key: str, text: str) -> Json:
    return {key: text}


def _kind(part: Json) -> str:
    return str(part["type"])


def _arguments(stream: _Stream, index: int, shaped: ShapedPart, item: Json) -> Iterator[Event]:
    at: Json = {"item_id": item["id"], "output_index": index}
    for piece in shaped.pieces:
        yield stream.event("response.function_call_arguments.delta", is_delta=True, **at, delta=piece)
    yield stream.event(
        "response.function_call_arguments.done", **at, name=item["name"], arguments=shaped.whole
    )


def _reasoning(stream: _Stream, index: int, shaped: ShapedPart, item: Json) -> Iterator[Event]:
    if not item["summary"]:
        return
    at: Json = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = item["summary"][0]
    yield stream.event("response.reasoning_summary_part.added", **at, part={**part, "text": ""})
    for piece in shaped.pieces:
        yield stream.event("response.reasoning_summary_text.delta", is_delta=True, **at, delta=piece)
    yield stream.event("response.reasoning_summary_text.done", **at, text=shaped.whole)
    yield stream.event("response.reasoning_summary_part.done", **at, part=part)
