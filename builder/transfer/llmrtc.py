"""LLMRTC playbooks: the core fields mean the same there; what behaves differently is set explicitly here.

LLMRTC has no `formatVersion`. Its keywords match anywhere in the text, and its `custom` conditions and stage
hooks are functions, which JSON cannot carry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builder.transfer.report import ReportEntry
from builder.validation.pointers import pointer

_OUR_FIELDS = ("formatVersion", "options", "context", "variables", "agents")
_OUR_STAGE_FIELDS = ("kind", "speakOnEnter", "context")
_OUR_CONDITION_FIELDS = ("match", "source", "outcome", "where", "expression", "when", "since", "examples")
_HOOKS = ("onEnter", "onExit")


def is_llmrtc(document: dict[str, Any]) -> bool:
    """Whether the document uses nothing that only our format has."""
    if any(field in document for field in _OUR_FIELDS) or "studio" in _object(document.get("metadata")):
        return False
    stages, rules = _objects(document.get("stages")), _objects(document.get("transitions"))
    tools = [tool for holder in stages for tool in _objects(holder.get("tools"))]
    tools += _objects(document.get("globalTools"))
    return not (
        any(field in stage for stage in stages for field in _OUR_STAGE_FIELDS)
        or any(isinstance(stage.get(hook), list) for stage in stages for hook in _HOOKS)
        or any("implementation" in tool for tool in tools)
        or any("disabled" in rule or "mode" in _object(rule.get("action")) for rule in rules)
        or any(field in _object(rule.get("condition")) for rule in rules for field in _OUR_CONDITION_FIELDS)
    )


def convert_llmrtc(document: dict[str, Any]) -> Iterator[ReportEntry]:
    """Changes the document in place so that it behaves here as it did there."""
    for index, rule in enumerate(_list(document.get("transitions"))):
        condition = rule.get("condition") if isinstance(rule, dict) else None
        if not isinstance(condition, dict):
            continue
        if condition.get("type") == "keyword":
            condition["match"] = "substring"
            yield _substring(index)
    for index, stage in enumerate(_list(document.get("stages"))):
        if isinstance(stage, dict):
            yield from _set_hooks_aside(index, stage)


def switch_off_functions(document: dict[str, Any], llmrtc: bool) -> Iterator[ReportEntry]:
    """Switches off `custom` rules that have no expression but a function; in LLMRTC that is all of them."""
    for index, rule in enumerate(_list(document.get("transitions"))):
        condition = _object(_object(rule).get("condition"))
        has_function = llmrtc or "evaluate" in condition
        if condition.get("type") == "custom" and has_function and not condition.get("expression"):
            rule["disabled"], condition["expression"] = True, ""
            yield _disabled(index, rule)


def _substring(index: int) -> ReportEntry:
    return ReportEntry(
        level="info",
        path=pointer("transitions", index, "condition"),
        code="keyword-substring",
        message="Keywords match inside words, as in LLMRTC: “order” also matches “border”.",
        kept_as=pointer("transitions", index, "condition", "match"),
    )


def _disabled(index: int, rule: dict[str, Any]) -> ReportEntry:
    name = rule.get("id", index)
    return ReportEntry(
        level="warning",
        path=pointer("transitions", index, "condition"),
        code="custom-function",
        message=f"Transition “{name}” is decided by a function, which no file can carry. It is switched "
        "off: write its rule as an expression and switch it on.",
        kept_as=pointer("transitions", index),
    )


def _set_hooks_aside(index: int, stage: dict[str, Any]) -> Iterator[ReportEntry]:
    for hook in _HOOKS:
        if hook not in stage:
            continue
        metadata = stage.setdefault("metadata", {})
        if not isinstance(metadata, dict):
            continue
        metadata.setdefault("imported", {})[hook] = stage.pop(hook)
        yield ReportEntry(
            level="warning",
            path=pointer("stages", index, hook),
            code="hook-function",
            message=f"{hook} of stage “{stage.get('id', index)}” is a function: write it as actions.",
            kept_as=pointer("stages", index, "metadata", "imported", hook),
        )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
