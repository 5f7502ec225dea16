"""What a turn costs early and late in a long session: `python -m tests.bench.turns [TURNS]`.

Each turn asks for a tool and then replies, in one stage, on a model that answers at once. Printed are the
processor time of a turn (median of ten; `decide` is step, fold, window and cache plan, `render` the request's
body besides) and the bytes that the turn adds to the log, each with its ratio to the first line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from runtime.context.models import ModelRecord, record
from runtime.conversation.events import Event
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLM, LLMRequest
from runtime.llm.scripted import Output, ScriptedLLM
from runtime.playbook import LLMConfig, Playbook
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox

MODEL = record("claude-sonnet-5", "anthropic")
SAMPLE = 10
LOOKED_AT = (20, 40, 80, 150, 300, 600)

DOCUMENT = {
    "id": "bench",
    "name": "Bench",
    "initialStage": "desk",
    "globalSystemPrompt": "Be kind and brief. " * 40,
    "stages": [
        {
            "id": "desk",
            "name": "Desk",
            "systemPrompt": "Help with orders. " * 40,
            "tools": [
                {
                    "name": "look",
                    "description": "Looks an order up.",
                    "parameters": {"type": "object", "properties": {"order": {"type": "string"}}},
                    "saveAs": "order",
                    "implementation": {
                        "type": "mock",
                        "responses": [{"result": {"state": "on its way", "items": [1, 2, 3]}}],
                    },
                }
            ],
        },
        {"id": "end", "name": "End", "systemPrompt": "Say goodbye.", "kind": "end"},
    ],
    "transitions": [
        {
            "id": f"word{number}",
            "from": "desk",
            "condition": {"type": "keyword", "keywords": [f"farewell{number}"]},
            "action": {"targetStage": "end"},
        }
        for number in range(4)
    ],
}


@dataclass
class Source:
    """One scripted model for every stage."""

    llm: ScriptedLLM

    def get(self, config: LLMConfig, using_model: str | None) -> tuple[LLM, ModelRecord]:
        return self.llm, MODEL


def render_nothing(request: LLMRequest, model: ModelRecord) -> dict[str, Any]:
    """No body: what is left is the engine's own time."""
    return {}


def outputs(turns: int) -> list[Output]:
    """For each turn a tool call and a reply."""
    return [
        output
        for turn in range(turns)
        for output in (
            {"tool_calls": [{"id": f"c{turn}", "name": "look", "args": {"order": f"A{turn}"}}]},
            {"text": f"Order A{turn} is on its way and should arrive in a day or two. " * 3},
        )
    ]


def play(turns: int, renderer: Any) -> tuple[list[float], list[Event]]:
    """Milliseconds of each turn, and the log."""
    store = MemoryStore()
    times: list[float] = []

    async def talk() -> None:
        session = Session(
            Playbook.model_validate(DOCUMENT),
            llms=Source(ScriptedLLM(outputs(turns), renderer=renderer, model=MODEL)),
            tools=ToolBox(),
            store=store,
            clock=VirtualClock(datetime(2026, 1, 1, tzinfo=UTC)),
            session_id="bench",
        )
        await session.start()
        for turn in range(turns):
            began = time.process_time()
            await session.send(f"Where is my order number A{turn}?")
            times.append((time.process_time() - began) * 1000)

    run_virtual(talk)
    return times, store.events


def sizes(events: Sequence[Event], turns: int) -> list[int]:
    """Bytes of each turn's events without the texts of segments, which are stored once, by hash."""
    found = [0] * (turns + 1)
    for event in events:
        found[event.turn] += len(event.model_dump_json(exclude={"added": {"__all__": {"text"}}}).encode())
    return found[1:]


def report(turns: int) -> None:
    """Prints the table."""
    decide, events = play(turns, render_nothing)
    whole, _ = play(turns, render_anthropic)
    stored = sizes(events, turns)
    first: tuple[float, float, float] | None = None
    print("turn   decide ms        render ms        log bytes")
    for turn in (turn for turn in LOOKED_AT if turn <= turns):
        sample = slice(turn - SAMPLE, turn)
        own, both = median(decide[sample]), median(whole[sample])
        row = (own, max(both - own, 0.001), float(median(stored[sample])))
        first = first or row
        print(
            f"{turn:4}" + "".join(f"{v:10.2f} ×{v / base:5.1f}" for v, base in zip(row, first, strict=True))
        )


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else LOOKED_AT[-2])
