"""A session's events as lines that a person reads: who spoke, which tool ran, where it went and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.runner.replay.report import CallSeen, End, Item

LABEL_WIDTH: Final = 7
LONGEST: Final = 160
"""Characters of arguments and results that a line shows."""


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


def words(event: Event) -> tuple[str, str] | None:
    """(label, text) of what a person wants to know of an event; None for the engine's bookkeeping."""
    match event:
        case ev.UserMessageEvent():
            return ("added" if event.injected else "user"), event.text
        case ev.TurnComplete():
            return "reply", event.text or "[no reply]"
        case ev.TurnInterrupted():
            return "stopped", f"{event.shown_text} [{event.reason}]".strip()
        case ev.TurnFailed():
            return "failed", event.message
        case ev.LLMCallRetry():
            return "retry", f"{event.error} Again in {event.wait_ms / 1000:g} s."
        case ev.StateChanged():
            return "set", _changes(event)
        case ev.SessionComplete():
            return "end", f"the session is complete in {event.stage} ({event.reason.replace('_', ' ')})"
    return quiet_words(event)


def quiet_words(event: Event) -> tuple[str, str] | None:
    """(label, text) of what happened beside the talk: tools and moves."""
    match event:
        case ev.ToolCallStart():
            return "tool", f"{event.name} {short(event.arguments)}"
        case ev.ToolCallComplete():
            outcome = short(event.result) if event.success else f"failed: {event.error}"
            return "result", f"{event.tool_name} → {outcome}"
        case ev.StageEntered():
            return "stage", event.stage
        case ev.TransitionTriggered():
            to = event.to_stage or "back to the caller"
            rule = f" by {event.transition}" if event.transition else ""
            return "move", f"{event.from_stage} → {to}{rule}{': ' + event.reason if event.reason else ''}"
        case ev.TransitionRefused():
            return "refused", event.reason
    return None


def call_words(call: CallSeen) -> str:
    """One line about a call of a model."""
    started, segments = call.started, call.window.segments
    size = f"{len(segments)} segments, {call.window.tokens} tokens"
    state = "" if call.completed else f" · {_failure(call.ended)}"
    return f"{started.call} · {started.stage}, {_phase(started.phase)} · {started.model} · {size}{state}"


def line(label: str, text: str) -> str:
    """A label and a text that may have several lines, set apart."""
    indent = "\n" + " " * (LABEL_WIDTH + 2)
    return f"{label:<{LABEL_WIDTH}}  {printable(text).strip()}".replace("\n", indent).rstrip()


def printable(text: str) -> str:
    """The text without characters that would steer a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text.replace("\r\n", "\n"))


def short(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _phase(phase: int) -> str:
    return f"phase {phase}" if phase else "beside the turn"


def _failure(ended: Any) -> str:
    return f"failed: {ended.error}" if isinstance(ended, ev.LLMCallFailed) else ""


def _changes(event: ev.StateChanged) -> str:
    parts = [f"{name} = {short(value)}" for name, value in event.set.items()]
    return ", ".join([*parts, *(f"{name} deleted" for name in event.deleted)])


def _end_lines(end: End) -> Iterator[str]:
    state = "complete" if end.complete else "open"
    yield line("end", f"{state}, in {end.stage}, {len(end.replies)} turns")
    if end.unused_outputs:
        yield line("unused", f"{end.unused_outputs} model outputs were not asked for")
