"""What the simulated models say, and what goes wrong: scripted replies and faults, also as JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

STALLS: Final = frozenset({"stall", "pings"})
ENDINGS: Final = frozenset({"", "error", "cut", "end", "drop"}) | STALLS
QUIRKS: Final = frozenset(
    {
        "no_usage",  # no usage anywhere
        "no_ids",  # tool calls without ids
        "no_index",  # tool calls of a chat stream without an index
        "arguments_object",  # arguments as an object instead of text
        "one_chunk_calls",  # a whole tool call in one piece
        "finish_stop",  # `stop` although tools were called
        "think_tags",  # thinking as `<think>…</think>` in the text
        "reasoning_content",  # thinking as a field of its own in chat deltas
        "comments",  # comment lines between the events
        "null_content",  # a delta with `content: null`, a first chunk without choices
        "unknown_events",  # events, blocks and deltas that no client knows
        "split_bytes",  # the body cut inside characters
    }
)


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the model. With several chunks they are the stream's pieces, exactly."""

    chunks: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.chunks)


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking before what follows: a signed block, or a reasoning item."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `raw` is sent as the arguments as it is, JSON or not; without `id` one is made."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    raw: str | None = None


Part = Say | Think | Call


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request.

    A `status` of 400 and more is answered instead of the reply. Otherwise `then` says how the stream breaks
    after `after` deltas: `error` (an error event of that `type`), `cut` (the connection breaks), `end` (a
    clean end without the final event), `stall` (silence), `pings` (nothing but pings); or `drop`: the
    connection is closed before any answer. `delay_s` passes before the first byte, `first_token_s` between
    the stream's beginning and its first delta.
    """

    status: int | None = None
    type: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    first_token_s: float = 0.0
    after: int = 0
    then: str = ""

    def __post_init__(self) -> None:
        if self.then not in ENDINGS:
            raise ValueError(f"unknown ending {self.then!r}; one of {sorted(ENDINGS)}")

    @property
    def answers(self) -> bool:
        """Answered at once, by a status instead of a reply."""
        return self.status is not None and self.status >= 400 and not self.then


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: its parts in order, how it ends, and what is odd about it."""

    parts: tuple[Part, ...] = ()
    stop: str | None = None
    """The stop reason in Anthropic's words; the other APIs translate it, or pass on what they don't know."""
    stop_details: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None
    """Figures that replace the real ones in the answer (not in the record)."""
    pace_s: float = 0.0
    """Between two deltas."""
    quirks: frozenset[str] = frozenset()
    fault: Fault | None = None

    def __post_init__(self) -> None:
        if unknown := self.quirks - QUIRKS:
            raise ValueError(f"unknown quirks {sorted(unknown)}; known: {sorted(QUIRKS)}")

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls among the parts."""
        return tuple(part for part in self.parts if isinstance(part, Call))


Output = Reply | Fault
OK: Final = Reply(parts=(Say(("ok",)),))


def say(*chunks: str, **more: Any) -> Reply:
    """A text reply; with several chunks they are the pieces of the stream."""
    return Reply(parts=(Say(chunks),) if chunks else (), **more)


def calls(*made: Call, text: str = "", **more: Any) -> Reply:
    """A reply that calls tools, after an optional text."""
    return Reply(parts=((Say((text,)),) if text else ()) + made, **more)


def output_of(data: Mapping[str, Any]) -> Output:
    """A model output as replay scripts have it: `text` | `chunks` | `tool_calls` | `error` | `hang`, with
    `thinking`, `stop`, `usage`, `fault`, `quirks`, `pace_s`; or `parts`, a list of `{text}`, `{thinking}`,
    `{name, args}`. Raises ValueError or KeyError for anything else."""
    error = data.get("error")
    if error is not None and not data.keys() & {"text", "chunks", "tool_calls", "parts"}:
        return fault_of(error)
    fault = fault_of(error) if error is not None else None
    if "fault" in data:
        fault = fault_of(data["fault"])
    if data.get("hang"):
        fault = Fault(then="stall", after=int(data.get("after_chunks", 1_000_000)))
    return Reply(
        parts=_parts(data),
        stop=data.get("stop"),
        stop_details=data.get("stop_details"),
        usage=data.get("usage"),
        pace_s=float(data.get("pace_s", 0.0)),
        quirks=frozenset(data.get("quirks", ())),
        fault=fault,
    )


def _parts(data: Mapping[str, Any]) -> tuple[Part, ...]:
    if "parts" in data:
        return tuple(_part(part) for part in data["parts"])
    parts: list[Part] = []
    if data.get("thinking"):
        parts.append(Think(data["thinking"]))
    chunks = tuple(data["chunks"]) if "chunks" in data else tuple(filter(None, [data.get("text")]))
    if chunks:
        parts.append(Say(chunks))
    return (*parts, *(_call(call) for call in data.get("tool_calls", ())))


def _part(data: Mapping[str, Any]) -> Part:
    if "text" in data:
        return Say((data["text"],))
    if "thinking" in data:
        return Think(data["thinking"], redacted=bool(data.get("redacted")))
    return _call(data)


def _call(data: Mapping[str, Any]) -> Call:
    return Call(data["name"], dict(data.get("args", {})), data.get("id"), data.get("raw_args"))


def fault_of(data: Mapping[str, Any]) -> Fault:
    """A fault as JSON; an `error` of a replay script is one as well: without type and status the connection
    is cut, with status 200 or after chunks it is an error event inside the stream."""
    given = dict(data)
    after, then = int(given.pop("after_chunks", given.pop("after", 0))), given.pop("then", "")
    fault = replace(Fault(**given), after=after, then=then)
    plain = not then and not (fault.delay_s or fault.first_token_s)
    if plain and fault.status is None and not fault.type:
        return replace(fault, then="cut")
    if plain and (after or (fault.status or 200) == 200):
        return replace(fault, then="error")
    return fault


Chooser = Callable[[Mapping[str, Any]], Output | None]
"""From a request's body to what is answered; None leaves it to the next one."""


class Script:
    """What is said next: the queue first, then the first chooser that has an answer, then `ok`."""

    def __init__(self) -> None:
        self.queue: deque[Output] = deque()
        self.faults: deque[Fault | None] = deque()
        self.choosers: list[Chooser] = []

    def add(self, outputs: Iterable[Output]) -> None:
        """Puts outputs at the end of the queue, one per request."""
        self.queue.extend(outputs)

    def add_faults(self, faults: Iterable[Fault | None]) -> None:
        """The fault plan: one per request, None for a request that goes well. A planned status uses up no
        output of the queue."""
        self.faults.extend(faults)

    def next_fault(self) -> Fault | None:
        """The fault of the next request."""
        return self.faults.popleft() if self.faults else None

    def next(self, body: Mapping[str, Any]) -> Output:
        """The answer to this request."""
        if self.queue:
            return self.queue.popleft()
        for chooser in self.choosers:
            output = chooser(body)
            if output is not None:
                return output
        return OK

    def clear(self) -> None:
        """Nothing is scripted any more."""
        self.queue.clear()
        self.faults.clear()
        self.choosers.clear()
