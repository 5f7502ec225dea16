"""Fills what a hand-written or old file leaves out, where only one reasonable value exists, and says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from builder.transfer.report import ReportEntry
from builder.validation.pointers import pointer, readable

Part = str | int


def fill_gaps(document: dict[str, Any]) -> Iterator[ReportEntry]:
    """Adds missing ids, names and the initial stage in place; what is there is never changed."""
    stages = document.get("stages")
    if not isinstance(stages, list) or not stages:
        return
    yield from _fill(document, "id", identifier(document.get("name")), ())
    yield from _fill(document, "name", document["id"], ())
    for index, stage in enumerate(stages):
        if isinstance(stage, dict):
            yield from _fill_stage(stage, index)
    if isinstance(stages[0], dict):
        yield from _fill(document, "initialStage", stages[0]["id"], ())
    yield from _number_transitions(document.get("transitions"))


def identifier(name: Any) -> str:
    """An id made of a name: `Anna's flow` gives `anna-s-flow`; `playbook` where nothing is left."""
    words = re.findall(r"[a-z0-9]+", name.lower()) if isinstance(name, str) else []
    return "-".join(words)[:64].strip("-") or "playbook"


def _fill_stage(stage: dict[str, Any], index: int) -> Iterator[ReportEntry]:
    yield from _fill(stage, "id", identifier(stage.get("name") or f"stage {index + 1}"), ("stages", index))
    yield from _fill(stage, "name", stage["id"], ("stages", index))
    yield from _fill(stage, "systemPrompt", "", ("stages", index))


def _number_transitions(rules: Any) -> Iterator[ReportEntry]:
    if not isinstance(rules, list):
        return
    taken = {rule["id"] for rule in rules if isinstance(rule, dict) and isinstance(rule.get("id"), str)}
    for index, rule in enumerate(rules):
        if isinstance(rule, dict):
            free = next(
                name for number in range(len(rules) + 1) if (name := f"t{index + number + 1}") not in taken
            )
            yield from _fill(rule, "id", free, ("transitions", index))
            taken.add(rule["id"] if isinstance(rule["id"], str) else free)


def _fill(holder: dict[str, Any], field: str, value: Any, place: tuple[Part, ...]) -> Iterator[ReportEntry]:
    if field in holder:
        return
    holder[field] = value
    shown = f"“{value}”" if value else "an empty text"
    yield ReportEntry(
        level="info",
        path=pointer(*place, field),
        code="filled-in",
        message=f"{readable((*place, field))} was missing; {shown} was put there.",
        kept_as=pointer(*place, field),
    )
