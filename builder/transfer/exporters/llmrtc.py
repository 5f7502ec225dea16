"""Writes a playbook for LLMRTC: its own fields, in its own meaning; what it has nothing for is reported.

A `custom` condition is a function there. The JSON names it (`{"$ref": …}`) beside its expression; the module
of `typescript.py` has the function itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from builder.transfer.exporters.losses import Losses
from builder.transfer.importers.llmrtc import SCHEMA_ID
from builder.transfer.report import ReportEntry
from builder.transfer.writing import canonical
from runtime.playbook import Playbook
from runtime.playbook.placeholders import is_literal, placeholders, without_escapes

Json = dict[str, Any]

_PLAYBOOK: Final = (
    "id",
    "name",
    "description",
    "version",
    "stages",
    "transitions",
    "initialStage",
    "globalTools",
    "globalSystemPrompt",
    "defaultLLMConfig",
    "metadata",
)
_STAGE: Final = (
    "id",
    "name",
    "description",
    "systemPrompt",
    "tools",
    "toolChoice",
    "llmConfig",
    "twoPhaseExecution",
    "maxTurns",
    "timeoutMs",
    "metadata",
)
_TRANSITION: Final = ("id", "description", "from", "condition", "action", "priority")
_ACTION: Final = ("targetStage", "transitionMessage", "clearHistory", "data")
_TOOL: Final = ("name", "description", "parameters", "executionPolicy")
_LLM_CONFIG: Final = ("temperature", "maxTokens", "topP", "model")
OPTIONS: Final = ("maxToolCallsPerTurn", "phase1TimeoutMs", "llmRetries", "historyLimit")
"""Options that its orchestrator has as well: they are given to it, not written into the playbook."""
_HOOKS: Final = ("onEnter", "onExit")
_KINDS: Final = {
    "end": "the conversation goes on there.",
    "raw": "its prompt is sent with everything around it.",
}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The playbook in LLMRTC's fields; `custom` conditions and hooks name what a module is to have."""

    document: Json
    losses: Losses


def write(document: Json, playbook: Playbook) -> tuple[str, tuple[ReportEntry, ...]]:
    """The JSON file and its report."""
    rewritten = rewrite(document, functions=False)
    text = json.dumps({"$schema": SCHEMA_ID, **rewritten.document}, ensure_ascii=False, indent=2)
    return text + "\n", tuple(rewritten.losses.entries)


def rewrite(document: Json, *, functions: bool) -> Rewritten:
    """`functions`: for a module, which can carry what JSON cannot."""
    return _Rewriter(canonical(document), functions).playbook()


class _Rewriter:
    def __init__(self, document: Json, functions: bool) -> None:
        self.document = document
        self.functions = functions
        self.losses = Losses()
        self.stage_ids = {stage["id"] for stage in document["stages"]}

    def playbook(self) -> Rewritten:
        source = {
            name: value for name, value in self.document.items() if name not in ("$schema", "formatVersion")
        }
        self._settings(source)
        known = {
            name: value for name, value in source.items() if name not in ("options", "context", "variables")
        }
        written = self.losses.keep(known, _PLAYBOOK, "a playbook")
        if "defaultLLMConfig" in written:
            written["defaultLLMConfig"] = self._llm_config(written["defaultLLMConfig"], "defaultLLMConfig")
        if "globalTools" in written:
            written["globalTools"] = self._tools(written["globalTools"], "globalTools")
        written["stages"] = [self._stage(stage, index) for index, stage in enumerate(source["stages"])]
        rules = (self._transition(rule, index) for index, rule in enumerate(source.get("transitions") or []))
        written["transitions"] = [rule for rule in rules if rule is not None]
        if source["initialStage"] not in self.stage_ids:
            self.losses.add(
                "error", "unknown-stage", "LLMRTC refuses a start that is no stage.", "initialStage"
            )
        return Rewritten(_in_order(written, _PLAYBOOK), self.losses)

    def _settings(self, source: Json) -> None:
        for name in ("options", "context"):
            for field, value in (source.get(name) or {}).items():
                if value is None or (name == "options" and field in OPTIONS):
                    continue
                message = f"LLMRTC has no setting “{field}”: it has a way of its own."
                self.losses.add("warning", "lost-setting", message, name, field)
        options = [field for field in OPTIONS if (source.get("options") or {}).get(field) is not None]
        if options and not self.functions:
            message = f"Give {', '.join(options)} to LLMRTC's orchestrator: its playbooks have no options."
            self.losses.add("info", "options-apart", message, "options")
        if source.get("variables") and not self.functions:
            message = (
                "LLMRTC's playbooks declare no variables; the module (TypeScript) has their first values."
            )
            self.losses.add("warning", "lost-variables", message, "variables")

    # -- stages -------------------------------------------------------------------------------------------

    def _stage(self, stage: Json, index: int) -> Json:
        place = ("stages", index)
        hooks = {name: stage[name] for name in _HOOKS if stage.get(name)}
        rest = {name: value for name, value in stage.items() if name not in (*_HOOKS, "kind", "speakOnEnter")}
        written = self.losses.keep(rest, _STAGE, "a stage", *place)
        for name in ("systemPrompt", "description"):
            if name in written:
                written[name] = self._text(written[name], *place, name)
        if stage.get("kind", "chat") != "chat":
            message = f"LLMRTC has no “{stage['kind']}” stages: {_KINDS[stage['kind']]}"
            self.losses.add("warning", "lost-kind", message, *place, "kind")
        if stage.get("speakOnEnter"):
            self.losses.add(
                "warning", "lost-field", "LLMRTC's stages wait for the user.", *place, "speakOnEnter"
            )
        config = self._llm_config(written.pop("llmConfig", {}), *place, "llmConfig")
        if config:
            written["llmConfig"] = config
        if "tools" in written:
            written["tools"] = self._tools(written["tools"], *place, "tools")
        for name in hooks:
            self._hook(written, name, hooks[name], stage, *place)
        return _in_order(written, _STAGE)

    def _hook(self, written: Json, name: str, actions: list[Json], stage: Json, *place: str | int) -> None:
        if not self.functions:
            message = f"{name} is a function there, which JSON cannot carry; the module (TypeScript) has it."
            self.losses.add("warning", "hook-function", message, *place, name)
            return
        written[name] = actions
        if name == "onEnter" and stage["id"] == self.document["initialStage"]:
            message = "LLMRTC does not call onEnter of the stage that the conversation starts in."
            self.losses.add("warning", "first-stage-hook", message, *place, name)

    def _text(self, text: str, *place: str | int) -> str:
        if not is_literal(text) and placeholders(text):
            message = "LLMRTC's texts have no placeholders: they reach the model as they are written."
            self.losses.add("warning", "placeholder", message, *place)
        return without_escapes(text)

    def _llm_config(self, config: Json, *place: str | int) -> Json:
        return self.losses.keep(config, _LLM_CONFIG, "a model", *place)

    def _tools(self, tools: list[Json], *place: str | int) -> list[Json]:
        return [self._tool(tool, *place, index) for index, tool in enumerate(tools)]

    def _tool(self, tool: Json, *place: str | int) -> Json:
        rest = {name: value for name, value in tool.items() if name != "implementation"}
        if rest.get("approval") == "never":
            del rest["approval"]
        written = self.losses.keep(rest, _TOOL, "a tool", *place)
        parameters = written.get("parameters") or {}
        written["description"] = written.get("description", "")
        written["parameters"] = {
            **parameters,
            "type": "object",
            "properties": parameters.get("properties") or {},
        }
        message = f"LLMRTC's tools are functions: register one for “{tool['name']}” in its ToolRegistry."
        self.losses.add("info", "tool-handler", message, *place)
        return _in_order(written, _TOOL)

    # -- transitions --------------------------------------------------------------------------------------

    def _transition(self, rule: Json, index: int) -> Json | None:
        place = ("transitions", index)
        action = rule["action"]
        reason = self._why_not(rule, action)
        if reason:
            self.losses.add("warning", "left-out", f"Transition “{rule['id']}” is left out: {reason}", *place)
            return None
        rest = {name: value for name, value in rule.items() if name not in ("disabled", "metadata")}
        written = self.losses.keep(rest, _TRANSITION, "a transition", *place)
        condition = self._condition(rule, *place, "condition")
        if condition is None:
            return None
        written["condition"] = condition
        said = rule["condition"].get("description")
        if said and rule["condition"]["type"] == "llm_decision" and not rule.get("description"):
            written["description"] = said
        if "description" in written:
            written["description"] = self._text(written["description"], *place, "description")
        written["action"] = self._action(action, *place, "action")
        return _in_order(written, _TRANSITION)

    def _why_not(self, rule: Json, action: Json) -> str:
        target = action.get("targetStage")
        if rule.get("disabled"):
            return "it is switched off, which LLMRTC does not know."
        if action.get("mode") == "return":
            return "LLMRTC has no returns."
        if str(target).startswith("agent:"):
            return "LLMRTC has no agents."
        if target not in self.stage_ids or (rule["from"] != "*" and rule["from"] not in self.stage_ids):
            return "it begins or ends at no stage, which LLMRTC refuses."
        return ""

    def _action(self, action: Json, *place: str | int) -> Json:
        if action.get("mode") == "call":
            message = "LLMRTC has no calls: it goes there and does not come back."
            self.losses.add("warning", "call-as-goto", message, *place, "mode")
        rest = {name: value for name, value in action.items() if name != "mode"}
        written = self.losses.keep(rest, _ACTION, "an action", *place)
        if "transitionMessage" in written:
            written["transitionMessage"] = self._text(
                written["transitionMessage"], *place, "transitionMessage"
            )
        return written

    def _condition(self, rule: Json, *place: str | int) -> Json | None:
        condition = rule["condition"]
        match condition["type"]:
            case "keyword":
                return self._keyword(rule, condition, *place)
            case "tool_call":
                for name in ("outcome", "where"):
                    if condition.get(name) not in (None, "any"):
                        message = (
                            f"LLMRTC does not look at “{name}”: the rule fires at every call of the tool."
                        )
                        self.losses.add("warning", "lost-field", message, *place, name)
                return {"type": "tool_call", "toolName": condition["toolName"]}
            case "intent":
                if condition.get("examples") or condition.get("description"):
                    message = (
                        "LLMRTC classifies nothing itself: your program says which intent a message has."
                    )
                    self.losses.add("info", "intent-by-host", message, *place)
                needed = condition.get("confidence")
                confidence = 0.6 if needed is None else needed
                return {"type": "intent", "intent": condition["intent"], "confidence": confidence}
            case "llm_decision":
                return self._decision(rule, condition, *place)
            case "timeout":
                if condition.get("since") == "last_activity":
                    message = "LLMRTC counts from the entry into the stage, and looks only when a turn ends."
                    self.losses.add("warning", "lost-field", message, *place, "since")
                return {"type": "timeout", "durationMs": condition["durationMs"]}
            case "custom":
                return self._custom(rule, condition, *place)
            case _:
                return {"type": "max_turns", "count": condition["count"]}

    def _decision(self, rule: Json, condition: Json, *place: str | int) -> Json:
        target = next(
            stage for stage in self.document["stages"] if stage["id"] == rule["action"]["targetStage"]
        )
        if condition.get("description") and (rule.get("description") or target.get("description")):
            message = "LLMRTC tells the model the description of the target stage, else the transition's."
            self.losses.add("warning", "lost-field", message, *place, "description")
        return {"type": "llm_decision"}

    def _keyword(self, rule: Json, condition: Json, *place: str | int) -> Json | None:
        match, source = condition.get("match", "word"), condition.get("source", "assistant")
        keywords = list(condition.get("keywords") or ())
        if source == "user" or (match == "regex" and not self.functions):
            reason = "looks at the reply only" if source == "user" else "has no patterns"
            message = f"Transition “{rule['id']}” is left out: LLMRTC {reason}."
            self.losses.add("warning", "left-out", message, *place)
            return None
        if source == "any":
            self.losses.add("warning", "lost-field", "LLMRTC looks at the reply only.", *place, "source")
        if match == "substring":
            return {"type": "keyword", "keywords": keywords}
        if self.functions:
            return {"type": "custom", "evaluate": {match: keywords}}
        message = "LLMRTC finds keywords inside words as well: “order” also in “border”."
        self.losses.add("warning", "keyword-substring", message, *place)
        return {"type": "keyword", "keywords": keywords}

    def _custom(self, rule: Json, condition: Json, *place: str | int) -> Json | None:
        expression = condition.get("expression") or ""
        if not expression.strip():
            self.losses.add("warning", "left-out", f"Transition “{rule['id']}” has no expression.", *place)
            return None
        if condition.get("when") == "before":
            self.losses.add("warning", "lost-field", "LLMRTC looks after the reply.", *place, "when")
        if not self.functions:
            message = (
                f"Transition “{rule['id']}” needs a function: LLMRTC's turns fail until “evaluate” is one. "
                "The module (TypeScript) has it."
            )
            self.losses.add("warning", "custom-function", message, *place)
        return {"type": "custom", "evaluate": {"$ref": rule["id"]}, "expression": expression}


def _in_order(value: Mapping[str, Any], names: tuple[str, ...]) -> Json:
    return {name: value[name] for name in (*names, *_HOOKS) if name in value}
