"""Events in words: who spoke, which tool ran, where it went and why. For terminals and transcripts."""

from __future__ import annotations

import json
import unicodedata
from typing import Any, Final

from runtime.conversation import events as ev
from runtime.conversation.events import Event

LONGEST: Final = 160
"""Characters of arguments and results that a line shows."""


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
        case ev.TextWithdrawn():
            return "undone", event.text
        case ev.LLMCallRetry():
            return "retry", f"{event.error} Again in {event.wait_ms / 1000:g} s."
        case ev.StateChanged():
            return "set", _changes(event)
        case ev.CompactionPlanned(decision=True):
            return "compact", _compaction(event)
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
        case ev.FramePushed(variables=dict()):
            return "agent", f"{event.agent} is called"
        case ev.FramePopped(reason="failed", value={"error": str() as error}):
            return "failed", error
        case ev.StageEntered():
            return "stage", event.stage
        case ev.TransitionTriggered():
            to = event.to_stage or "back to the caller"
            rule = f" by {event.transition}" if event.transition else ""
            return "move", f"{event.from_stage} → {to}{rule}{': ' + event.reason if event.reason else ''}"
        case ev.TransitionRefused():
            return "refused", event.reason
        case ev.IntentClassified():
            return "intent", _intent(event)
        case ev.ArtifactSaved():
            return "saved", f"{event.name}: {event.summary}"
        case ev.ArtifactLoaded():
            return "loaded", f"{event.name} into {event.frame}{_range(event)}"
        case ev.ArtifactUnloaded():
            return "unload", f"{event.name} out of {event.frame}"
    return None


def _compaction(event: ev.CompactionPlanned) -> str:
    """Why the window is shortened, with the numbers that speak for it."""
    numbers = event.numbers
    match event.rule:
        case "must":
            return f"must: {numbers['tokens']:,} tokens of {numbers['budget']:,}; {numbers['rest']:,} stay"
        case "pays":
            return f"pays: {numbers['removed']:,} tokens less, which saves {numbers['saves']:,}"
    return event.rule


def _range(event: ev.ArtifactLoaded) -> str:
    return "" if event.length is None else f", {event.length} characters from {event.offset}"


def _intent(event: ev.IntentClassified) -> str:
    if event.error is not None:
        return f"not classified: {event.error}"
    return f"{event.intent or 'none'} {event.confidence:.2f} ({event.classifier})"


def printable(text: str) -> str:
    """The text without what would steer a terminal: controls, halves of pairs, changes of direction."""
    return "".join("�" if _steers(character) else character for character in text.replace("\r\n", "\n"))


def _steers(character: str) -> bool:
    if character in "\n\t":
        return False
    return unicodedata.category(character) in ("Cc", "Cs") or "\u202a" <= character <= "\u202e"


def short(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _changes(event: ev.StateChanged) -> str:
    parts = [f"{name} = {short(value)}" for name, value in event.set.items()]
    return ", ".join([*parts, *(f"{name} deleted" for name in event.deleted)])
