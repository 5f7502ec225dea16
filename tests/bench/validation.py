"""What a check costs: `python -m tests.bench.validation`. Printed figures; nothing here is a test.

Processor times in milliseconds, the median of several runs. "Cold" is the first check of a document in a
process, with nothing remembered; after an edit the document is parsed and checked anew, as for the editor.
"""

from __future__ import annotations

import gc
import json
import random
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from statistics import median
from typing import Any

from builder.validation import check
from builder.validation.checks import CHECKS, Check
from builder.validation.outline import Outline
from builder.validation.report import report_of
from runtime.playbook import Playbook

STEMS, ENDS = (
    ["order", "table", "pay", "ship", "call", "mend", "note", "ask", "tell", "look"],
    ["s", "ed", "ing", "er", "back", "up", "over", "out", "down"],
)
WORDS = STEMS + [stem + end for stem in STEMS for end in ENDS] + [f"name{number}" for number in range(3000)]
OFTEN = list(accumulate(1 / (rank + 1) for rank in range(len(WORDS))))
"""Words are as often as in prose: the n-th most frequent one an n-th as often as the first."""


def words(chance: random.Random, count: int) -> list[str]:
    """That many words."""
    return chance.choices(WORDS, cum_weights=OFTEN, k=count)


def playbook(stages: int, transitions: int, seed: int = 1) -> dict[str, Any]:
    """A document with forward edges, a few back, prompts of some 80 words, and rules of every kind."""
    chance = random.Random(seed)
    made = [_stage(chance, number) for number in range(stages)]
    for number in range(stages - max(2, stages // 50), stages):
        made[number]["kind"] = "end"
    rules = [_rule(chance, number, stages) for number in range(transitions)]
    return {
        "id": "bench",
        "name": "Bench",
        "stages": made,
        "transitions": rules,
        "initialStage": "s0",
        "globalTools": [_tool(f"find_{number}") for number in range(8)],
        "variables": [{"name": f"v{number}", "default": number} for number in range(12)],
    }


def _stage(chance: random.Random, number: int) -> dict[str, Any]:
    prompt = " ".join(words(chance, 80)) + f" {{$v{number % 12}}} step{number}"
    stage: dict[str, Any] = {"id": f"s{number}", "name": f"Stage {number}", "systemPrompt": prompt}
    if number % 4 == 0:
        stage["tools"] = [_tool(f"own_{number}")]
    if number % 10 == 0:
        stage["onEnter"] = [{"set": {"v1": f"vars.v2 + {number % 50}"}}]
    return stage


def _tool(name: str) -> dict[str, Any]:
    properties = {"id": {"type": "string"}, "count": {"type": "integer", "minimum": 0}}
    parameters = {"type": "object", "properties": properties, "required": ["id"]}
    implementation = {"type": "mock", "responses": [{"when": "arguments.count > 0", "result": {"ok": True}}]}
    return {
        "name": name,
        "description": f"Does {name}",
        "parameters": parameters,
        "implementation": implementation,
    }


def _rule(chance: random.Random, number: int, stages: int) -> dict[str, Any]:
    source = number % stages
    back = chance.random() < 0.02
    target = chance.randrange(stages) if back else min(stages - 1, source + chance.randint(1, 40))
    return {
        "id": f"t{number}",
        "from": f"s{source}",
        "condition": _condition(chance, number),
        "action": {"targetStage": f"s{target}"},
        "priority": number % 5,
    }


def _condition(chance: random.Random, number: int) -> dict[str, Any]:
    kind = chance.random()
    if kind < 0.55:
        return {"type": "llm_decision", "description": " ".join(words(chance, 6))}
    if kind < 0.70:
        return {"type": "keyword", "keywords": words(chance, 4), "source": "user"}
    if kind < 0.80:
        return {"type": "tool_call", "toolName": f"find_{number % 8}", "outcome": "success"}
    if kind < 0.88:
        return {"type": "max_turns", "count": 1 + number % 5}
    if kind < 0.96:
        return {"type": "custom", "expression": f"vars.v{number % 12} > {number % 40} && turn.count > 1"}
    examples = [" ".join(chance.choices(WORDS[:40], k=4)) for _ in range(4)]
    name = f"intent{number % 9}"
    return {"type": "intent", "intent": name, "description": name, "examples": examples}


def _drained(one_check: Check, outline: Outline) -> None:
    deque(one_check(outline), maxlen=0)


def milliseconds(work: Callable[[], Any]) -> float:
    """Processor time of one run."""
    gc.collect()
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def _parsed(text: str) -> Playbook:
    return Playbook.model_validate(json.loads(text))


def large() -> None:
    """The size that must stay usable from a command."""
    document = playbook(10_000, 30_000)
    text = json.dumps(document)
    parsed = Playbook.model_validate(document)
    gc.freeze()  # as the command does
    print(f"10,000 stages, 30,000 transitions, {len(text) / 1e6:.1f} MB")
    print(f"  parse {milliseconds(lambda: _parsed(text)):7.0f} ms")
    print(f"  check {milliseconds(lambda: check(parsed)):7.0f} ms, cold")
    print(f"  check {median(milliseconds(lambda: check(parsed)) for _ in range(3)):7.0f} ms, again")
    print(f"  report{milliseconds(lambda: report_of(parsed)):7.0f} ms, a check included")
    outline = Outline.of(parsed)
    graph = milliseconds(lambda: outline.graph)
    print(f"  of which the graph {graph:.0f} ms, and by check:")
    for one_check in CHECKS:
        took = milliseconds(partial(_drained, one_check, outline))
        print(f"    {one_check.__module__.rpartition('.')[2]:20}{took:7.1f} ms")


def edited() -> None:
    """What the editor waits for after each edit."""
    document = playbook(300, 900)
    first = milliseconds(lambda: check(Playbook.model_validate(document)))
    times: dict[str, list[float]] = {"parse": [], "check": []}
    for number in range(40):
        document["stages"][number * 7 % 300]["systemPrompt"] += f" and then {number}"
        parse = partial(_parsed, json.dumps(document))
        times["parse"].append(milliseconds(parse))
        times["check"].append(milliseconds(partial(check, parse())))
    print("300 stages, 900 transitions, one edit at a time")
    print(f"  first check, parsing included {first:6.1f} ms")
    for name, taken in times.items():
        print(f"  {name} {median(taken):6.1f} ms, slowest {max(taken):6.1f} ms")


if __name__ == "__main__":
    edited()
    large()
