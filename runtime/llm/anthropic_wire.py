"""Two pure mappings for Anthropic's Messages API: window -> request body, stream events -> message.

No SDK, no network, no clock: `replay` and the inspector render with this too. The rules of a valid request
(results first and together, roles, no empty text, the first message a user's, never ending on the assistant)
hold for whatever a window contains.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.context.models import ModelRecord
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.conversation.segments import Segment
from runtime.llm.base import LLMRequest
from runtime.llm.errors import provider_error
from runtime.llm.wire import (
    CallIds,
    Json,
    conversation,
    given,
    judged,
    left_out,
    marked_text,
    max_tokens,
    sampling,
    tool_call,
    tool_definitions,
)
from runtime.playbook import NamedToolChoice

MARKS: Final = 4
CUT_SHORT: Final = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn"})
"""Ends after which the last call may be cut although its JSON looks whole."""
_STOPS: Final = {"model_context_window_exceeded": "context_window_exceeded"}


def render_anthropic(request: LLMRequest, record: ModelRecord) -> Json:
    """The body of `POST /v1/messages`. Settings that the model refuses are left out (see `left_out`)."""
    segments = request.window.segments
    marks = {point.segment: point.ttl for point in request.cache_points[:MARKS]}
    body: Json = {"model": request.model, "max_tokens": max_tokens(request, record), "stream": True}
    tools = _tools(segments, marks)
    if tools:
        body["tools"] = tools
    system = _system(segments, marks)
    if system:
        body["system"] = system
    body["messages"] = _messages(segments, marks, record)
    body.update(_settings(request, record, has_tools=bool(tools)))
    return body


def _settings(request: LLMRequest, record: ModelRecord, *, has_tools: bool) -> Json:
    config, refused = request.config, left_out(request, record)
    settings: Json = {}
    if config.stop_sequences and "stopSequences" not in refused:
        settings["stop_sequences"] = list(config.stop_sequences)
    if config.effort is not None and "effort" not in refused:
        settings["output_config"] = {"effort": config.effort}
    settings.update(sampling(request, refused))
    choice = _tool_choice(request)
    if has_tools and choice is not None and "toolChoice" not in refused:
        settings["tool_choice"] = choice
    return settings


def _tool_choice(request: LLMRequest) -> Json | None:
    """None for `auto`, which is the default and is not sent."""
    choice = request.tool_choice
    if isinstance(choice, NamedToolChoice):
        return {"type": "tool", "name": choice.name}
    return {"required": {"type": "any"}, "none": {"type": "none"}}.get(choice)


def _tools(segments: Sequence[Segment], marks: Mapping[str, str]) -> list[Json]:
    tools: list[Json] = []
    for segment in segments:
        if segment.kind == "tools":
            tools += [
                {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
                for tool in tool_definitions((segment,))
            ]
            if tools:
                _mark(tools[-1], segment, marks)
    return tools


def _system(segments: Sequence[Segment], marks: Mapping[str, str]) -> list[Json]:
    blocks: list[Json] = []
    for segment in segments:
        if segment.kind == "base" and segment.text.strip():
            blocks.append({"type": "text", "text": segment.text})
            _mark(blocks[-1], segment, marks)
    return blocks


def _mark(block: Json, segment: Segment, marks: Mapping[str, str]) -> None:
    if segment.id in marks:
        block["cache_control"] = {"type": "ephemeral", "ttl": marks[segment.id]}


# -- messages ----------------------------------------------------------------------------------------


def _messages(segments: Sequence[Segment], marks: Mapping[str, str], record: ModelRecord) -> list[Json]:
    """Blocks in order; neighbours of one role are one message. A mark on a block that cannot carry one moves
    to the block before it in the same window."""
    talk = conversation(segments)
    ids = CallIds()
    blocks: list[tuple[str, Json]] = []
    for index, segment in enumerate(talk):
        block = _block(segment, ids)
        if block is not None:
            blocks.append((_role(talk, index, record), block))
        if segment.id in marks:
            _mark_last(blocks, marks[segment.id])
    messages: list[Json] = []
    for role, block in blocks:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].append(block)
        else:
            messages.append({"role": role, "content": [block]})
    return messages


def _mark_last(blocks: Sequence[tuple[str, Json]], ttl: str) -> None:
    for _, block in reversed(blocks):
        if block["type"] not in ("thinking", "redacted_thinking"):
            block["cache_control"] = {"type": "ephemeral", "ttl": ttl}
            return


def _role(talk: Sequence[Segment], index: int, record: ModelRecord) -> str:
    """A `system` segment keeps its role where the model takes it there: after a user's, before the
    assistant's or last. Anywhere else it is a marked block of the user."""
    segment = talk[index]
    if segment.role != "system":
        return segment.role
    before = next((s.role for s in reversed(talk[:index]) if s.role != "system"), None)
    after = next((s.role for s in talk[index + 1 :] if s.role != "system"), None)
    fits = record.system_in_messages and before == "user" and after in (None, "assistant")
    return "system" if fits else "user"


def _block(segment: Segment, ids: CallIds) -> Json | None:
    """The content block of a segment; None for blank text, which the API refuses."""
    if segment.kind == "thinking":
        block = segment.meta.get("block")
        return dict(block) if segment.meta.get("provider") == "anthropic" and block else None
    if segment.kind == "tool_call":
        content = json.loads(segment.text)
        return {
            "type": "tool_use",
            "id": ids.new(segment.meta["callId"]),
            "name": content["name"],
            "input": content["arguments"],
        }
    if segment.kind == "tool_result":
        result = {
            "type": "tool_result",
            "tool_use_id": ids.latest(segment.meta["callId"]),
            "content": segment.text,
        }
        return result if segment.meta.get("success", True) else {**result, "is_error": True}
    return {"type": "text", "text": marked_text(segment)} if segment.text.strip() else None


# -- the stream --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Block:
    content: Json
    json: str = ""


@dataclass(slots=True)
class MessageReader:
    """Reads the events of one stream, as plain objects. Unknown events, blocks and deltas are passed over."""

    finished: bool = False
    """`message_stop` came: without it the stream broke, however it ended."""
    stop: str | None = None
    explanation: str = ""
    """Why the model refused, where it says so."""
    _blocks: dict[int, _Block] = field(default_factory=dict)
    _usage: Json = field(default_factory=dict)

    def feed(self, event: Json) -> str:
        """Takes one event; returns the text that it adds to the reply. Raises LLMError for an error event."""
        kind = event.get("type")
        if kind == "message_start":
            self._usage.update(given((event.get("message") or {}).get("usage")))
        elif kind == "content_block_start":
            return self._start(event["index"], dict(event.get("content_block") or {}))
        elif kind == "content_block_delta":
            return self._delta(event["index"], event.get("delta") or {})
        elif kind == "message_delta":
            self._end(event)
        elif kind == "message_stop":
            self.finished = True
        elif kind == "error":
            error = event.get("error") or {}
            raise provider_error(error.get("type"), 200, str(error.get("message") or ""))
        return ""

    def _start(self, index: int, content: Json) -> str:
        self._blocks[index] = _Block(content)
        return str(content.get("text") or "") if content.get("type") == "text" else ""

    def _end(self, event: Json) -> None:
        delta = event.get("delta") or {}
        self.stop = delta.get("stop_reason") or self.stop
        self.explanation = str((delta.get("stop_details") or {}).get("explanation") or self.explanation)
        self._usage.update(given(event.get("usage")))

    def _delta(self, index: int, delta: Json) -> str:
        block = self._blocks.get(index)
        if block is None:
            return ""
        kind = delta.get("type")
        if kind == "text_delta":
            block.content["text"] = (block.content.get("text") or "") + delta["text"]
            return str(delta["text"])
        if kind == "input_json_delta":
            block.json += delta.get("partial_json") or ""
        elif kind == "thinking_delta":
            block.content["thinking"] = (block.content.get("thinking") or "") + delta["thinking"]
        elif kind == "signature_delta":
            block.content["signature"] = delta["signature"]
        return ""

    def message(self) -> AssistantMessage:
        """The whole message. A call that was cut off has no arguments: it is never run."""
        text, calls, replay = "", [], []
        for position, index in enumerate(sorted(self._blocks)):
            block = self._blocks[index]
            kind = block.content.get("type")
            if kind == "text":
                text += block.content.get("text") or ""
            elif kind == "tool_use":
                calls.append(self._call(block, is_last=index == max(self._blocks)))
            elif kind in ("thinking", "redacted_thinking"):
                replay.append(_replay(block.content, position))
        stop = _STOPS.get(self.stop or "", self.stop)
        message = AssistantMessage(text=text, tool_calls=tuple(calls), replay=tuple(replay), stop=stop)
        return judged(message, self.explanation)

    def _call(self, block: _Block, *, is_last: bool) -> ToolCall:
        at_once = block.content.get("input")
        raw = block.json or (json.dumps(at_once) if at_once else "")
        cut = is_last and self.stop in CUT_SHORT
        return tool_call(block.content["id"], block.content["name"], raw, cut=cut)

    def usage(self) -> Usage | None:
        """Tokens in disjoint parts; None where the stream reported none. Output figures are cumulative."""
        if not self._usage:
            return None
        written = self._usage.get("cache_creation_input_tokens") or 0
        split = self._usage.get("cache_creation") or {}
        long = split.get("ephemeral_1h_input_tokens") or 0
        return Usage(
            fresh=self._usage.get("input_tokens") or 0,
            write5m=max(0, written - long),
            write1h=long,
            read=self._usage.get("cache_read_input_tokens") or 0,
            output=self._usage.get("output_tokens") or 0,
        )


def _replay(content: Json, position: int) -> ReplayBlock:
    return ReplayBlock(
        provider="anthropic", position=position, text=str(content.get("thinking") or ""), block=content
    )
