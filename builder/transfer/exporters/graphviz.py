"""The graph in Graphviz' DOT language."""

from __future__ import annotations

from typing import Final

from builder.transfer.exporters.graph import Edge, Node, graph_of, one_line
from runtime.playbook import Playbook

_STYLES: Final = {
    "chat": "shape=box, style=rounded",
    "end": "shape=box, style=rounded, peripheries=2",
    "raw": "shape=note",
    "sign": "shape=plaintext",
}
_MODES: Final = {"goto": "", "call": ", style=dashed", "return": ", style=dotted"}


def write(playbook: Playbook) -> str:
    """A directed graph from left to right; ends with a line break."""
    graph = graph_of(playbook)
    lines = [f"digraph {_quoted(one_line(playbook.name or playbook.id))} {{", "    rankdir=LR;"]
    lines += ['    node [fontname="sans-serif"];', '    edge [fontname="sans-serif", fontsize=10];']
    lines += [*map(_node, graph.nodes), *map(_edge, graph.edges), "}"]
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    bold = ", penwidth=3" if node.initial else ""
    return f"    {node.name} [label={_quoted(node.label)}, {_STYLES[node.shape]}{bold}];"


def _edge(edge: Edge) -> str:
    off = ", color=gray, fontcolor=gray" if edge.disabled else ""
    return f"    {edge.source} -> {edge.target} [label={_quoted(edge.label)}{_MODES[edge.mode]}{off}];"


def _quoted(text: str) -> str:
    """In quotes a backslash begins an escape of labels (`\\N`, `\\l`), and a quote ends them."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
