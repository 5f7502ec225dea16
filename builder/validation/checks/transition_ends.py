"""duplicate-id, unknown-stage, missing-target, unknown-agent, unused-agent: the ends of transitions."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error, warning
from builder.validation.fixes import Fix, remove_at, replace_at
from builder.validation.names import close_match, did_you_mean
from builder.validation.outline import AGENT_PREFIX, ANY_STAGE, Outline
from builder.validation.pointers import pointer
from runtime.playbook import Transition


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Transitions that are switched off are checked too: they would break when switched on."""
    first: dict[str, int] = {}
    for index, rule in enumerate(outline.playbook.transitions):
        if rule.id in first:
            message = f"Two transitions have the id “{rule.id}”."
            related = (pointer("transitions", first[rule.id], "id"),)
            path = pointer("transitions", index, "id")
            yield error("duplicate-id", message, path, related=related, transition=rule.id)
        first.setdefault(rule.id, index)
        yield from _source(outline, index, rule)
        yield from _target(outline, index, rule)
    yield from _unused_agents(outline)


def _unused_agents(outline: Outline) -> Iterator[Diagnostic]:
    called = {rule.action.target_stage for rule in outline.playbook.transitions}
    for index, agent in enumerate(outline.playbook.agents):
        if agent.name.strip() and AGENT_PREFIX + agent.name not in called:
            path = pointer("agents", index)
            fix = remove_at(f"Remove “{agent.name}”", path, {"name": agent.name})
            yield warning("unused-agent", f"No transition calls the agent “{agent.name}”.", path, fix=fix)


def _source(outline: Outline, index: int, rule: Transition) -> Iterator[Diagnostic]:
    if rule.from_stage != ANY_STAGE and rule.from_stage not in outline.stages:
        path = pointer("transitions", index, "from")
        yield _unknown(outline, rule, f"Transition “{rule.id}” starts at", rule.from_stage, path)


def _target(outline: Outline, index: int, rule: Transition) -> Iterator[Diagnostic]:
    target = rule.action.target_stage
    if rule.action.mode == "return" or target in outline.stages:
        return
    path = pointer("transitions", index, "action", "targetStage")
    if not target:
        message = f"Transition “{rule.id}” leads nowhere: choose the stage it leads to."
        yield error("missing-target", message, path, transition=rule.id)
    elif target.startswith(AGENT_PREFIX):
        yield from _agent(outline, rule, target.removeprefix(AGENT_PREFIX), path)
    else:
        yield _unknown(outline, rule, f"Transition “{rule.id}” leads to", target, path)


def _agent(outline: Outline, rule: Transition, name: str, path: str) -> Iterator[Diagnostic]:
    names = [agent.name for agent in outline.playbook.agents]
    if name not in names:
        message = f"Transition “{rule.id}” calls the agent “{name}”, which this playbook does not list."
        meant = close_match(name, names)
        fix = _instead(path, AGENT_PREFIX + name, meant and AGENT_PREFIX + meant)
        yield error("unknown-agent", message + did_you_mean(name, names), path, transition=rule.id, fix=fix)
    elif rule.action.mode != "call":
        message = f"Transition “{rule.id}” leads to an agent: an agent can only be called."
        given = "mode" in rule.action.model_fields_set
        at = path.removesuffix("targetStage") + "mode"
        fix = replace_at("Call it", at, rule.action.mode if given else None, "call")
        yield error("agent-not-called", message, path, transition=rule.id, fix=fix)


def _unknown(outline: Outline, rule: Transition, what: str, stage: str, path: str) -> Diagnostic:
    message = f"{what} “{stage}”, but this playbook has no such stage.{did_you_mean(stage, outline.stages)}"
    fix = _instead(path, stage, close_match(stage, outline.stages))
    return error("unknown-stage", message, path, transition=rule.id, fix=fix)


def _instead(path: str, was: str, meant: str | None) -> Fix | None:
    return replace_at(f"Make it “{meant}”", path, was, meant) if meant else None
