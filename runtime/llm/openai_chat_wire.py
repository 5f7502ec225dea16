"""Two pure mappings for Chat Completions, as many servers speak it: window -> body, chunks -> message.

What is sent keeps to the fields that all of them know; what comes back is read leniently: ids and indexes may
be missing, arguments may be an object, usage may come late or never, and a small model may write its calls
as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.context.models import ModelRecord
from runtime.conversation.messages import AssistantMessage, ReplayBlock, ToolCall, Usage
from runtime.conversation.segments import Segment
from runtime.llm import constrained
from runtime.llm.base import LLMRequest
from runtime.llm.wire import (
    CallIds,
    Json,
    call_of,
    conversation,
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
from runtime.llm.written_calls import CallGate, ThinkingSplitter, WrittenCall
from runtime.playbook import NamedToolChoice, ToolChoice

PROVIDER: Final = "openai-chat"
REASONING: Final = ("reasoning_content", "reasoning")
"""Fields that servers put a reply's thinking into."""
SPEAKING: Final = frozenset({"content", "tool_calls"})
_STOPS: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def render_chat(request: LLMRequest, record: ModelRecord) -> Json:
    """The body of `POST /v1/chat/completions`. Settings that the model refuses are left out."""
    segments = request.window.segments
    body: Json = {
        "model": request.model,
        "messages": _messages(segments, record),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    limit = "max_completion_tokens" if record.max_completion_tokens else "max_tokens"
    body[limit] = max_tokens(request, record)
    tools = _tools(segments) if record.tools else []
    if tools:
        body["tools"] = tools
    body.update(_settings(request, record, has_tools=bool(tools)))
    if not record.tools and (allowed := constrained.targets(request)) is not None:
        body["messages"] = _told(body["messages"])
        answer = {"name": "answer", "strict": True, "schema": constrained.schema(allowed)}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    return body


def _told(messages: Sequence[Json]) -> list[Json]:
    """The messages with the rule of the constrained answer behind the base."""
    first, *rest = messages
    if first["role"] == "system":
        return [{**first, "content": f"{first['content']}\n\n{constrained.RULE}"}, *rest]
    return [{"role": "system", "content": constrained.RULE}, *messages]


def _settings(request: LLMRequest, record: ModelRecord, *, has_tools: bool) -> Json:
    config, refused = request.config, left_out(request, record)
    settings = sampling(request, refused)
    if config.stop_sequences and "stopSequences" not in refused:
        settings["stop"] = list(config.stop_sequences)
    if config.effort is not None and "effort" not in refused:
        settings["reasoning_effort"] = config.effort
    choice = request.tool_choice
    if has_tools and choice != "auto" and "toolChoice" not in refused:
        settings["tool_choice"] = _tool_choice(choice)
    return settings


def _tool_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, NamedToolChoice):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def _tools(segments: Sequence[Segment]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["parameters"],
            },
        }
        for tool in tool_definitions(segments)
    ]


# -- messages ----------------------------------------------------------------------------------------


def _messages(segments: Sequence[Segment], record: ModelRecord) -> list[Json]:
    """Neighbours of one role are one message: the templates of many models want roles to take turns."""
    base = "\n\n".join(s.text for s in segments if s.kind == "base" and s.text.strip())
    messages: list[Json] = [{"role": "system", "content": base}] if base else []
    ids = CallIds()
    for segment in conversation(segments):
        if segment.kind == "tool_call":
            _add_call(messages, segment, ids, record)
        elif segment.kind == "tool_result" and record.tools:
            call_id = ids.latest(segment.meta["callId"])
            messages.append({"role": "tool", "tool_call_id": call_id, "content": result_text(segment)})
        elif segment.kind == "thinking":
            _add_thinking(messages, segment)
        elif segment.text.strip():
            _add_text(messages, _role(segment, record), _said(segment))
    return [_without_idle_thinking(message) for message in messages if set(message) & SPEAKING]


def _without_idle_thinking(message: Json) -> Json:
    """Thinking is wanted back beside the calls it led to, and by some servers refused anywhere else."""
    if "tool_calls" in message:
        return message
    return {name: value for name, value in message.items() if name not in REASONING}


def _said(segment: Segment) -> str:
    if segment.kind == "tool_result":
        return f"<result>\n{result_text(segment)}\n</result>"
    return marked_text(segment)


def _role(segment: Segment, record: ModelRecord) -> str:
    """Most templates take a system text in the first place only; elsewhere it is the user's, and marked."""
    if segment.role == "system" and not record.system_in_messages:
        return "user"
    return segment.role


def _add_text(messages: list[Json], role: str, text: str) -> None:
    last = messages[-1] if messages else {}
    is_base = len(messages) == 1 and last.get("role") == "system"
    if last.get("role") == role and not is_base and "tool_calls" not in last:
        last["content"] = f"{last['content']}\n\n{text}" if last.get("content") else text
    else:
        messages.append({"role": role, "content": text})


def _add_call(messages: list[Json], segment: Segment, ids: CallIds, record: ModelRecord) -> None:
    name, arguments = call_of(segment)
    if not record.tools:
        _add_text(messages, "assistant", constrained.as_said(name, json.loads(arguments)))
        return
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant"})
    function = {"name": name, "arguments": arguments}
    call = {"id": ids.new(segment.meta["callId"]), "type": "function", "function": function}
    messages[-1].setdefault("tool_calls", []).append(call)


def _add_thinking(messages: list[Json], segment: Segment) -> None:
    """Thinking goes back, under the name it came by, where the server gave it as a field of its own."""
    block = segment.meta.get("block") or {}
    if segment.meta.get("provider") == PROVIDER and set(block) & set(REASONING):
        messages.append({"role": "assistant", **{name: block[name] for name in REASONING if name in block}})


# -- the stream --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ChatReader:
    """Reads the chunks of one stream, as plain objects, from whichever server they come.

    `offered`: the tools that a call in the text may name. `targets`: those of a constrained answer, or None.
    `number`: makes the ids of calls that came without one different in each call of a session.
    """

    offered: Sequence[str] = ()
    targets: Sequence[str] | None = None
    number: int = 0
    finished: bool = False
    """A finish reason came."""
    _text: str = ""
    _reason: str = ""
    _refused: bool = False
    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)
    _recovered: list[ToolCall] = field(default_factory=list)
    _thinking: dict[str, str] = field(default_factory=dict)
    _usage: Json = field(default_factory=dict)
    _splitter: ThinkingSplitter = field(default_factory=ThinkingSplitter)
    _gate: CallGate = field(init=False)
    _choice: constrained.ChoiceReader | None = field(init=False)

    def __post_init__(self) -> None:
        self._gate = CallGate(self.offered)
        self._choice = constrained.ChoiceReader(self.targets) if self.targets is not None else None

    def feed(self, event: Json) -> str:
        """Takes one chunk; returns the text that it adds to the reply, mostly a little."""
        self._usage.update(given(event.get("usage")))
        choices = event.get("choices") or ()
        return "".join(self._choice_of(choice) for choice in choices[:1])

    def _choice_of(self, choice: Json) -> str:
        delta = choice.get("delta") or choice.get("message") or {}
        for name in REASONING:
            if isinstance(delta.get(name), str):
                self._thinking[name] = self._thinking.get(name, "") + delta[name]
        text = self._shown(_text_of(delta.get("content")))
        if isinstance(delta.get("refusal"), str):
            self._refused = True
            text += self._kept(delta["refusal"])
        for piece in delta.get("tool_calls") or ():
            self._add_piece(piece)
        if choice.get("finish_reason") and not self.finished:
            self._reason, self.finished = str(choice["finish_reason"]), True
            text += self._rest()
        return text

    def _kept(self, text: str) -> str:
        self._text += text
        return text

    def _shown(self, text: str) -> str:
        spoken = self._splitter.feed(text) if text else ""
        if self._choice is not None:
            return self._kept(self._choice.feed(spoken))
        return self._kept(self._gate.feed(spoken))

    def _rest(self) -> str:
        """What was held back until the end: text after all, or calls."""
        spoken = self._splitter.end()
        if self._choice is not None:
            shown = self._choice.feed(spoken)
            more, target = self._choice.end()
            if target is not None:
                self._recovered = [constrained.transition_call(self._made_up_id(0), target)]
            return self._kept(shown + more)
        shown = self._gate.feed(spoken)
        rest, written = self._gate.end(recover=not self._calls and self._reason != "length")
        self._recovered = [self._recover(call, index) for index, call in enumerate(written)]
        return self._kept(shown + rest)

    def _recover(self, call: WrittenCall, index: int) -> ToolCall:
        return ToolCall(
            call_id=self._made_up_id(index), name=call.name, arguments=call.arguments, recovered=True
        )

    def _made_up_id(self, index: int) -> str:
        return f"call_{self.number}_{index}"

    # -- calls ---------------------------------------------------------------------------------------------

    def _add_piece(self, piece: Json) -> None:
        function = piece.get("function") or {}
        arguments = function.get("arguments")
        call = self._call_for(piece, str(function.get("name") or ""))
        call.id = call.id or str(piece.get("id") or "")
        call.name = call.name or str(function.get("name") or "")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments += json.dumps(arguments)

    def _call_for(self, piece: Json, name: str) -> _Call:
        """The call that a piece belongs to. A piece that names a tool under another id, or with no index,
        begins a new one, whatever its index says."""
        index, new_id = piece.get("index"), str(piece.get("id") or "")
        known = self._by_index.get(index) if isinstance(index, int) else None
        if known is None and not name and not isinstance(index, int) and self._calls:
            known = self._calls[-1]
        begins = known is None or (name and known.name and new_id != known.id)
        if not begins and known is not None:
            return known
        call = _Call()
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def message(self) -> AssistantMessage:
        """The whole message. A call that was cut off has no arguments: it is never run."""
        calls = [self._made(call, index) for index, call in enumerate(self._calls)] or self._recovered
        message = AssistantMessage(
            text=self._text, tool_calls=tuple(calls), replay=self._replay(), stop=self._stop(bool(calls))
        )
        return judged(message, in_words=self._refused and bool(self._text.strip()))

    def _made(self, call: _Call, index: int) -> ToolCall:
        cut = self._reason == "length" and index == len(self._calls) - 1
        repeated = any(other.id == call.id for other in self._calls[:index])
        call_id = self._made_up_id(index) if repeated or not call.id else call.id
        return tool_call(call_id, call.name, call.arguments, cut=cut)

    def _stop(self, has_calls: bool) -> str:
        if self._refused:
            return "refusal"
        stop = _STOPS.get(self._reason, self._reason)
        return "tool_use" if has_calls and stop == "end_turn" else stop

    def _replay(self) -> tuple[ReplayBlock, ...]:
        """Thinking: of its own field, to be sent back; from tags in the text, only to be read."""
        text = "".join(self._thinking.values()) or self._splitter.thinking
        if not text.strip():
            return ()
        return (ReplayBlock(provider=PROVIDER, text=text, block=dict(self._thinking)),)

    def usage(self) -> Usage | None:
        """Tokens in disjoint parts, where the server says any: its input figure includes what was read."""
        if not {"prompt_tokens", "completion_tokens"} & set(self._usage):
            return None
        details = given(self._usage.get("prompt_tokens_details"))
        read, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
        return Usage(
            fresh=max(0, (self._usage.get("prompt_tokens") or 0) - read - written),
            write5m=written,
            read=read,
            output=self._usage.get("completion_tokens") or 0,
        )


def _text_of(content: Any) -> str:
    """A text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))


def reader_for(request: LLMRequest, record: ModelRecord) -> ChatReader:
    """The reader for the answer to that request. A call is one, even where none was wished for: the engine
    answers it, and nobody is shown its JSON."""
    if not record.tools:
        return ChatReader(targets=constrained.targets(request), number=request.call)
    offered = [tool["name"] for tool in tool_definitions(request.window.segments)]
    return ChatReader(offered=offered, number=request.call)
