"""Two pure mappings for OpenAI's Responses API, used without its memory: window -> body, events -> message.

Nothing is stored there (`store: false`), so a reply's reasoning comes back encrypted, is kept as it came and
goes back in its place. A breakpoint of the cache stands only on texts of the user and the developer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from runtime.context.models import ModelRecord
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.conversation.segments import Segment
from runtime.llm.base import LLMError, LLMRequest
from runtime.llm.errors import provider_error
from runtime.llm.wire import (
    CallIds,
    Json,
    call_of,
    given,
    judged,
    left_out,
    marked_text,
    max_tokens,
    result_text,
    sampling,
    tool_call,
    tool_definitions,
)
from runtime.playbook import NamedToolChoice, ToolChoice

PROVIDER: Final = "openai"
ENCRYPTED: Final = "reasoning.encrypted_content"
MARKS: Final = 4
LEAST_TOKENS: Final = 16
"""The API refuses a lower output limit."""
_STOPS: Final = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}


def render_responses(request: LLMRequest, record: ModelRecord) -> Json:
    """The body of `POST /v1/responses`. Settings that the model refuses are left out (see `left_out`)."""
    cache = _Cache(request, record)
    body: Json = {
        "model": request.model,
        "store": False,
        "stream": True,
        "include": [ENCRYPTED],
        "max_output_tokens": max(LEAST_TOKENS, max_tokens(request, record)),
    }
    tools = _tools(request.window.segments)
    if tools:
        body["tools"] = tools
    body["input"] = _input(request.window.segments, cache.marked)
    body.update(_settings(request, record, has_tools=bool(tools)))
    body.update(cache.settings())
    return body


def _settings(request: LLMRequest, record: ModelRecord, *, has_tools: bool) -> Json:
    config, refused = request.config, left_out(request, record)
    settings = sampling(request, refused)
    if config.effort is not None and "effort" not in refused:
        settings["reasoning"] = {"effort": config.effort}
    choice = request.tool_choice
    if has_tools and choice != "auto" and "toolChoice" not in refused:
        settings["tool_choice"] = _tool_choice(choice)
    return settings


def _tool_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, NamedToolChoice):
        return {"type": "function", "name": choice.name}
    return choice


def _tools(segments: Sequence[Segment]) -> list[Json]:
    """`strict` is said because it is on where nothing is said, and few schemas of authors fulfil it."""
    return [
        {
            "type": "function",
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["parameters"],
            "strict": False,
        }
        for tool in tool_definitions(segments)
    ]


class _Cache:
    """How the plan's points are said. The tail's is left to the API, which then also finds where earlier
    requests ended; a request that ends without one asks for no automatic point either, and marks the end of
    the request before it, to be read."""

    def __init__(self, request: LLMRequest, record: ModelRecord) -> None:
        segments = request.window.segments
        planned = {point.segment for point in request.cache_points[:MARKS]} & {s.id for s in segments}
        last = segments[-1].id if segments else ""
        self._key = request.session
        self._takes_marks = record.caching == "breakpoints"
        self._automatic = last in planned
        sent = segments[: len(segments) - request.window.added]
        before = {sent[-1].id} if sent and planned and not self._automatic else set()
        self.marked: frozenset[str] = frozenset()
        if self._takes_marks:
            self.marked = frozenset((planned | before) - ({last} if self._automatic else set()))

    def settings(self) -> Json:
        """The request's own fields for the cache."""
        settings: Json = {"prompt_cache_key": self._key} if self._key else {}
        if self._takes_marks:
            settings["prompt_cache_options"] = {"mode": "implicit" if self._automatic else "explicit"}
        return settings


# -- items -------------------------------------------------------------------------------------------


def _input(segments: Sequence[Segment], marked: frozenset[str]) -> list[Json]:
    """Items in order; neighbouring texts of one role are one message. A mark on an item that cannot carry one
    moves to the nearest text before it that can."""
    ids = CallIds()
    items: list[Json] = []
    text: Json | None = None
    for segment, following in zip_longest(segments, segments[1:]):
        if segment.kind == "tools":
            continue
        if segment.kind == "base" or segment.role != "assistant":
            text = _add_said(items, segment, ids) or text
        else:
            _add_model(items, segment, ids, following)
        if segment.id in marked and text is not None:
            text["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return items


def _add_said(items: list[Json], segment: Segment, ids: CallIds) -> Json | None:
    """What the user, the application or a tool said; the text that can carry a mark."""
    if segment.kind == "tool_result":
        call_id = ids.latest(segment.meta["callId"])
        items.append({"type": "function_call_output", "call_id": call_id, "output": result_text(segment)})
        return None
    if not segment.text.strip():
        return None
    role = "developer" if segment.kind == "base" or segment.role == "system" else "user"
    text: Json = {"type": "input_text", "text": marked_text(segment)}
    if items and items[-1].get("role") == role:
        items[-1]["content"].append(text)
    else:
        items.append({"type": "message", "role": role, "content": [text]})
    return text


def _add_model(items: list[Json], segment: Segment, ids: CallIds, following: Segment | None) -> None:
    """What the model said. Reasoning goes back only with the item it led to: alone it is refused."""
    if segment.kind == "thinking":
        block = segment.meta.get("block")
        led_on = following is not None and following.sources == segment.sources
        if block and segment.meta.get("provider") == PROVIDER and led_on:
            items.append(dict(block))
    elif segment.kind == "tool_call":
        name, arguments = call_of(segment)
        call_id = ids.new(segment.meta["callId"])
        items.append({"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments})
    elif segment.text.strip():
        items.append({"type": "message", "role": "assistant", "content": segment.text})


# -- the stream --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Item:
    """One output item: what came of it piece by piece, and the whole once it is done."""

    content: Json
    text: str = ""
    arguments: str = ""
    done: bool = False


@dataclass(slots=True)
class ResponseReader:
    """Reads the events of one stream, as plain objects. Unknown events and items are passed over."""

    finished: bool = False
    """A response came that is completed or incomplete."""
    _items: dict[int, _Item] = field(default_factory=dict)
    _final: Json = field(default_factory=dict)
    _refused: bool = False

    def feed(self, event: Json) -> str:
        """Takes one event; returns the text that it adds to the reply. Raises LLMError for a failure."""
        kind = str(event.get("type") or "")
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            self._refused |= kind == "response.refusal.delta"
            return self._add_text(event, str(event.get("delta") or ""))
        if kind == "response.function_call_arguments.delta":
            self._item(event).arguments += str(event.get("delta") or "")
        elif kind == "response.output_item.added":
            self._item(event).content = dict(event.get("item") or {})
        elif kind == "response.output_item.done":
            return self._done(event)
        elif kind in ("response.completed", "response.incomplete"):
            self._final, self.finished = dict(event.get("response") or {}), True
        elif kind == "response.failed":
            raise _failure((event.get("response") or {}).get("error") or {})
        elif kind == "error":
            raise _failure(event.get("error") or event)
        return ""

    def _item(self, event: Json) -> _Item:
        return self._items.setdefault(int(event.get("output_index") or 0), _Item({}))

    def _add_text(self, event: Json, text: str) -> str:
        self._item(event).text += text
        return text

    def _done(self, event: Json) -> str:
        """The whole item. Text of it that no piece brought is the reply's as well."""
        item = self._item(event)
        item.content, item.done = dict(event.get("item") or {}), True
        parts = item.content.get("content") if item.content.get("type") == "message" else None
        self._refused |= any(part.get("type") == "refusal" for part in parts or ())
        whole = "".join(str(part.get("text") or part.get("refusal") or "") for part in parts or ())
        missing = whole[len(item.text) :] if whole.startswith(item.text) else ""
        return self._add_text(event, missing)

    def message(self) -> AssistantMessage:
        """The whole message. A call that was cut off has no arguments: it is never run."""
        text, calls, replay = "", [], []
        position = 0
        for index in sorted(self._items):
            item = self._items[index]
            kind = item.content.get("type")
            if kind == "function_call":
                calls.append(self._call(item, index))
            elif kind == "reasoning" and item.done:
                replay.append(_reasoning(item.content, position))
            elif item.text and not text:
                text = item.text
            else:
                text += item.text
                continue
            position += 1
        message = AssistantMessage(
            text=text, tool_calls=tuple(calls), replay=tuple(replay), stop=self._stop(bool(calls))
        )
        return judged(message, in_words=self._refused and bool(text.strip()))

    def _call(self, item: _Item, index: int) -> ToolCall:
        content = item.content
        cut = not item.done or content.get("status") == "incomplete"
        if self._incomplete() and index == max(self._items):
            cut = True
        raw = str(content.get("arguments") or "") if item.done else item.arguments
        call_id = str(content.get("call_id") or content.get("id") or f"call_{index}")
        return tool_call(call_id, str(content.get("name") or ""), raw, cut=cut)

    def _incomplete(self) -> str:
        """Why the response is not whole; empty where it is."""
        if self._final.get("status") != "incomplete":
            return ""
        return str((self._final.get("incomplete_details") or {}).get("reason") or "incomplete")

    def _stop(self, has_calls: bool) -> str:
        reason = self._incomplete()
        if reason:
            return _STOPS.get(reason, reason)
        if self._refused:
            return "refusal"
        return "tool_use" if has_calls else "end_turn"

    def usage(self) -> Usage | None:
        """Tokens in disjoint parts: the provider's input figure includes what was read and written."""
        usage = given(self._final.get("usage"))
        if not usage:
            return None
        details = given(usage.get("input_tokens_details"))
        read, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
        long = given(details.get("cache_write_tokens_details")).get("ttl_12h_tokens") or 0
        return Usage(
            fresh=max(0, (usage.get("input_tokens") or 0) - read - written),
            write5m=max(0, written - long),
            write1h=long,
            read=read,
            output=usage.get("output_tokens") or 0,
        )


def _failure(error: Mapping[str, object]) -> LLMError:
    kind = error.get("code") or error.get("type")
    return provider_error(str(kind) if kind else None, None, str(error.get("message") or ""))


def _reasoning(content: Json, position: int) -> ReplayBlock:
    """Kept to be sent back only with its encrypted content: without it the API would look for it in vain."""
    parts = [*(content.get("summary") or ()), *(content.get("content") or ())]
    text = "\n".join(str(part.get("text") or "") for part in parts if part.get("text"))
    block = content if content.get("encrypted_content") else {}
    return ReplayBlock(provider=PROVIDER, position=position, text=text, block=block)
