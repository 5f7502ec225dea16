"""A graph report as Markdown, for a review or a merge request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from builder.validation.report import Gate, GraphReport, Hop, NamedStage
from builder.validation.words import counted

_KINDS = {
    "llm_decision": "model decides",
    "tool_call": "tool call",
    "max_turns": "number of turns",
    "timeout": "silence",
    "keyword": "keyword",
    "intent": "intent",
    "custom": "expression",
}


def markdown(report: GraphReport, title: str) -> str:
    """The whole report; ends with a line break."""
    return "\n".join(_lines(report, title)) + "\n"


def _lines(report: GraphReport, title: str) -> Iterator[str]:
    yield from (f"# {_plain(title)}", "")
    yield from _figures(report)
    yield from ("", "## Shortest path to an end", "")
    yield from _path(report.shortest)
    yield from ("", "## No way around", "")
    yield from _gates(report.gates)
    if report.traps:
        yield from ("", "## No way to an end", "")
        yield from (f"- {_names(trap)}" for trap in report.traps)
    if report.unreachable:
        yield from ("", "## Never reached", "", f"{_names(report.unreachable)}")
    for severity, heading in (("error", "Errors"), ("warning", "Warnings"), ("advice", "Advice")):
        found = [d for d in report.diagnostics if d.severity == severity]
        if found:
            yield from ("", f"## {heading}", "")
            yield from (f"- {_plain(d.message)} (`{d.code}` at `{d.path or '/'}`)" for d in found)
    if not report.diagnostics:
        yield from ("", "No problems.")


def _figures(report: GraphReport) -> Iterator[str]:
    off = f", {report.switched_off:,} more switched off" if report.switched_off else ""
    kinds = ", ".join(f"{count:,} by {_KINDS.get(kind, kind)}" for kind, count in report.conditions.items())
    yield f"- {counted(report.stages, 'stage')}, {counted(len(report.ends), 'end')} among them"
    yield f"- {counted(report.transitions, 'transition')}{off}" + (f": {kinds}" if kinds else "")
    yield f"- {counted(report.loops, 'loop')}"


def _path(path: Sequence[Hop]) -> Iterator[str]:
    if not path:
        yield "None: no conversation ends by itself."
    for number, hop in enumerate(path, 1):
        by = f", by `{hop.transition}` ({_KINDS.get(hop.condition or '', '')})" if hop.transition else ""
        yield f"{number}. {_plain(hop.stage.name)}{by}"


def _gates(gates: Sequence[Gate]) -> Iterator[str]:
    if not gates:
        yield "No stage is the only way to another."
    for gate in gates:
        only = f"the only way to {counted(gate.behind, 'other stage')}" if gate.behind else ""
        always = "every conversation that ends" if gate.always else ""
        yield f"- {_plain(gate.stage.name)}: {'; '.join(part for part in (always, only) if part)}"


def _names(stages: Sequence[NamedStage]) -> str:
    return ", ".join(_plain(stage.name) for stage in stages)


def _plain(text: str) -> str:
    """One line in which nothing is markup."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in line)
