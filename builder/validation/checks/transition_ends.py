"""duplicate-id, unknown-stage, missing-target, unknown-agent: where transitions come from and lead to."""

from __future__ import annotations

from collections.abc import Iterator

from builder.validation.diagnostics import Diagnostic, error
from builder.validation.names import did_you_mean
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


def _source(outline: Outline, index: int, rule: Transition) -> Iterator[Diagnostic]:
    if rule.from_stage != ANY_STAGE and rule.from_stage not in outline.stages:
        path = pointer("transitions", index, "from")
        yield _unknown(outline, rule, f"Transition “{rule.id}” starts at", rule.from_stage, path)


def _target(outline: Outline, index: int, rule: Transition) -> Iterator[Diagnostic]:
    target, path = rule.action.target_stage, pointer("transitions", index, "action", "targetStage")
    if rule.action.mode == "return":
        return
    if not target:
        message = f"Transition “{rule.id}” leads nowhere: choose the stage it leads to."
        yield error("missing-target", message, path, transition=rule.id)
    elif target.startswith(AGENT_PREFIX):
        yield from _agent(outline, rule, target.removeprefix(AGENT_PREFIX), path)
    elif target not in outline.stages:
        yield _unknown(outline, rule, f"Transition “{rule.id}” leads to", target, path)


def _agent(outline: Outline, rule: Transition, name: str, path: str) -> Iterator[Diagnostic]:
    names = [agent.name for agent in outline.playbook.agents]
    if name not in names:
        message = f"Transition “{rule.id}” calls the agent “{name}”, which this playbook does not list."
        yield error("unknown-agent", message + did_you_mean(name, names), path, transition=rule.id)
    elif rule.action.mode != "call":
        message = f"Transition “{rule.id}” leads to an agent: an agent can only be called."
        yield error("agent-not-called", message, path, transition=rule.id)


def _unknown(outline: Outline, rule: Transition, what: str, stage: str, path: str) -> Diagnostic:
    message = f"{what} “{stage}”, but this playbook has no such stage.{did_you_mean(stage, outline.stages)}"
    return error("unknown-stage", message, path, transition=rule.id)
