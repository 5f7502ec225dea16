"""Random playbooks and talks that stay where both engines document the same.

The generator plans the way itself: in every turn it knows which rule is to fire, so that each case carries a
third opinion, `planned`, beside those of the two engines. What it leaves out are the intended differences:
one rule at most is ripe in a turn beside rules that both rank alike, a `*` rule never leads where it starts,
and a stage that is entered before its answer has no rule for that answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.llmrtc.case import (
    Case,
    Json,
    after_turns,
    called,
    decision,
    keyword,
    playbook,
    rule,
    stage,
    tool_named,
)
from tests.support.replays import asks, said, to, tool

ANY = "*"


@dataclass(frozen=True)
class Planned:
    """A case, and the rules that should fire in each of its turns."""

    case: Case
    fired: Sequence[Sequence[str]]


def generated(count: int, seed: int = 2026) -> list[Planned]:
    """That many cases; the same ones for the same seed."""
    return [_Plan(random.Random(f"{seed}-{number}"), number).planned() for number in range(count)]


@dataclass
class _Plan:
    """One case in the making: where the talk stands, and what was said."""

    chance: random.Random
    number: int
    stages: list[str] = field(default_factory=list)
    tools: dict[str, list[str]] = field(default_factory=dict)
    rules: list[Json] = field(default_factory=list)
    turns: list[Json] = field(default_factory=list)
    fired: list[list[str]] = field(default_factory=list)
    at: str = ""
    done: int = 0
    """Turns that were counted in this visit."""
    calls: int = 0

    def planned(self) -> Planned:
        self.stages = [f"s{number}" for number in range(self.chance.randint(2, 5))]
        self.tools = {name: [f"t{n}" for n in range(self.chance.randint(0, 3))] for name in self.stages}
        self.rules = list(self._rules())
        self.at = self.stages[0]
        for _ in range(self.chance.randint(3, 9)):
            self._turn()
        document = playbook(
            *(stage(name, *(tool_named(one, "what") for one in self.tools[name])) for name in self.stages),
            rules=self.rules,
        )
        answers: dict[str, Json] = {
            "t0": {"returns": {"found": [1, 2.5, None]}},
            "t1": {"raises": "The shop is closed."},
            "t2": {"returns": "three"},
        }
        return Planned(Case(f"generated {self.number}", document, self.turns, tools=answers), self.fired)

    # -- the playbook ---------------------------------------------------------------------------------------

    def _rules(self) -> Iterator[Json]:
        for number in range(self.chance.randint(2, 8)):
            start = self.chance.choice([*self.stages, *self.stages, ANY])
            target = self.chance.choice([name for name in self.stages if name != start])
            kinds = [keyword(f"word{number}", f"Phrase {number}"), decision()]
            if start != ANY:
                kinds.append(after_turns(self.chance.randint(2, 3)))
                kinds += [called(name) for name in self.tools[start][:1]]
            condition = self.chance.choice(kinds)
            yield rule(f"r{number}", start, condition, target, priority=self.chance.choice([0, 0, 1, -3]))

    def _leaving(self, kind: str) -> list[Json]:
        """Rules of a kind that may leave the current stage, those first that both engines prefer."""
        rules = [
            one
            for one in self.rules
            if one["condition"]["type"] == kind
            and one["from"] in (self.at, ANY)
            and one["action"]["targetStage"] != self.at
        ]
        return sorted(rules, key=lambda one: -one["priority"])

    # -- the talk -------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        ripe = [one for one in self._leaving("max_turns") if self.done + 1 >= one["condition"]["count"]]
        moves = [self._by_words, self._by_decision, self._by_call, self._by_nothing]
        if ripe:
            self._say(*self._tool_talk(), "Nothing special.")
            self._move(ripe[0], answered_there=False)
        else:
            self.chance.choice(moves)()

    def _by_nothing(self) -> None:
        self._say(*self._tool_talk(), f"Reply {len(self.turns)}.")
        self.fired.append([])
        self.done += 1

    def _by_words(self) -> None:
        rules = self._leaving("keyword")
        if not rules:
            return self._by_nothing()
        chosen = self.chance.sample(rules, min(len(rules), self.chance.choice([1, 1, 2])))
        if len({one["from"] for one in chosen}) > 1:
            chosen = chosen[:1]  # `*` against a named stage: see named-before-any
        words = [self.chance.choice(one["condition"]["keywords"]).upper() for one in chosen]
        first = min(chosen, key=self._rank)
        counting = any(
            one["condition"]["type"] == "max_turns" and one["from"] == first["action"]["targetStage"]
            for one in self.rules
        )
        # With tools, LLMRTC counts the turn in the next stage: see a-turn-counts-where-it-was-answered.
        self._say(*([] if counting else self._tool_talk()), f"So: {' and '.join(words)}!")
        return self._move(first, answered_there=False)

    def _rank(self, one: Json) -> tuple[int, int]:
        return -one["priority"], self.rules.index(one)

    def _by_decision(self) -> None:
        rules = self._leaving("llm_decision")
        if not rules:
            return self._by_nothing()
        target = self.chance.choice(rules)["action"]["targetStage"]
        to_there = [one for one in rules if one["action"]["targetStage"] == target]
        if len(to_there) > 1:
            return self._by_nothing()  # LLMRTC takes the first in the document, we the first in rank
        self._say(*self._tool_talk(), asks(to(self._call(), target, reason="It is time.")), "Here now.")
        return self._move(to_there[0], answered_there=True)

    def _by_call(self) -> None:
        rules = self._leaving("tool_call")
        if not rules:
            return self._by_nothing()
        name = rules[0]["condition"]["toolName"]
        same = [one for one in rules if one["condition"]["toolName"] == name]
        # Both say the same text: see target-answers-a-tool-call.
        self._say(asks(tool(self._call(), name, what="x")), "Found.", "Found.")
        return self._move(min(same, key=self._rank), answered_there=True)

    def _tool_talk(self) -> list[Json]:
        """Calls of tools that no rule here waits for, some of them together, some with a fault."""
        waited = {one["condition"]["toolName"] for one in self._leaving("tool_call")}
        names = [name for name in self.tools[self.at] if name not in waited]
        if not names:
            return []
        messages = []
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            chosen = [self.chance.choice(names) for _ in range(self.chance.choice([1, 1, 2]))]
            messages.append(asks(*(self._tool_call(name) for name in chosen)))
        return messages

    def _tool_call(self, name: str) -> Json:
        fault = self.chance.random()
        if fault < 0.1:
            return tool(self._call(), name)  # a required argument is missing
        return tool(self._call(), "no_such_tool" if fault < 0.15 else name, what=f"thing {self.calls}")

    def _call(self) -> str:
        self.calls += 1
        return f"c{self.calls}"

    def _say(self, *outputs: Json | str) -> None:
        self.turns.append(said(f"Message {len(self.turns)}.", *outputs))

    def _move(self, chosen: Json, *, answered_there: bool) -> None:
        self.fired.append([chosen["id"]])
        self.at = chosen["action"]["targetStage"]
        self.done = 1 if answered_there else 0
