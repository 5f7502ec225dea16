"""Which tools a stage has, which the whole playbook has, and the engine's own tool `playbook_transition`.

Pure tables over a document: the engine enforces them, the context shows them to the model. Both read them
here, so that what the model is told and what is allowed cannot differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, Literal

from runtime.playbook.artifact_tools import ARTIFACT_TOOLS, DEFINITIONS, ever_offers_artifact_tools
from runtime.playbook.conditions import LLMDecisionCondition
from runtime.playbook.kept import kept
from runtime.playbook.playbook import Playbook, Stage, Transition
from runtime.playbook.tools import ToolDefinition

TRANSITION_TOOL: Final = "playbook_transition"
RESERVED_TOOLS: Final = (TRANSITION_TOOL, *ARTIFACT_TOOLS)
RETURN_TARGET: Final = "return"
AGENT_PREFIX: Final = "agent:"

_DESCRIPTION: Final = (
    "Move the conversation on: to another stage, into a called one, or back with `return`. "
    "Only the targets named in the current stage's instructions are allowed."
)


def target_of(transition: Transition) -> str | None:
    """What the model names to ask for this move: a stage id, `agent:NAME`, `return`; None if it has none."""
    if transition.action.mode == "return":
        return RETURN_TARGET
    return transition.action.target_stage


def outgoing(playbook: Playbook, stage: Stage) -> tuple[Transition, ...]:
    """The enabled transitions that may leave `stage`, in the order of precedence.

    Higher priority first, then a named `from` before `*`, then document order. A `*` rule never leads into
    the stage it is already in (engine.md, "A turn", 5 and 7).
    """
    found = [rule for rule in playbook.transitions if _may_leave(rule, stage.id)]
    return tuple(sorted(found, key=lambda rule: (-rule.priority, rule.from_stage == "*")))


def _may_leave(rule: Transition, stage_id: str) -> bool:
    if rule.disabled:
        return False
    if rule.from_stage == "*":
        return rule.action.mode == "return" or rule.action.target_stage != stage_id
    return rule.from_stage == stage_id


@kept
def allowed_targets(playbook: Playbook, stage: Stage) -> tuple[tuple[str, str], ...]:
    """The targets the model may name in `stage`, each with its description, in the order of precedence."""
    targets: dict[str, str] = {}
    for rule in outgoing(playbook, stage):
        target = target_of(rule)
        if isinstance(rule.condition, LLMDecisionCondition) and target is not None:
            targets.setdefault(target, _description_of(playbook, rule, rule.condition))
    return tuple(targets.items())


def _description_of(playbook: Playbook, rule: Transition, condition: LLMDecisionCondition) -> str:
    target = playbook.stage(rule.action.target_stage or "")
    of_target = (target.description or target.name) if target is not None else _agent_words(playbook, rule)
    return condition.description or rule.description or of_target


def _agent_words(playbook: Playbook, rule: Transition) -> str:
    name = (rule.action.target_stage or "").removeprefix(AGENT_PREFIX)
    agent = next((agent for agent in playbook.agents if agent.name == name), None)
    return (agent.description or agent.name) if agent is not None else ""


def transition_tool(playbook: Playbook, allowed: Iterable[str] | None = None) -> ToolDefinition | None:
    """The engine's tool as the model sees it; None where nothing can be asked for.

    Without `allowed` its schema is the same for the whole playbook (the `append` layout): all stage ids in
    document order, the agents, `return`. With `allowed` (the `swap` layout) the enum is those targets.
    """
    if allowed is None:
        if not any(_is_decision(rule) for rule in playbook.transitions):
            return None
        targets = [stage.id for stage in playbook.stages]
        targets += [AGENT_PREFIX + agent.name for agent in playbook.agents]
        targets.append(RETURN_TARGET)
    else:
        targets = list(allowed)
    return _tool_for(targets) if targets else None


def _is_decision(rule: Transition) -> bool:
    return isinstance(rule.condition, LLMDecisionCondition) and not rule.disabled


def _tool_for(targets: list[str]) -> ToolDefinition:
    properties: dict[str, Any] = {
        "targetStage": {"type": "string", "enum": targets, "description": "The target to move to."},
        "reason": {"type": "string", "description": "Why, in a few words."},
        "data": {"type": "object", "description": "What the target should know."},
        "summary": {"type": "string", "description": "With `return`: what was done, for the caller."},
    }
    parameters = {"type": "object", "properties": properties, "required": ["targetStage"]}
    return ToolDefinition(name=TRANSITION_TOOL, description=_DESCRIPTION, parameters=parameters)


@kept
def own_tools(playbook: Playbook, stage: Stage) -> tuple[ToolDefinition, ...]:
    """The author's tools of `stage`: the global ones, then its own; its own definition of a name wins."""
    if stage.kind == "raw":
        return ()
    tools = {tool.name: tool for tool in playbook.global_tools}
    for tool in stage.tools:
        tools[tool.name] = tool
    return tuple(tools.values())


@kept
def stage_tools(
    playbook: Playbook, stage: Stage, layout: Literal["append", "swap"] = "append", artifacts: bool = False
) -> tuple[ToolDefinition, ...]:
    """What the model may call in `stage`: its tools, then `playbook_transition` if a target is allowed, then,
    with `artifacts` (there are some, and the stage offers it), those that save and load them."""
    if stage.kind == "raw":
        return ()
    targets = [target for target, _ in allowed_targets(playbook, stage)]
    tool = transition_tool(playbook, None if layout == "append" else targets) if targets else None
    engines = ((tool,) if tool is not None else ()) + (DEFINITIONS if artifacts else ())
    return own_tools(playbook, stage) + engines


@kept
def union_tools(playbook: Playbook, artifacts: bool = False) -> tuple[ToolDefinition, ...]:
    """All tools of the playbook (`append` layout): global, stages in document order, the engine's own.

    Where tools could make an artifact, those that save and load them are there from the start: a head that
    changes with the first artifact would cost the cache of the whole window. Elsewhere only with `artifacts`.
    """
    tools: dict[str, ToolDefinition] = {}
    for tool in _all_definitions(playbook):
        tools.setdefault(tool.name, tool)
    engine_tool = transition_tool(playbook)
    engines: tuple[ToolDefinition, ...] = (engine_tool,) if engine_tool is not None else ()
    if artifacts or (tools and ever_offers_artifact_tools(playbook)):
        engines += DEFINITIONS
    return (*tools.values(), *engines)


@kept
def tool_conflicts(playbook: Playbook) -> tuple[str, ...]:
    """Names with two definitions that differ in canonical JSON: such a playbook runs in the `swap` layout."""
    seen: dict[str, str] = {}
    conflicts: dict[str, None] = {}
    for tool in _all_definitions(playbook):
        text = canonical_json(tool.model_dump(mode="json", by_alias=True))
        if seen.setdefault(tool.name, text) != text:
            conflicts[tool.name] = None
    return tuple(conflicts)


def _all_definitions(playbook: Playbook) -> Iterable[ToolDefinition]:
    yield from playbook.global_tools
    for stage in playbook.stages:
        yield from stage.tools


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no blanks, no escapes of non-ASCII characters, no NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
