"""What the mappings of all providers share: texts, ids, arguments, and which settings a model refuses.

Pure: no SDK, no network, no clock. The mappings themselves are in `*_wire.py`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Protocol

from runtime.context.models import ModelRecord
from runtime.conversation.messages import AssistantMessage, ToolCall, Usage
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import canonical
from runtime.llm.base import BadRequest, ContextTooLong, LLMRequest, Refused
from runtime.playbook import NamedToolChoice
from runtime.playbook.storable import storable

Json = dict[str, Any]

DEFAULT_MAX_TOKENS: Final = 16_000
LONGEST_ID: Final = 64
_ID = re.compile(r"[a-zA-Z0-9_-]+")


class Reader(Protocol):
    """Puts one stream's events together to a message."""

    finished: bool
    """The final event came: without it the stream broke, however it ended."""

    def feed(self, event: Json) -> str:
        """Takes one event; returns the text that it adds to the reply, mostly none. Raises LLMError for an
        event that says that the call failed."""
        ...

    def message(self) -> AssistantMessage:
        """The whole message. Raises LLMError where the stream says that there is none."""
        ...

    def usage(self) -> Usage | None:
        """Tokens in disjoint parts, as far as they were said; None while nothing was."""
        ...


# -- settings ----------------------------------------------------------------------------------------


def left_out(request: LLMRequest, record: ModelRecord) -> tuple[str, ...]:
    """The settings of the request that this model does not take and that are therefore not sent."""
    config = request.config
    out = _sampling_left_out(request, record)
    if config.effort is not None and config.effort not in record.efforts:
        out.append("effort")
    if config.stop_sequences and not record.stop_sequences:
        out.append("stopSequences")
    forced = request.tool_choice == "required" or isinstance(request.tool_choice, NamedToolChoice)
    if forced and not (record.forced_tool_choice and record.tools):
        out.append("toolChoice")
    if request.window.tools and not record.tools:
        out.append("tools")
    return tuple(out)


def _sampling_left_out(request: LLMRequest, record: ModelRecord) -> list[str]:
    config = request.config
    given = (("temperature", config.temperature), ("topP", config.top_p))
    names = [name for name, value in given if value is not None]
    unreasoned = record.sampling_unreasoned and config.effort == "none" and "none" in record.efforts
    if not (record.sampling or unreasoned):
        return names
    return ["topP"] if len(names) == 2 and not record.sampling_together else []


def sampling(request: LLMRequest, refused: Sequence[str]) -> Json:
    """`temperature` and `top_p`, as far as they are set and taken."""
    config = request.config
    given = {"temperature": ("temperature", config.temperature), "topP": ("top_p", config.top_p)}
    return {key: value for name, (key, value) in given.items() if value is not None and name not in refused}


def max_tokens(request: LLMRequest, record: ModelRecord) -> int:
    """How much output is asked for: never more than the model gives."""
    return min(request.config.max_tokens or DEFAULT_MAX_TOKENS, record.max_output)


# -- window -> request -------------------------------------------------------------------------------


def conversation(segments: Sequence[Segment]) -> list[Segment]:
    """The segments that are talk: all but the tools and the base."""
    return [segment for segment in segments if segment.kind not in ("tools", "base")]


def tool_definitions(segments: Sequence[Segment]) -> list[Json]:
    """The tools of the window as `{name, description, parameters}`, in their order."""
    return [tool for segment in segments if segment.kind == "tools" for tool in json.loads(segment.text)]


def marked_text(segment: Segment) -> str:
    """The text of a segment; what comes from the application and not from a person is marked as such."""
    if segment.kind in ("stage", "tail"):
        return f"<instructions>\n{segment.text}\n</instructions>"
    if segment.kind in ("state", "summary", "artifact"):
        return f"<{segment.kind}>\n{segment.text}\n</{segment.kind}>"
    return segment.text


def result_text(segment: Segment) -> str:
    """A tool's result for a wire that has no field for a failure."""
    return segment.text if segment.meta.get("success", True) else f"Error: {segment.text}"


def call_of(segment: Segment) -> tuple[str, str]:
    """Name and argument text of a call, for a wire that has arguments as a text."""
    content = json.loads(segment.text)
    return str(content["name"]), canonical(content["arguments"])


class CallIds:
    """Ids as every API takes them: letters, digits, `_` and `-`, at most 64, and each one once."""

    def __init__(self) -> None:
        self._wire: dict[str, str] = {}
        self._used: set[str] = set()

    def new(self, call_id: str) -> str:
        """The id of a call in the request; a second call of one id gets a number."""
        fits = len(call_id) <= LONGEST_ID and _ID.fullmatch(call_id)
        plain = call_id if fits else "call_" + sha256(call_id.encode()).hexdigest()[:16]
        wire, number = plain, 2
        while wire in self._used:
            wire, number = f"{plain[: LONGEST_ID - 8]}_{number}", number + 1
        self._used.add(wire)
        self._wire[call_id] = wire
        return wire

    def latest(self, call_id: str) -> str:
        """The id that the last call of that id got."""
        return self._wire.get(call_id, call_id)


# -- stream -> message -------------------------------------------------------------------------------


def parse_arguments(raw: str) -> Json | None:
    """The arguments of a call: nothing at all is `{}`; None for broken JSON or anything but an object.

    NaN and numbers beyond a float are no JSON. Text that no log can keep is made storable.
    """
    try:
        value = json.loads(raw, parse_constant=_refuse, parse_float=_finite) if raw.strip() else {}
    except (ValueError, RecursionError):
        return None
    return storable(value) if isinstance(value, dict) else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("the number is too large")
    return number


def tool_call(call_id: str, name: str, raw: str, *, cut: bool = False) -> ToolCall:
    """A call from its argument text. One that was cut off, or does not parse, has no arguments: it is never
    run, and its text is kept as it came."""
    arguments = None if cut else parse_arguments(raw)
    return ToolCall(call_id=call_id, name=name, arguments=arguments, raw=raw if arguments is None else None)


def given(usage: Mapping[str, Any] | None) -> Json:
    """The figures that were really said."""
    return {name: value for name, value in (usage or {}).items() if value is not None}


def judged(message: AssistantMessage, explanation: str = "", *, in_words: bool = False) -> AssistantMessage:
    """The message, if its end is one that an answer can have. Raises what the end means where it is none.

    A refusal takes back what was said before it: left in the conversation it would be refused again. Only a
    model that refuses `in_words` of its own has answered.
    """
    if message.stop == "refusal" and not in_words:
        raise Refused(f"The model refused to answer. {explanation}".strip())
    nothing = not message.text.strip() and not message.tool_calls
    if message.stop == "context_window_exceeded" and nothing:
        raise ContextTooLong("The conversation leaves this model no room for an answer.")
    if message.stop == "pause_turn" and nothing:
        raise BadRequest("The model paused to use a tool of its provider, which is not used here.")
    return message
