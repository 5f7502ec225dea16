"""Turns what was said into segments: fixed pieces of text with a stable id, a hash and a token count."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runtime.context.artifacts import FOLLOWS, artifact_line, named_artifact
from runtime.context.models import ModelRecord
from runtime.context.tokens import NO_CORRECTIONS, count_tokens
from runtime.conversation.artifacts import ArtifactRef
from runtime.conversation.events import (
    LLMCallCompleted,
    ToolCallComplete,
    TurnInterrupted,
    UserMessageEvent,
)
from runtime.conversation.messages import AssistantMessage, ToolCall
from runtime.conversation.segments import Replaced, Segment
from runtime.conversation.snapshot import canonical
from runtime.conversation.windows import Pending
from runtime.playbook import ToolDefinition
from runtime.playbook.storable import storable_text

NO_REPLY: Final = "[no reply]"
CONVERSATION_STARTS: Final = "[conversation starts]"
CONTINUE: Final = "[continue]"
EMPTY_MESSAGE: Final = "[empty message]"
NO_RESULT: Final = "No result: the call was cut off."
EMPTY_RESULT: Final = "(no result)"


class SegmentMaker:
    """Makes segments with the token counts of one model. Counts are fixed when a segment is made."""

    def __init__(
        self,
        model: ModelRecord,
        longest: int | None = None,
        corrections: Mapping[str, float] = NO_CORRECTIONS,
    ) -> None:
        self.model, self.longest = model, longest
        """`longest`: characters that results and artifacts may have where a window would not fit else."""
        self.corrections = corrections
        """What replies told of the model's counts."""

    def make(
        self,
        segment_id: str,
        kind: Any,
        role: Any,
        text: str,
        *,
        sources: tuple[int, ...] = (),
        frame: str | None = None,
        stage: str | None = None,
        label: str = "",
        meta: dict[str, Any] | None = None,
        replaced: Replaced | None = None,
    ) -> Segment:
        """One segment. The author's texts, too, are made such as a store and a wire can carry."""
        clean = storable_text(text)
        if self.longest is not None and kind in ("tool_result", "artifact"):
            clean = cut_to(clean, self.longest)
        tokens, counted = count_tokens(clean, kind, self.model, self.corrections)
        fields = {
            "id": segment_id,
            "kind": kind,
            "role": role,
            "text": clean,
            "tokens": tokens,
            "counted": counted,
            "hash": segment_hash(kind, role, clean, meta or {}),
            "sources": sources,
            "frame": frame,
            "stage": stage,
            "label": label,
            "meta": meta or {},
            "replaced": replaced,
        }
        return Segment.trusted(fields, lasting=True)


def cut_to(text: str, longest: int) -> str:
    """The beginning of a text that is longer, and how long it is."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[cut here: the first {longest:,} of {len(text):,} characters]"


def segment_hash(kind: str, role: str, text: str, meta: dict[str, Any]) -> str:
    """32 hex digits that stand for all that a request sends of a segment."""
    content = canonical([kind, role, text, meta]).encode("utf-8", "replace")
    return hashlib.sha256(content).hexdigest()[:32]


def tools_text(tools: Sequence[ToolDefinition]) -> str:
    """The tools as the model sees them: canonical JSON of name, description, parameters, in their order."""
    return canonical(
        [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools
        ]
    )


def user_segment(maker: SegmentMaker, item: Pending, event: UserMessageEvent) -> Segment:
    """A user's message, or a transition's message in the user's role; one that is passed on to an agent
    stands in its caller's window, too."""
    return maker.make(
        f"e{event.seq}.{item.frame}" if item.kind == "input" else f"e{event.seq}",
        "injected" if event.injected else "dialogue",
        "user",
        event.text if event.text.strip() else EMPTY_MESSAGE,
        sources=(event.seq,),
        frame=item.frame,
        stage=item.stage,
        label="transition message" if event.injected else "user",
    )


def interrupted_segment(maker: SegmentMaker, item: Pending, event: TurnInterrupted) -> Segment:
    """A reply that was cut off: its shown text alone."""
    return maker.make(
        f"e{event.seq}",
        "dialogue",
        "assistant",
        event.shown_text,
        sources=(event.seq,),
        frame=item.frame,
        stage=item.stage,
        label="interrupted reply",
    )


def no_reply_segment(maker: SegmentMaker, item: Pending) -> Segment:
    """Stands where a turn ended without the model's text, so that roles keep taking turns."""
    return maker.make(
        f"e{item.event.seq}.none",
        "dialogue",
        "assistant",
        NO_REPLY,
        sources=(item.event.seq,),
        frame=item.frame,
        stage=item.stage,
        label="no reply",
    )


def assistant_segments(
    maker: SegmentMaker, item: Pending, event: LLMCallCompleted, model_key: str
) -> list[Segment]:
    """The blocks of a model's message in their order: what must be sent back unread, text, tool calls.

    Blank text is left out: providers refuse it. `model_key` marks whose thinking it is.
    """
    blocks = _ordered_blocks(event.message)
    made: list[Segment] = []
    for position, block in enumerate(blocks):
        text, kind, label, meta = _block_content(block, event.message, model_key)
        made.append(
            maker.make(
                f"e{event.seq}.{position}",
                kind,
                "assistant",
                text,
                sources=(event.seq,),
                frame=item.frame,
                stage=item.stage,
                label=label,
                meta=meta,
            )
        )
    return made


def _ordered_blocks(message: AssistantMessage) -> list[Any]:
    """Replay blocks at their positions; text, then calls, in the places between."""
    replay = {block.position: block for block in message.replay}
    rest: list[Any] = [message.text] if message.text.strip() else []
    rest += message.tool_calls
    blocks: list[Any] = []
    while rest or replay:
        position = len(blocks)
        if position in replay:
            blocks.append(replay.pop(position))
        elif rest:
            blocks.append(rest.pop(0))
        else:
            blocks.append(replay.pop(min(replay)))
    return blocks


def _block_content(
    block: Any, message: AssistantMessage, model_key: str
) -> tuple[str, str, str, dict[str, Any]]:
    if isinstance(block, str):
        return block, "dialogue", "reply" if not message.tool_calls else "text before a call", {}
    if isinstance(block, ToolCall):
        text = canonical({"name": block.name, "arguments": block.arguments or {}})
        label = f"{block.name}, recovered from text" if block.recovered else block.name
        return text, "tool_call", label, {"callId": block.call_id, "toolName": block.name}
    meta = {"provider": block.provider, "model": model_key, "block": block.block}
    return block.text, "thinking", "thinking", meta


def tool_result_segment(
    maker: SegmentMaker, item: Pending, event: ToolCallComplete, note: str = ""
) -> Segment:
    """The one result of a call, as text: a string as it is, anything else as canonical JSON. Of one that
    became an artifact there are name, size and `note`, which says where its text stands; its summary as well,
    unless the text comes next. The `line` of the meta has it."""
    meta = {"callId": event.call_id, "toolName": event.tool_name, "success": event.success}
    if item.artifact is not None:
        meta["artifact"], meta["line"] = item.artifact.name, artifact_line(item.artifact)
    return maker.make(
        f"e{event.seq}",
        "tool_result",
        "user",
        result_text(event) if item.artifact is None else _artifact_text(item.artifact, note),
        sources=(event.seq,),
        frame=item.frame,
        stage=item.stage,
        label=event.tool_name if event.success else f"{event.tool_name} failed",
        meta=meta,
    )


def _artifact_text(artifact: ArtifactRef, note: str) -> str:
    line = named_artifact(artifact) if note == FOLLOWS else artifact_line(artifact)
    return f"{line} {note}".strip()


def result_text(event: ToolCallComplete) -> str:
    """What the model reads of a result."""
    if not event.success:
        return event.error or "The tool failed."
    if isinstance(event.result, str):
        return event.result if event.result.strip() else EMPTY_RESULT
    return EMPTY_RESULT if event.result is None else canonical(event.result)


def missing_result_segment(maker: SegmentMaker, call: Segment) -> Segment:
    """An error result for a call that the log left without one, so that the request is valid."""
    meta = {"callId": call.meta["callId"], "toolName": call.meta["toolName"], "success": False}
    return maker.make(
        f"{call.id}.none",
        "tool_result",
        "user",
        NO_RESULT,
        sources=call.sources,
        frame=call.frame,
        stage=call.stage,
        label=f"{call.meta['toolName']} has no result",
        meta=meta,
    )
