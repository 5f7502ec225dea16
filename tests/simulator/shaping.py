"""From a scripted reply to the pieces of a stream: what fits into the limit, where it is cut, what it counts.

Where it is cut is chance with a seed: the same request gets the same pieces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from runtime.context.models import ModelRecord
from runtime.context.tokens import count_tokens
from tests.simulator.script import Call, Part, Reply, Say, Think

LONGEST_PIECE: Final = 12


@dataclass(frozen=True, slots=True)
class ShapedPart:
    """A part with the pieces it is streamed in. `whole` is what they add up to."""

    part: Part
    pieces: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The text, the thinking, or the arguments as JSON."""
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Shaped:
    """A reply that fits: its parts in pieces, why it stopped, and its tokens."""

    reply: Reply
    parts: tuple[ShapedPart, ...]
    stop: str
    stop_sequence: str | None
    tokens: int
    thinking_tokens: int


def shape(
    reply: Reply,
    model: ModelRecord,
    *,
    limit: int,
    limit_stop: str = "max_tokens",
    stop_sequences: Sequence[str] = (),
    seed: int = 0,
) -> Shaped:
    """Cuts a reply at a stop sequence and at `limit` tokens, and the rest into pieces."""
    chance = Random(seed)
    parts, tokens, thinking = [], 0, 0
    stop, sequence = reply.stop or ("tool_use" if reply.calls else "end_turn"), None
    for part in reply.parts:
        whole, found = _until_stop(content(part), part, stop_sequences)
        fitting = _fitting(whole, part, model, limit - tokens)
        used = tokens_of(fitting, part, model)
        tokens += used
        thinking += used if isinstance(part, Think) else 0
        if fitting or not whole:
            parts.append(ShapedPart(part, tuple(_pieces(fitting, part, chance))))
        if len(fitting) < len(whole):
            stop = limit_stop
            break
        if found is not None:
            stop, sequence = "stop_sequence", found
            break
    return Shaped(reply, tuple(parts), stop, sequence, max(1, tokens), thinking)


def content(part: Part) -> str:
    """What of a part goes over the wire in pieces."""
    if isinstance(part, Call):
        return part.raw if part.raw is not None else json.dumps(part.args, ensure_ascii=False)
    return part.text


def tokens_of(text: str, part: Part, model: ModelRecord) -> int:
    """Output tokens of that much of a part."""
    if isinstance(part, Call):
        return count_tokens(part.name + text, "tool_call", model)[0]
    return count_tokens(text, "dialogue", model)[0]


def _until_stop(text: str, part: Part, sequences: Sequence[str]) -> tuple[str, str | None]:
    """A text up to the first stop sequence, and which one it was."""
    places = [(text.find(s), s) for s in sequences if s in text] if isinstance(part, Say) else []
    if not places:
        return text, None
    place, found = min(places)
    return text[:place], found


def _fitting(text: str, part: Part, model: ModelRecord, room: int) -> str:
    """The longest beginning that has at most `room` tokens."""
    if tokens_of(text, part, model) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(text[:middle], part, model) <= room else (low, middle - 1)
    return text[:low]


def _pieces(text: str, part: Part, chance: Random) -> Iterator[str]:
    if isinstance(part, Call):
        yield ""  # the first piece of a call's arguments is often empty
    elif isinstance(part, Say) and len(part.chunks) > 1:
        yield from _given(text, part.chunks)
        return
    while text:
        length = chance.randint(1, LONGEST_PIECE)
        yield text[:length]
        text = text[length:]


def _given(text: str, chunks: Sequence[str]) -> Iterator[str]:
    """The author's own pieces, as far as the text reaches."""
    for chunk in chunks:
        if text:
            yield text[: len(chunk)]
        text = text[len(chunk) :]
