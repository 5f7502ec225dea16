"""The playbook as the checks look at it: places, ids and the graph, worked out once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from operator import itemgetter
from typing import Any, Final

import networkx as nx

from builder.validation.pointers import pointer
from builder.validation.server import NOTHING_KNOWN, ServerFacts
from runtime.playbook import Playbook, SetAction, Stage, ToolDefinition, Transition

ANY_STAGE: Final = "*"
AGENT_PREFIX: Final = "agent:"
# Nodes of the graph that are no stages; no id can have a NUL.
_ANY_SOURCE: Final = "\0from any"
_ANY_TARGET: Final = "\0to"
_FIRST: Final = ("initialStage", "stages", "transitions", "globalTools")


@dataclass(frozen=True)
class PlacedTool:
    """A tool definition, where it stands, and the stage it belongs to (None: global)."""

    tool: ToolDefinition
    path: str
    stage: Stage | None

    @property
    def stage_id(self) -> str | None:
        """Id of the stage that has the tool; None for a global one."""
        return self.stage.id if self.stage else None


@dataclass(frozen=True)
class Outline:
    """Everything derived from a playbook that more than one check asks for."""

    playbook: Playbook
    server: ServerFacts = NOTHING_KNOWN

    @classmethod
    def of(cls, playbook: Playbook, server: ServerFacts = NOTHING_KNOWN) -> Outline:
        """The outline; what it derives is worked out when first asked for."""
        return cls(playbook, server)

    @cached_property
    def stages(self) -> dict[str, Stage]:
        """The first stage of each id."""
        found: dict[str, Stage] = {}
        for stage in self.playbook.stages:
            found.setdefault(stage.id, stage)
        return found

    @cached_property
    def rules(self) -> tuple[tuple[int, Transition], ...]:
        """Transitions that are switched on, with their places in the list."""
        return tuple((i, rule) for i, rule in enumerate(self.playbook.transitions) if not rule.disabled)

    @cached_property
    def tools(self) -> tuple[PlacedTool, ...]:
        """All tool definitions: global ones first, then those of the stages in document order."""
        return tuple(self._tools())

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """Stages, and an edge for each rule that can lead from one to another; its key is the rule's place in
        the list. What points nowhere has no edge.

        The `*` rules of a playbook of many stages would be millions of edges, so they have two nodes of their
        own: every stage leads to the first, and the second to their targets. The weights make it as far as an
        edge would be.
        """
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        graph.add_nodes_from(self.stages)
        for index, rule in self.rules:
            target = rule.action.target_stage
            if rule.action.mode == "return" or target not in self.stages:
                continue
            if rule.from_stage == ANY_STAGE:
                graph.add_edge(_ANY_TARGET, target, key=index, weight=0)
            elif self._can_leave(rule.from_stage):
                graph.add_edge(rule.from_stage, target, key=index, weight=1)
        if _ANY_TARGET in graph:
            graph.add_edge(_ANY_SOURCE, _ANY_TARGET, key=-1, weight=0)
            for stage in self.stages:
                if self._can_leave(stage):
                    graph.add_edge(stage, _ANY_SOURCE, key=-1, weight=1)
        return graph

    @cached_property
    def moves(self) -> dict[str, list[str]]:
        """Stage -> the stages that its own `goto` rules lead to: what a frame can do without a call."""
        found: dict[str, list[str]] = {}
        for _, rule in self.rules:
            target = rule.action.target_stage
            if rule.action.mode != "goto" or target not in self.stages:
                continue
            if rule.from_stage == ANY_STAGE or self._can_leave(rule.from_stage):
                found.setdefault(rule.from_stage, []).append(target)
        return found

    @cached_property
    def leading_away(self) -> frozenset[str]:
        """The `from` of rules that return, and of those that go to no stage: these are errors of their own,
        and where they would lead cannot be judged."""
        return frozenset(
            rule.from_stage
            for _, rule in self.rules
            if rule.action.mode == "return"
            or (rule.action.mode == "goto" and rule.action.target_stage not in self.stages)
        )

    def leading_to(self, ends: Iterable[str]) -> set[str]:
        """These stages, and every stage that `goto` rules lead from to one of them."""
        sources: dict[str, list[str]] = {}
        for stage, targets in self.moves.items():
            for target in targets:
                sources.setdefault(target, []).append(stage)
        found = set(ends)
        waiting = deque(found)
        while waiting:
            for stage in sources.get(waiting.popleft(), ()):
                if stage == ANY_STAGE:
                    return set(self.stages)
                if stage not in found and stage in self.stages:
                    found.add(stage)
                    waiting.append(stage)
        return found

    def reached_by_moves(self, start: str) -> set[str]:
        """The stages that a frame which begins in `start` can come to by itself."""
        found = {start, *self.moves.get(ANY_STAGE, ())}
        waiting = deque(found)
        while waiting:
            for target in self.moves.get(waiting.popleft(), ()):
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Stages that some path from the initial stage leads to; all of them if there is no initial stage."""
        start = self.playbook.initial_stage
        if start not in self.stages:
            return frozenset(self.stages)
        return frozenset({start} | nx.descendants(self.graph, start)) & frozenset(self.stages)

    @cached_property
    def own_rules(self) -> dict[str, list[tuple[int, Transition]]]:
        """Stage id -> the rules with that stage as their `from`, in document order, with their places."""
        found: dict[str, list[tuple[int, Transition]]] = {}
        for index, rule in self.rules:
            if rule.from_stage != ANY_STAGE:
                found.setdefault(rule.from_stage, []).append((index, rule))
        return found

    @cached_property
    def rules_of_any(self) -> list[tuple[int, Transition]]:
        """The `*` rules, in document order, with their places."""
        return [(index, rule) for index, rule in self.rules if rule.from_stage == ANY_STAGE]

    def sources(self, rule: Transition) -> tuple[str, ...]:
        """Ids of the stages that the rule can fire in."""
        if rule.from_stage == ANY_STAGE:
            return tuple(stage for stage in self.stages if stage != rule.action.target_stage)
        return (rule.from_stage,) if rule.from_stage in self.stages else ()

    def rules_from(self, stage: Stage) -> tuple[Transition, ...]:
        """The rules that can fire in the stage, in document order."""
        of_any = [item for item in self.rules_of_any if item[1].action.target_stage != stage.id]
        own = self.own_rules.get(stage.id, [])
        return tuple(rule for _, rule in (merge(own, of_any, key=itemgetter(0)) if own else of_any))

    def has_rules(self, stage: Stage) -> bool:
        """Whether any rule can fire in the stage."""
        others = (rule for _, rule in self.rules_of_any if rule.action.target_stage != stage.id)
        return stage.id in self.own_rules or next(others, None) is not None

    def offered(self, stage: Stage) -> frozenset[str]:
        """Names of the tools that the stage can call: the global ones and its own."""
        return (
            self._global_tools.union(tool.name for tool in stage.tools) if stage.tools else self._global_tools
        )

    @cached_property
    def tool_names(self) -> frozenset[str]:
        """Names of all tools, wherever they are offered."""
        return frozenset(placed.tool.name for placed in self.tools)

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of all variables that something declares or sets."""
        playbook = self.playbook
        names = {variable.name for variable in playbook.variables}
        names.update(placed.tool.save_as for placed in self.tools if placed.tool.save_as)
        for stage in playbook.stages:
            for action in (*stage.on_enter, *stage.on_exit):
                if isinstance(action, SetAction):
                    names.update(action.set)
        return frozenset(names)

    def index_of(self, stage: Stage) -> int:
        """The stage's place in the list."""
        return self._stage_index[id(stage)]

    def target_name(self, rule: Transition) -> str:
        """“Name” of the stage a rule leads to, as a sentence names it; the rule's id where there is none."""
        target = self.stages.get(rule.action.target_stage or "")
        return f"“{target.name}”" if target is not None else f"“{rule.id}”"

    def rule_index(self, rule: Transition) -> int:
        """The transition's place in the list."""
        return self._rule_index[id(rule)]

    def stage_path(self, stage: Stage, *more: str | int) -> str:
        """Pointer to the stage or a field of it."""
        return pointer("stages", self.index_of(stage), *more)

    def position(self, path: str) -> tuple[Any, ...]:
        """Sorts paths as an author reads: start, stages, transitions, tools, the rest; lists by number."""
        parts = path.split("/")[1:]
        rank = _FIRST.index(parts[0]) if parts and parts[0] in _FIRST else len(_FIRST)
        return (rank, *((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts))

    def _can_leave(self, stage: str) -> bool:
        """Whether rules fire in that stage: an end ends its frame before any is looked at."""
        return stage in self.stages and self.stages[stage].kind != "end"

    @cached_property
    def _global_tools(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.playbook.global_tools)

    @cached_property
    def _rule_index(self) -> dict[int, int]:
        return {id(rule): index for index, rule in enumerate(self.playbook.transitions)}

    @cached_property
    def _stage_index(self) -> dict[int, int]:
        return {id(stage): index for index, stage in enumerate(self.playbook.stages)}

    def _tools(self) -> Iterator[PlacedTool]:
        for index, tool in enumerate(self.playbook.global_tools):
            yield PlacedTool(tool, pointer("globalTools", index), None)
        for place, stage in enumerate(self.playbook.stages):
            for index, tool in enumerate(stage.tools):
                yield PlacedTool(tool, pointer("stages", place, "tools", index), stage)
