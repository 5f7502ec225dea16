"""The graph in Mermaid's flowchart language, which many documentation sites draw."""

from __future__ import annotations

import re
from typing import Final

from builder.transfer.exporters.graph import Edge, Graph, Node, graph_of
from runtime.playbook import Playbook

_SHAPES: Final = {"chat": '["{}"]', "end": '(["{}"])', "raw": '[/"{}"/]', "sign": '("{}")'}
_ARROWS: Final = {"goto": "-->", "call": "-.->", "return": "-.->"}
# What has a meaning in a label, as the language's own number codes.
_SPECIAL: Final = re.compile(r"""[^\w .,;:!?()/+\-=≥→‘’“”·…'*|{}@%$~^]""")


def write(playbook: Playbook) -> str:
    """A flowchart from left to right; ends with a line break."""
    return flowchart(graph_of(playbook))


def flowchart(graph: Graph) -> str:
    """The graph as text."""
    lines = ["flowchart LR", *map(_node, graph.nodes), *map(_edge, graph.edges)]
    starts = [node.name for node in graph.nodes if node.initial]
    if starts:
        lines += ["    classDef start stroke-width:3px", f"    class {','.join(starts)} start"]
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    return f"    {node.name}{_SHAPES[node.shape].format(_quoted(node.label))}"


def _edge(edge: Edge) -> str:
    arrow = "-.-x" if edge.disabled else _ARROWS[edge.mode]
    return f'    {edge.source} {arrow}|"{_quoted(edge.label)}"| {edge.target}'


def _quoted(label: str) -> str:
    return _SPECIAL.sub(lambda found: f"#{ord(found.group())};", label)
