"""unused-variable: a variable that nothing sets and nothing reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builder.validation.diagnostics import Diagnostic, warning
from builder.validation.fixes import remove_at
from builder.validation.outline import Outline
from builder.validation.pointers import pointer
from runtime.playbook import SetAction


def check(outline: Outline) -> Iterator[Diagnostic]:
    """One that something sets, or that has a default, is read by the model: it stands in the state. Judged
    widely: a text that has the name anywhere may well read it."""
    written = _written(outline)
    idle = [
        (index, variable.name)
        for index, variable in enumerate(outline.playbook.variables)
        if variable.default is None and variable.name.strip() and variable.name not in written
    ]
    if not idle:
        return
    text = "\n".join(_texts(outline))
    for index, name in idle:
        if name not in text:
            path = pointer("variables", index)
            message = f"Nothing sets the variable “{name}”, and nothing reads it."
            yield warning("unused-variable", message, path, fix=remove_at("Remove it", path, {"name": name}))


def _written(outline: Outline) -> set[str]:
    names = {placed.tool.save_as for placed in outline.tools if placed.tool.save_as}
    for stage in outline.playbook.stages:
        for action in (*stage.on_enter, *stage.on_exit):
            if isinstance(action, SetAction):
                names.update(action.set)
    return names


def _texts(outline: Outline) -> Iterator[str]:
    """Everything that could name a variable, as the document has it."""
    playbook = outline.playbook
    yield playbook.global_system_prompt or ""
    for stage in playbook.stages:
        yield from (stage.system_prompt, stage.description or "")
        if stage.on_enter or stage.on_exit:
            yield from _strings([action.model_dump() for action in (*stage.on_enter, *stage.on_exit)])
    for rule in playbook.transitions:
        yield from (rule.description or "", rule.action.transition_message or "")
        yield from _strings(rule.condition.__dict__)
    for placed in outline.tools:
        yield placed.tool.description
        implementation = placed.tool.implementation
        if implementation is not None:
            yield from _strings(implementation.model_dump())


def _strings(value: Any) -> Iterator[str]:
    """All texts within a JSON value, the names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
