"""A TypeScript module for LLMRTC: the playbook with its `custom` conditions and hooks as functions.

Expressions are translated from CEL's own tree of them; what an author wrote becomes code in no other way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from builder.transfer.exporters import llmrtc
from builder.transfer.exporters.cel_typescript import Untranslatable, typescript
from builder.transfer.exporters.losses import Losses
from builder.transfer.report import ReportEntry
from runtime.playbook import Playbook

Json = dict[str, Any]
_CONDITION_ROOTS: Final = {
    "vars": None,
    "data": None,
    "turn": frozenset({"count", "assistantMessage", "toolCalls"}),
    "stage": frozenset({"id", "name", "turnCount"}),
}
_HOOK_ROOTS: Final = {"vars": None, "data": None, "stage": frozenset({"id", "name"})}
_HERE: Final = Path(__file__).parent
_KEYWORD_FUNCTIONS: Final = {"word": "saysWord", "regex": "matchesPattern"}


@dataclass(frozen=True, slots=True)
class _Code:
    """Text that stands in the module as it is."""

    text: str


def write(document: Json, playbook: Playbook) -> tuple[str, tuple[ReportEntry, ...]]:
    """The module and its report; ends with a line break."""
    rewritten = llmrtc.rewrite(document, functions=True)
    body = _Module(document, playbook, rewritten.document, rewritten.losses).text()
    return body, tuple(rewritten.losses.entries)


class _Module:
    def __init__(self, document: Json, playbook: Playbook, written: Json, losses: Losses) -> None:
        self.document = document
        self.playbook = playbook
        self.written = written
        self.losses = losses
        self.rule_places = {rule.id: index for index, rule in enumerate(playbook.transitions)}
        self.expressions = self.keywords = self.schemas = False

    def text(self) -> str:
        playbook = _render({**self.written, **self._parts()}, 0)
        options = {
            name: value
            for name in llmrtc.OPTIONS
            if (value := (self.document.get("options") or {}).get(name)) is not None
        }
        blocks = [
            self._head(),
            *self._helpers(),
            f"export const playbook: Playbook = {playbook};",
            f"/** For `new PlaybookOrchestrator(provider, playbook, tools, options)`. */\n"
            f"export const options: PlaybookOrchestratorOptions = {_render(options, 0)};",
        ]
        return "\n\n".join(blocks) + "\n"

    # -- parts of the playbook ----------------------------------------------------------------------------

    def _parts(self) -> Json:
        parts: Json = {
            "stages": [self._stage(stage) for stage in self.written["stages"]],
            "transitions": [self._transition(rule) for rule in self.written["transitions"]],
        }
        if "globalTools" in self.written:
            parts["globalTools"] = [self._tool(tool) for tool in self.written["globalTools"]]
        return parts

    def _stage(self, stage: Json) -> Json:
        index = next(i for i, one in enumerate(self.playbook.stages) if one.id == stage["id"])
        written = {**stage}
        if "tools" in stage:
            written["tools"] = [self._tool(tool) for tool in stage["tools"]]
        for name in ("onEnter", "onExit"):
            if name in stage:
                written[name] = self._hook(stage[name], index, name)
        return written

    def _tool(self, tool: Json) -> Json:
        self.schemas = True
        return {**tool, "parameters": _Code(f"schema({json.dumps(tool['parameters'], ensure_ascii=False)})")}

    def _hook(self, actions: list[Json], stage: int, name: str) -> _Code:
        lines = [
            line
            for number, action in enumerate(actions)
            for line in self._action(action, stage, name, number)
        ]
        if not lines:
            return _Code("() => {}")
        self.expressions = True
        return _Code("(context) => {\n" + "".join(f"\t\t\t\t{line}\n" for line in lines) + "\t\t\t}")

    def _action(self, action: Json, stage: int, name: str, number: int) -> Iterator[str]:
        place = ("stages", stage, name, number)
        if "set" not in action:
            message = "LLMRTC's hooks cannot call tools: call it from your program."
            self.losses.add("warning", "hook-call", message, *place)
            return
        for variable, source in action["set"].items():
            try:
                code = typescript(source, _HOOK_ROOTS)
            except Untranslatable as reason:
                message = f"“{variable}” is not set: {reason}."
                self.losses.add("warning", "untranslatable", message, *place, "set", variable)
                continue
            yield f"assign(context, {json.dumps(variable, ensure_ascii=False)}, (r) => {code});"

    def _transition(self, rule: Json) -> Json:
        condition = rule["condition"]
        if condition["type"] != "custom":
            return rule
        function = self._function(condition, rule["id"])
        return {**rule, "condition": {"type": "custom", "evaluate": function}}

    def _function(self, condition: Json, rule: str) -> _Code:
        evaluate = condition["evaluate"]
        for match, function in _KEYWORD_FUNCTIONS.items():
            if match in evaluate:
                self.keywords = True
                return _Code(
                    f"(context) => {function}(context, {json.dumps(evaluate[match], ensure_ascii=False)})"
                )
        try:
            code = typescript(condition["expression"], _CONDITION_ROOTS)
        except Untranslatable as reason:
            message = f"Transition “{rule}” never fires there: {reason}. Write its function in the module."
            place = ("transitions", self.rule_places[rule], "condition", "expression")
            self.losses.add("warning", "untranslatable", message, *place)
            return _Code(f"() => false /* {_comment(condition['expression'])} */")
        self.expressions = True
        return _Code(f"(context) => holds(context, (r) => {code})")

    # -- around it ----------------------------------------------------------------------------------------

    def _head(self) -> str:
        types = ["Playbook", "PlaybookOrchestratorOptions"]
        types += ["StageContext"] if self.expressions else []
        types += ["ToolDefinition"] if self.schemas else []
        types += ["TransitionContext"] if self.expressions or self.keywords else []
        title = _comment(self.playbook.name or self.playbook.id)
        return (
            f"/**\n * {title}, for LLMRTC. Made by Playbook Studio: change the playbook there and export it\n"
            " * again. Tools are functions of your program: register them in a ToolRegistry.\n */\n"
            f'import type {{ {", ".join(types)} }} from "@llmrtc/llmrtc-core";'
        )

    def _helpers(self) -> Iterator[str]:
        if self.schemas:
            yield 'const schema = (value: unknown) => value as ToolDefinition["parameters"];'
        if self.keywords:
            yield (_HERE / "keywords.ts").read_text(encoding="utf-8").strip()
        if self.expressions:
            yield (_HERE / "expressions.ts").read_text(encoding="utf-8").strip()
            defaults = {v.name: v.default for v in self.playbook.variables}
            names = {stage.id: stage.name for stage in self.playbook.stages}
            yield (
                "/** Variables are kept in LLMRTC's conversationContext; these are their first values. */\n"
                + (f"const VARIABLES: Fields = {_render(defaults, 0)};")
            )
            yield f"const STAGE_NAMES: Record<string, string> = {_render(names, 0)};"
            yield (_HERE / "roots.ts").read_text(encoding="utf-8").strip()


def _render(value: Any, depth: int) -> str:
    """JSON as TypeScript, with tabs and plain keys where they can be; `_Code` stands as it is."""
    if isinstance(value, _Code):
        return value.text
    inner, outer = "\t" * (depth + 1), "\t" * depth
    if isinstance(value, dict) and value:
        lines = "".join(f"{inner}{_key(name)}: {_render(item, depth + 1)},\n" for name, item in value.items())
        return f"{{\n{lines}{outer}}}"
    if isinstance(value, list) and value:
        lines = "".join(f"{inner}{_render(item, depth + 1)},\n" for item in value)
        return f"[\n{lines}{outer}]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """`__proto__` in brackets: bare, it would be no field."""
    if name == "__proto__":
        return '["__proto__"]'
    return name if re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name) else json.dumps(name, ensure_ascii=False)


def _comment(text: str) -> str:
    return " ".join(text.split()).replace("*/", "* /")
