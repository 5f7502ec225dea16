"""A playbook as a document that reviewers read: what it says, where it goes, what it calls, what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from builder.transfer.exporters.mermaid import write as mermaid
from builder.transfer.sentences import duration, end_title, stage_title, transition_sentence
from builder.validation import check
from runtime.playbook import Playbook, Stage, ToolDefinition

Json = dict[str, Any]
_KINDS: Final = {"chat": "", "raw": "raw: its prompt is sent as it is", "end": "the conversation ends here"}
_SETTINGS: Final = ("defaultLLMConfig", "options", "context")


def write(playbook: Playbook) -> str:
    """Headings, tables and fenced prompts; ends with a line break."""
    document = playbook.model_dump(mode="json", by_alias=True)
    parts = [
        *_head(playbook),
        *_problems(playbook),
        "## Graph",
        _fenced(mermaid(playbook), "mermaid"),
        "## Stages",
        *(part for stage in playbook.stages for part in _stage(stage, playbook, document)),
        *_rules_of_any(document),
        *_global(playbook),
        *_tables(playbook),
        *_settings(playbook),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(playbook: Playbook) -> Iterator[str]:
    yield f"# {_line(playbook.name or playbook.id)}"
    yield _paragraph(playbook.description)
    facts = [
        f"id `{playbook.id}`",
        f"{len(playbook.stages)} stages",
        f"{len(playbook.transitions)} transitions",
    ]
    if playbook.version:
        facts.insert(1, f"version {_line(playbook.version)}")
    yield " · ".join(facts)


def _problems(playbook: Playbook) -> Iterator[str]:
    found = [d for d in check(playbook) if d.severity != "advice"]
    if not found:
        return
    yield "## Problems"
    yield "\n".join(f"- **{d.severity}** {_line(d.message)} (`{_code(d.path)}`)" for d in found)


def _stage(stage: Stage, playbook: Playbook, document: Json) -> Iterator[str]:
    plain = {"id": stage.id, "name": stage.name}
    start = "the conversation starts here" if stage.id == playbook.initial_stage else ""
    yield f"### {_line(stage_title(plain))}"
    facts = [f"`{_code(stage.id)}`", start, _KINDS[stage.kind], *_limits(stage)]
    yield " · ".join(fact for fact in facts if fact)
    yield _paragraph(stage.description)
    yield _fenced(stage.system_prompt or "(no prompt yet)", "text")
    yield _rules([rule for rule in document["transitions"] if rule["from"] == stage.id], document)
    yield _tools(stage.tools)
    for name, actions in (("When it is entered", stage.on_enter), ("When it is left", stage.on_exit)):
        if actions:
            shown = [action.model_dump(mode="json", by_alias=True) for action in actions]
            yield f"{name}:\n\n{_json(shown)}"


def _limits(stage: Stage) -> Iterator[str]:
    if stage.max_turns:
        yield f"at most {stage.max_turns} turns"
    if stage.timeout_ms:
        yield f"at most {duration(stage.timeout_ms)}"
    if stage.llm_config and stage.llm_config.model:
        yield f"model {_line(stage.llm_config.model)}"
    if stage.speak_on_enter:
        yield "speaks when it is entered"


def _rules_of_any(document: Json) -> Iterator[str]:
    rules = [rule for rule in document["transitions"] if rule["from"] == "*"]
    if rules:
        yield "### From any stage"
        yield _rules(rules, document)


def _rules(rules: Sequence[Json], document: Json) -> str:
    if not rules:
        return ""
    rows = [
        (
            transition_sentence(rule),
            end_title(
                document, None if rule["action"]["mode"] == "return" else rule["action"]["targetStage"]
            ),
            str(rule["priority"]) if rule["priority"] else "",
            rule["description"] or rule["condition"].get("description") or "",
        )
        for rule in rules
    ]
    return _table(("When", "Goes to", "Priority", "Why"), rows)


def _tools(tools: Sequence[ToolDefinition]) -> str:
    rows = [
        (
            f"`{_code(tool.name)}`",
            tool.description,
            ", ".join(tool.parameters.get("properties") or {}) if _has_properties(tool) else "",
            tool.implementation.type if tool.implementation else "none",
        )
        for tool in tools
    ]
    return _table(("Tool", "What it does", "Arguments", "Answered by"), rows) if rows else ""


def _has_properties(tool: ToolDefinition) -> bool:
    return isinstance(tool.parameters.get("properties"), dict)


def _global(playbook: Playbook) -> Iterator[str]:
    if playbook.global_system_prompt:
        yield "## In every stage"
        yield _fenced(playbook.global_system_prompt, "text")
    if playbook.global_tools:
        yield "## Tools of every stage"
        yield _tools(playbook.global_tools)


def _tables(playbook: Playbook) -> Iterator[str]:
    if playbook.variables:
        yield "## Variables"
        rows = [
            (f"`{_code(v.name)}`", json.dumps(v.default, ensure_ascii=False), v.description or "")
            for v in playbook.variables
        ]
        yield _table(("Variable", "At the start", "What it is"), rows)
    if playbook.agents:
        yield "## Agents"
        agents = [(a.name, f"`{_code(a.playbook)}`", a.description or "") for a in playbook.agents]
        yield _table(("Agent", "Playbook", "What it does"), agents)


def _settings(playbook: Playbook) -> Iterator[str]:
    plain = playbook.model_dump(mode="json", by_alias=True, exclude_unset=True)
    shown = {name: plain[name] for name in _SETTINGS if plain.get(name)}
    if shown:
        yield "## Settings"
        yield _json(shown)


# -- the language -----------------------------------------------------------------------------------------


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Code keeps its back-ticks; a bar would end the cell."""
    shown = text if text.startswith("`") and text.endswith("`") else _line(text)
    return shown.replace("|", "\\|")


def _fenced(text: str, language: str) -> str:
    """The fence is longer than any in the text."""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _json(value: Any) -> str:
    return _fenced(json.dumps(value, ensure_ascii=False, indent=2), "json")


def _paragraph(text: str | None) -> str:
    return _line(text or "")


def _line(text: str) -> str:
    """One line in which nothing is markup: what an author typed stays what it was."""
    return re.sub(r"([\\`*_\[\]<>#~])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    return " ".join(text.split()).replace("`", "ˋ")
