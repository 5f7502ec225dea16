"""What the rehearsal model says where no author's line fits: from results, the stage's text, the message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from runtime.llm.rehearsal.choosing import missing_parameters
from runtime.llm.rehearsal.lines import words_of
from runtime.llm.rehearsal.view import Result, View
from runtime.llm.rehearsal.words import overlap
from runtime.playbook.engine_tools import TRANSITION_TOOL

FACTS: Final = 6
ROWS: Final = 3
_HIDDEN: Final = ("id", "customerId")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_ASK = re.compile(r"\bask (?:them |him |her |the \w+ )?(?:for|about) ([^.;:,]+)", re.I)
_ASK_WHAT = re.compile(
    r"\bask (?:them |him |her |the \w+ )?((?:what|which|whether|when|where|how|if) [^.;:]+)", re.I
)
_WELCOME = re.compile(r"\b(?:welcome|greet)\b(?:.*?\bto (.+?))?(?=[.;,]| and\b|$)", re.I)
_THANK = re.compile(r"\b(?:thank|say goodbye|farewell)\b", re.I)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SWAPS: Final = (
    (r"\b(?:the customer's|the user's|their|his or her)\b", "your"),
    (r"\b(?:you can|you may)\b", "I can"),
    (r"\bfor them\b", "for you"),
    (r"\b(?:the customer|the user|they|them)\b", "you"),
    (r"\byou (needs|wants|likes)\b", r"you \1"),
)


def reply(view: View) -> str:
    """A reply. Deterministic, never empty, and never a fact that no text of the window has."""
    told = [line for result in view.here if (line := _told(result))]
    if told:
        return " ".join(told)
    sentences = [
        sentence.strip(" -*•") for sentence in _SENTENCE.split(view.stage.prompt) if sentence.strip()
    ]
    spoken = _opening(sentences) if not view.replies_here else ""
    question = _question(view, sentences)
    if spoken or question:
        return " ".join(part for part in (spoken, question) if part)
    earlier = [line for result in view.turn if (line := _told(result))]
    return " ".join(earlier) or _plain(view, sentences)


def reply_to_raw(prompt: str) -> str:
    """The answer to a raw stage's prompt."""
    line = " ".join(prompt.split())
    return f"Rehearsed answer to: {line if len(line) <= 160 else line[:159] + '…'}"


def _told(result: Result) -> str:
    """A tool's result as a sentence."""
    if result.tool == TRANSITION_TOOL:
        return ""
    if not result.success:
        return f"That did not work: {words_of(result.value).rstrip('.')}."
    value = result.value
    if isinstance(value, Mapping):
        return f"{_capital(_facts(value))}." if value else "I have it."
    if isinstance(value, list):
        return _rows(value)
    text = words_of(value)
    return text if text.endswith((".", "!", "?")) else f"{_label(result.tool)}: {text}."


def _facts(value: Mapping[str, Any]) -> str:
    shown = [
        (n, v)
        for n, v in value.items()
        if n not in _HIDDEN and not isinstance(v, (dict, list)) and v is not None
    ]
    return (
        ", ".join(f"{_label(name).lower()} {words_of(item)}" for name, item in shown[:FACTS]) or "I have it"
    )


def _rows(value: list[Any]) -> str:
    if not value:
        return "I found nothing."
    rows = [_facts(row) if isinstance(row, Mapping) else words_of(row) for row in value[:ROWS]]
    more = f" and {len(value) - ROWS} more" if len(value) > ROWS else ""
    return f"I found {len(value)}: {'; '.join(rows)}{more}."


def _label(name: str) -> str:
    words = _CAMEL.sub(" ", name).replace("_", " ").replace("-", " ")
    return _capital(words.lower())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _opening(sentences: list[str]) -> str:
    for sentence in sentences[:3]:
        if match := _WELCOME.search(sentence):
            place = match.group(1)
            return f"Welcome to {_swapped(place)}." if place else "Hello, good to have you here."
        if _THANK.search(sentence):
            return "Thank you, and goodbye."
    return ""


def _question(view: View, sentences: list[str]) -> str:
    """What the stage still needs: a parameter of the tool that fits best, else what its text says to ask."""
    tools = sorted(view.tools.values(), key=lambda tool: -overlap(view.user, str(tool["description"])))
    for sentence in sentences:
        if match := _ASK.search(sentence):
            return f"Could you tell me {_swapped(match.group(1).strip())}?"
        if match := _ASK_WHAT.search(sentence):
            return f"Please tell me {_swapped(match.group(1).strip())}."
    for tool in tools:
        missing = missing_parameters(tool, view)
        if missing and view.user:
            wanted = " and ".join(f"the {_label(name).lower()}" for name, _ in missing)
            return f"Could you tell me {wanted}?"
    return ""


def _plain(view: View, sentences: list[str]) -> str:
    """Says what a model would go by here; it does not pretend to have understood more."""
    first = sentences[0].rstrip(".") if sentences else "it has no instructions"
    heard = f"You said “{_short(view.user)}”. " if view.user else ""
    return f"{heard}In the stage «{view.stage.name}» a model would go by: {_short(first, 200)}."


def _short(text: str, limit: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _swapped(text: str) -> str:
    """From instructions about the user to words to the user."""
    for pattern, words in _SWAPS:
        text = re.sub(pattern, words, text, flags=re.IGNORECASE)
    return re.sub(r"\byou needs\b", "you need", re.sub(r"\byou wants\b", "you want", text))
