"""A replay as lines that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from runtime.conversation import events as ev
from runtime.conversation.windows import agent_of
from runtime.runner.replay.report import CallSeen, End, Item
from runtime.runner.wording import printable, words

LABEL_WIDTH: Final = 7


def transcript_lines(item: Item) -> Iterator[str]:
    """The lines of a replay's transcript; most events have none."""
    match item:
        case CallSeen():
            yield line("call", call_words(item))
        case End():
            yield from _end_lines(item)
        case _:
            shown = words(item)
            if shown is not None:
                yield line(*shown)


def call_words(call: CallSeen) -> str:
    """One line about a call of a model."""
    started, segments = call.started, call.window.segments
    size = f"{len(segments)} segments, {call.window.tokens} tokens"
    state = "" if call.completed else f" · {_failure(call.ended)}"
    agent = agent_of(started.lane)
    stage = f"{agent}: {started.stage}" if agent else started.stage
    return f"{started.call} · {stage}, {_phase(started.phase)} · {started.model} · {size}{state}"


def line(label: str, text: str) -> str:
    """A label and a text that may have several lines, set apart."""
    indent = "\n" + " " * (LABEL_WIDTH + 2)
    return f"{label:<{LABEL_WIDTH}}  {printable(text).strip()}".replace("\n", indent).rstrip()


def _phase(phase: int) -> str:
    return f"phase {phase}" if phase else "beside the turn"


def _failure(ended: ev.LLMCallCompleted | ev.LLMCallFailed) -> str:
    if isinstance(ended, ev.LLMCallCompleted):
        return ""
    return ended.error if ended.code in ("superseded", "cancelled") else f"failed: {ended.error}"


def _end_lines(end: End) -> Iterator[str]:
    state = "complete" if end.complete else "open"
    yield line("end", f"{state}, in {end.stage}, after {_turns(len(end.replies))}")
    if end.unused_outputs:
        yield line("unused", f"{end.unused_outputs} model outputs were not asked for")


def _turns(number: int) -> str:
    return f"{number} turn" if number == 1 else f"{number} turns"
