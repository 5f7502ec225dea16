"""A conversation as it is written down before anybody plays it: who says what, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.bench.cost.words import between, words
from tests.llmrtc.case import Json, decision, tool_named

TRANSITION = "playbook_transition"


@dataclass(frozen=True, slots=True)
class Turn:
    """The user waits `pause_s` seconds, says `text`; the model answers with `outputs`, one a call."""

    pause_s: float
    text: str
    outputs: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """One conversation."""

    turns: tuple[Turn, ...]
    results: Mapping[str, str] = field(default_factory=dict)
    """Call id -> what the tool gives."""

    @property
    def calls(self) -> int:
        """How often the model is called."""
        return sum(len(turn.outputs) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Workload:
    """Conversations of one kind, with one playbook."""

    key: str
    title: str
    playbook: Json
    scripts: tuple[Script, ...]
    budget: int | None = None
    """Tokens that no window may pass; None: far more than is needed."""


class Writer:
    """Writes one script, turn by turn."""

    def __init__(self, seed: str) -> None:
        self.chance = Random(seed)
        self.turns: list[Turn] = []
        self.results: dict[str, str] = {}
        self._ids = 0
        self._outputs: list[Json] = []
        self._pause, self._text = 0.0, ""

    @property
    def calls(self) -> int:
        """Calls of the model so far."""
        return sum(len(turn.outputs) for turn in self.turns) + len(self._outputs)

    def user(self, pause_s: float, low: float, high: float) -> None:
        """A turn begins."""
        self._pause, self._text = pause_s, words(self.chance, between(self.chance, low, high))

    def asks(self, tool: str, result: str, **arguments: Any) -> None:
        """The model calls a tool."""
        self.results[self._call(tool, arguments)] = result

    def moves(self, target: str, **arguments: Any) -> None:
        """The model asks for another stage, for a called one, or to return."""
        reason = words(self.chance, 12)
        self._call(TRANSITION, {"targetStage": target, "reason": reason, **arguments})

    def replies(self, low: float, high: float) -> None:
        """The model's words end the turn."""
        self._outputs.append({"text": words(self.chance, between(self.chance, low, high))})
        self.turns.append(Turn(self._pause, self._text, tuple(self._outputs)))
        self._outputs = []

    def text(self, tokens: float) -> str:
        """Words, of about that many tokens."""
        return words(self.chance, tokens)

    def size(self, low: float, high: float) -> float:
        """A size between."""
        return between(self.chance, low, high)

    def script(self) -> Script:
        """What was written."""
        return Script(tuple(self.turns), self.results)

    def _call(self, tool: str, arguments: Json) -> str:
        self._ids += 1
        call_id = f"t{self._ids}"
        self._outputs.append({"tool_calls": [{"id": call_id, "name": tool, "args": arguments}]})
        return call_id


def text_tool(name: str, tokens: float = 60, **more: Any) -> Json:
    """A tool with one parameter and a description of about that length."""
    chance = Random(f"tool {name}")
    return {**tool_named(name, "query"), "description": words(chance, tokens), **more}


def prompt(name: str, tokens: float) -> str:
    """A stage's or a playbook's instructions."""
    return words(Random(f"prompt {name}"), tokens)


def move(name: str, target: str, *, start: str = "*", mode: str = "goto") -> Json:
    """A rule that the model asks for."""
    action = {"mode": mode} if mode == "return" else {"mode": mode, "targetStage": target}
    return {"id": name, "from": start, "condition": decision(), "action": action}


def outputs(turns: Sequence[Turn]) -> list[Json]:
    """All that the model says, in order."""
    return [output for turn in turns for output in turn.outputs]
