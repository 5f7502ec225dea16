"""A reply as Anthropic streams it, and as one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.conversation.messages import Usage
from tests.simulator.answers import Answering, Event, Json
from tests.simulator.script import Call, Say, Think
from tests.simulator.shaping import ShapedPart


def events(answering: Answering, blocks: list[Json | None]) -> Iterator[Event]:
    """`message_start`, a ping, the blocks one after the other, `message_delta`, `message_stop`.

    `blocks`: the reply's content blocks, whole, one for each part; None for a part that is not shown.
    """
    odd = "unknown_events" in answering.reply.reply.quirks
    start = {**envelope(answering), "content": [], "stop_reason": None, "stop_sequence": None}
    start["usage"] = usage_json(answering, answering.usage.model_copy(update={"output": 1}))
    yield _event("message_start", message=start)
    yield _event("ping")
    if odd:
        yield _event("message_novelty", novelty={"at": 1})
        yield from _unknown_block(len(blocks))
    both = zip(answering.reply.parts, blocks, strict=True)
    for index, (part, block) in enumerate((part, block) for part, block in both if block is not None):
        yield from _block(index, part, block, odd=odd)
    yield _event(
        "message_delta", final=True, delta=_ending(answering), usage=usage_json(answering, answering.usage)
    )
    yield _event("message_stop", final=True)


def message(answering: Answering, blocks: list[Json | None]) -> Json:
    """The whole message."""
    shown = [block for block in blocks if block is not None]
    ending = _ending(answering)
    return {
        **envelope(answering),
        "content": shown,
        **ending,
        "usage": usage_json(answering, answering.usage),
    }


def envelope(answering: Answering) -> Json:
    """What every message has; thinking that was left out of the request is listed."""
    removed = {"type": "thinking", "action": "removed", "reason": "prefix_mismatch"}
    dropped = answering.request.extra["messages"].dropped
    return {
        "id": f"msg_sim{answering.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": answering.request.model.id,
        **({"input_transformations": [removed for _ in dropped]} if dropped else {}),
    }


def usage_json(answering: Answering, usage: Usage) -> Json:
    """Figures in Anthropic's form: `input_tokens` are those after the last mark."""
    figures: Json = {
        "input_tokens": usage.fresh,
        "cache_creation_input_tokens": usage.write5m + usage.write1h,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.write5m,
            "ephemeral_1h_input_tokens": usage.write1h,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    }
    if answering.reply.thinking_tokens and usage.output > 1:
        figures["output_tokens_details"] = {"thinking_tokens": answering.reply.thinking_tokens}
    return {**figures, **(answering.reply.reply.usage or {})}


def _ending(answering: Answering) -> Json:
    ending: Json = {"stop_reason": answering.reply.stop, "stop_sequence": answering.reply.stop_sequence}
    details = answering.reply.reply.stop_details
    if details is not None:
        ending["stop_details"] = dict(details)
    return ending


def _event(kind: str, *, is_delta: bool = False, final: bool = False, **data: Any) -> Event:
    return Event({"type": kind, **data}, kind, delta=is_delta, final=final)


def _block(index: int, part: ShapedPart, block: Json, *, odd: bool) -> Iterator[Event]:
    yield _event("content_block_start", index=index, content_block=_empty(block))
    for delta in _deltas(part, block):
        yield _event("content_block_delta", is_delta=True, index=index, delta=delta)
    if odd:
        yield _event("content_block_delta", index=index, delta={"type": "novel_delta", "novelty": "?"})
    yield _event("content_block_stop", index=index)


def _empty(block: Json) -> Json:
    emptied = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: emptied.get(key, value) for key, value in block.items()}


def _deltas(part: ShapedPart, block: Json) -> Iterator[Json]:
    match part.part:
        case Say():
            yield from ({"type": "text_delta", "text": piece} for piece in part.pieces)
        case Call():
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in part.pieces)
        case Think() if block["type"] == "thinking":
            pieces = part.pieces if block["thinking"] else ()
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in pieces)
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            pass


def _unknown_block(index: int) -> Iterator[Event]:
    """A block that no client knows, behind the others."""
    yield _event("content_block_start", index=index, content_block={"type": "novelty", "value": 1})
    yield _event("content_block_stop", index=index)
