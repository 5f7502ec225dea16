"""A playbook as nodes and edges with words on them, for languages that draw graphs from text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from builder.transfer.sentences import end_title, stage_title, transition_sentence
from runtime.playbook import Playbook, Transition

Shape = Literal["chat", "end", "raw", "sign"]
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True)
class Node:
    """A stage, or a sign where a rule has no stage at its end."""

    name: str
    label: str
    shape: Shape
    initial: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition between two nodes, by their names."""

    source: str
    target: str
    label: str
    mode: Literal["goto", "call", "return"]
    disabled: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """In document order; the signs come after the stages."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(playbook: Playbook) -> Graph:
    """Node names are `s0`, `s1` … and `x0` … for signs: safe in every language, whatever the ids are."""
    document = playbook.model_dump(mode="json", by_alias=True)
    nodes: dict[str, Node] = {}
    for index, stage in enumerate(playbook.stages):
        title = stage_title({"id": stage.id, "name": stage.name})
        node = Node(f"s{index}", one_line(title), stage.kind, stage.id == playbook.initial_stage)
        nodes.setdefault(stage.id, node)
    signs: dict[str, Node] = {}

    def named(stage_id: str | None) -> str:
        if stage_id in nodes:
            return nodes[stage_id].name
        title = one_line(end_title(document, stage_id))
        return signs.setdefault(title, Node(f"x{len(signs)}", title, "sign")).name

    edges = tuple(
        _edge(rule, plain, named(rule.from_stage), named(_target(rule)))
        for rule, plain in zip(playbook.transitions, document["transitions"], strict=True)
    )
    return Graph((*nodes.values(), *signs.values()), edges)


def one_line(text: str) -> str:
    """The text as a label: without line breaks and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _target(rule: Transition) -> str | None:
    return None if rule.action.mode == "return" else rule.action.target_stage


def _edge(rule: Transition, plain: dict[str, object], source: str, target: str) -> Edge:
    return Edge(source, target, one_line(transition_sentence(plain)), rule.action.mode, rule.disabled)
