"""LLMRTC playbooks: the core fields mean the same there; what behaves differently is set explicitly here.

LLMRTC has no `formatVersion`. Its keywords match anywhere in the text, its prompts have no placeholders, and
its `custom` conditions and stage hooks are functions, which JSON cannot carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from builder.transfer.report import ReportEntry
from builder.validation.pointers import pointer
from runtime.playbook.placeholders import as_literal, is_literal, placeholders

SCHEMA_ID: Final = "urn:playbook-studio:llmrtc-playbook:1"
"""The mark of a file that was exported for LLMRTC."""

_OUR_FIELDS = ("formatVersion", "options", "context", "variables", "agents")
_OUR_STAGE_FIELDS = ("kind", "speakOnEnter", "context")
_OUR_CONDITION_FIELDS = ("match", "source", "outcome", "where", "expression", "when", "since", "examples")
_HOOKS = ("onEnter", "onExit")


class Llmrtc:
    """Playbooks written for LLMRTC, as JSON."""

    product = "LLMRTC"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By the mark that an export has; else if it uses nothing that only our format has."""
        return document.get("$schema") == SCHEMA_ID or not _is_ours(document)

    def convert(self, document: dict[str, Any]) -> list[ReportEntry]:
        """Changes the document in place so that it behaves here as it did there."""
        report = [*_keywords(document)]
        for index, stage in enumerate(_list(document.get("stages"))):
            if isinstance(stage, dict):
                report += _set_hooks_aside(index, stage)
        report += _keep_texts(document)
        report += _drop_references(document)
        report += switch_off_functions(document, everywhere=True)
        return report


def _is_ours(document: Mapping[str, Any]) -> bool:
    if any(field in document for field in _OUR_FIELDS) or "studio" in _object(document.get("metadata")):
        return True
    stages, rules = _objects(document.get("stages")), _objects(document.get("transitions"))
    tools = [tool for holder in stages for tool in _objects(holder.get("tools"))]
    tools += _objects(document.get("globalTools"))
    prompts = [stage.get("systemPrompt") for stage in stages]
    return (
        any(field in stage for stage in stages for field in _OUR_STAGE_FIELDS)
        or any(isinstance(stage.get(hook), list) for stage in stages for hook in _HOOKS)
        or any("implementation" in tool for tool in tools)
        or any("disabled" in rule or "mode" in _object(rule.get("action")) for rule in rules)
        or any(field in _object(rule.get("condition")) for rule in rules for field in _OUR_CONDITION_FIELDS)
        or any(_names_variables(prompt) for prompt in prompts)
    )


def _names_variables(prompt: Any) -> bool:
    return isinstance(prompt, str) and any(found.source.startswith("$") for found in placeholders(prompt))


def _keywords(document: dict[str, Any]) -> Iterator[ReportEntry]:
    for index, rule in enumerate(_list(document.get("transitions"))):
        condition = _object(_object(rule).get("condition"))
        if condition.get("type") == "keyword":
            condition["match"] = "substring"
            yield _substring(index)


def _keep_texts(document: dict[str, Any]) -> Iterator[ReportEntry]:
    """Texts are read as they stand there; here braces may be placeholders, and double ones are single."""
    for index, stage in enumerate(_list(document.get("stages"))):
        yield from _keep_text(stage, "systemPrompt", ("stages", index))
        yield from _keep_text(stage, "description", ("stages", index))
    for index, rule in enumerate(_list(document.get("transitions"))):
        yield from _keep_text(rule, "description", ("transitions", index))
        action = _object(rule).get("action")
        yield from _keep_text(action, "transitionMessage", ("transitions", index, "action"))


def _keep_text(holder: Any, field: str, place: tuple[str | int, ...]) -> Iterator[ReportEntry]:
    text = _object(holder).get(field)
    if not isinstance(text, str) or is_literal(text):
        return
    holder[field] = as_literal(text)
    where = pointer(*place, field)
    yield ReportEntry(
        level="warning",
        path=where,
        code="literal-braces",
        message="Its braces would be read as placeholders here, and {{x}} as {x}: they were doubled, so that "
        "the model is sent the same text. If your program filled them in, write {$name} with a variable.",
        kept_as=where,
    )


def _drop_references(document: dict[str, Any]) -> Iterator[ReportEntry]:
    """An export names the function of its module beside the expression that says the same."""
    for index, rule in enumerate(_list(document.get("transitions"))):
        condition = _object(_object(rule).get("condition"))
        evaluate = condition.get("evaluate")
        if condition.get("expression") and isinstance(evaluate, dict) and set(evaluate) == {"$ref"}:
            del condition["evaluate"]
            where = pointer("transitions", index, "condition", "expression")
            yield ReportEntry(
                level="info",
                path=pointer("transitions", index, "condition", "evaluate"),
                code="function-as-expression",
                message="Its function was made from the expression beside it; the expression is used.",
                kept_as=where,
            )


def switch_off_functions(document: dict[str, Any], *, everywhere: bool) -> Iterator[ReportEntry]:
    """Switches off `custom` rules that have a function but no expression. `everywhere`: all without one."""
    for index, rule in enumerate(_list(document.get("transitions"))):
        condition = _object(_object(rule).get("condition"))
        has_function = everywhere or "evaluate" in condition
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
