"""What the text of a small model can hide: thinking between tags, and tool calls written out as text.

Pure. Nothing is guessed: a call is recovered only if the rest of the message is nothing but calls, each of
them parses, and each names a tool that was offered. Anything else stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from runtime.llm.wire import Json, parse_arguments

THINK: Final = "<think>"
END_OF_THINKING: Final = "</think>"
FENCE: Final = "```"
TAG: Final = "<tool_call>"
FUNCTION: Final = "<function="
MISTRAL: Final = "[TOOL_CALLS]"

_FIRST_KEYS: Final = tuple(
    f'"{key}"' for key in ("name", "arguments", "parameters", "function", "type", "id", "tool", "tool_calls")
)
_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.DOTALL)
_NAMED = re.compile(r"<function=([\w-]+)>(.*?)(?:</function>|$)", re.DOTALL)
_FENCED = re.compile(r"```\w*\s*\n(.*?)\n?\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call that stood in the text."""

    name: str
    arguments: Json


@dataclass(slots=True)
class ThinkingSplitter:
    """Takes thinking between `<think>` tags out of a text, if the text begins with it."""

    thinking: str = ""
    _held: str = ""
    _state: str = "start"

    def feed(self, text: str) -> str:
        """The part of the text that is no thinking, as far as that is known by now."""
        self._held += text
        if self._state == "start":
            self._look_for_start()
        if self._state == "thinking":
            self._look_for_end()
        if self._state == "text":
            out, self._held = self._held, ""
            return out
        return ""

    def end(self) -> str:
        """What is left when the text is over. Thinking that never ended is thinking all the same."""
        rest, self._held = self._held, ""
        if self._state == "thinking":
            self.thinking += rest
            return ""
        return rest

    def _look_for_start(self) -> None:
        begun = self._held.lstrip()
        if begun.startswith(THINK):
            self._state, self._held = "thinking", begun[len(THINK) :]
        elif not THINK.startswith(begun):
            self._state = "text"

    def _look_for_end(self) -> None:
        thought, tag, rest = self._held.partition(END_OF_THINKING)
        if tag:
            self.thinking += thought
            self._state, self._held = "text", rest.lstrip()


@dataclass(slots=True)
class CallGate:
    """Lets text through, and holds back what may become a call until it is clear that it is none."""

    tools: Collection[str]
    """Names of the tools that were offered; none: everything goes through."""
    _held: str = ""
    _fresh_line: bool = True

    def feed(self, text: str) -> str:
        """The text that can be shown now."""
        if not self.tools:
            return text
        self._held += text
        start = self._first_suspect()
        shown, self._held = self._held[:start], self._held[start:]
        if shown:
            self._fresh_line = shown.endswith("\n") or (self._fresh_line and not shown.strip())
        return shown

    def _first_suspect(self) -> int:
        """Where the first line begins with which a call may begin."""
        lines = [0] if self._fresh_line else []
        lines += [match.end() for match in re.finditer("\n", self._held)]
        return next((start for start in lines if _may_be_calls(self._held[start:])), len(self._held))

    def end(self, *, recover: bool = True) -> tuple[str, tuple[WrittenCall, ...]]:
        """What is left when the text is over: calls, or text to be shown."""
        rest, self._held = self._held, ""
        calls = read_calls(rest, self.tools) if recover and rest.strip() else None
        return ("", calls) if calls else (rest, ())


def _may_be_calls(text: str) -> bool:
    """Whether calls can still come of a text that begins like this. Blank text may, and costs nothing."""
    begun = text.lstrip(" \t")
    for opening in (TAG, FUNCTION, MISTRAL, FENCE):
        if opening.startswith(begun) or begun.startswith(opening):
            return opening != FENCE or _may_be_fenced(begun)
    return _may_be_json(begun)


def _may_be_fenced(begun: str) -> bool:
    if FENCE.startswith(begun):
        return True
    first_line, newline, rest = begun[len(FENCE) :].partition("\n")
    if not newline:
        return re.fullmatch(r"\w*\s*", first_line) is not None
    return _may_be_json(rest.lstrip())


def _may_be_json(begun: str) -> bool:
    match = re.match(r"\[?\s*\{?\s*", begun)
    head = match.group() if match else ""
    if not head.strip():
        return not begun.strip()
    key = begun[len(head) :]
    return any(known.startswith(key) or key.startswith(known) for known in _FIRST_KEYS)


def read_calls(text: str, tools: Collection[str]) -> tuple[WrittenCall, ...] | None:
    """The calls that the text consists of; None if it is anything else."""
    calls: list[WrittenCall] = []
    try:
        for value in _values(text.strip()):
            call = _call_in(value)
            if call is None or call.name not in tools:
                return None
            calls.append(call)
    except (ValueError, RecursionError):
        return None
    return tuple(calls) or None


def _values(text: str) -> Iterator[Any]:
    """The JSON values that the text consists of, whatever they are wrapped in. Raises ValueError."""
    if text.startswith(FUNCTION):
        _only(text, _NAMED)
        for name, arguments in _NAMED.findall(text):
            yield {"name": name, "arguments": arguments}
        return
    for opening, wrapping in ((TAG, _TAGGED), (FENCE, _FENCED)):
        if text.startswith(opening):
            _only(text, wrapping)
            for inner in wrapping.findall(text):
                yield from _json_values(inner)
            return
    yield from _json_values(text.removeprefix(MISTRAL))


def _only(text: str, wrapping: re.Pattern[str]) -> None:
    if wrapping.sub("", text).strip():
        raise ValueError("there is other text beside the calls")


def _json_values(text: str) -> Iterator[Any]:
    """One value, a list of values, or one value behind the other."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
            value = value["tool_calls"]
        yield from value if isinstance(value, list) else [value]
        rest = rest[end:].lstrip(" \t\r\n,;")


def _call_in(value: Any) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    inner = function if isinstance(function, dict) else value
    name = inner.get("name") or inner.get("tool") or (function if isinstance(function, str) else None)
    given = inner.get("arguments", inner.get("parameters"))
    arguments = parse_arguments(given if isinstance(given, str) else json.dumps(given))
    if not isinstance(name, str) or given is None or arguments is None:
        return None
    return WrittenCall(name, arguments)
