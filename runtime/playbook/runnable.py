"""Refuses a playbook that is about to be run where a run could only break.

Much less than the builder's validation: only what would leave the engine without a place to go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from runtime.playbook.base import TOOL_NAME
from runtime.playbook.errors import InvalidPlaybook, Problem
from runtime.playbook.playbook import Playbook, Transition

_TOOL_NAME = re.compile(TOOL_NAME)
AGENT_PREFIX = "agent:"
ANY_STAGE = "*"


def is_tool_name(name: str) -> bool:
    """Whether models take it as the name of a tool: 1 to 64 letters, digits, _ and -."""
    return _TOOL_NAME.fullmatch(name) is not None


def check_runnable(playbook: Playbook, agents: Mapping[str, Playbook]) -> None:
    """Raises InvalidPlaybook. `agents`: the playbooks that it and they may call, by playbook id."""
    problems = list(_problems(playbook, agents))
    for name, agent in agents.items():
        for found in _problems(agent, agents):
            message = f"The agent playbook {name!r} cannot be run: {found.message}"
            problems.append(Problem("/agents", message, found.code))
    if problems:
        raise InvalidPlaybook(problems)


def _problems(playbook: Playbook, agents: Mapping[str, Playbook]) -> Iterator[Problem]:
    yield from _repeated("stage", [stage.id for stage in playbook.stages], "/stages")
    yield from _repeated("transition", [rule.id for rule in playbook.transitions], "/transitions")
    if playbook.stage(playbook.initial_stage) is None:
        message = f"The playbook starts in {playbook.initial_stage!r}, which is no stage of it."
        yield Problem("/initialStage", message, "unknown-stage")
    yield from _tool_names(playbook)
    for index, rule in enumerate(playbook.transitions):
        if not rule.disabled:
            yield from _problems_of(rule, playbook, agents, f"/transitions/{index}")


def _tool_names(playbook: Playbook) -> Iterator[Problem]:
    """Every request carries all tools, so that one bad name makes the provider refuse each of them."""
    holders = [("/globalTools", playbook.global_tools)]
    holders += [(f"/stages/{index}/tools", stage.tools) for index, stage in enumerate(playbook.stages)]
    for path, tools in holders:
        for index, tool in enumerate(tools):
            if not is_tool_name(tool.name):
                message = f"{tool.name!r} is no tool name: models take 1 to 64 letters, digits, _ and -."
                yield Problem(f"{path}/{index}/name", message, "bad-tool-name")


def _repeated(what: str, ids: Sequence[str], path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(ids):
        if name in seen:
            yield Problem(f"{path}/{index}/id", f"Two {what}s have the id {name!r}.", f"duplicate-{what}")
        seen.add(name)


def _problems_of(
    rule: Transition, playbook: Playbook, agents: Mapping[str, Playbook], path: str
) -> Iterator[Problem]:
    if rule.from_stage != ANY_STAGE and playbook.stage(rule.from_stage) is None:
        yield Problem(f"{path}/from", f"{rule.from_stage!r} is no stage of this playbook.", "unknown-stage")
    if rule.action.mode == "return":
        return
    target, where = rule.action.target_stage, f"{path}/action/targetStage"
    if target is None:
        yield Problem(where, "The transition names no target stage.", "missing-target")
    elif playbook.stage(target) is None and target.startswith(AGENT_PREFIX):
        yield from _agent_problems(target.removeprefix(AGENT_PREFIX), playbook, agents, where)
    elif playbook.stage(target) is None:
        yield Problem(where, f"{target!r} is no stage of this playbook.", "unknown-stage")


def _agent_problems(
    name: str, playbook: Playbook, agents: Mapping[str, Playbook], where: str
) -> Iterator[Problem]:
    agent = next((agent for agent in playbook.agents if agent.name == name), None)
    if agent is None:
        yield Problem(where, f"The playbook declares no agent {name!r}.", "unknown-agent")
    elif agent.playbook not in agents:
        message = f"The playbook {agent.playbook!r} of agent {name!r} was not given."
        yield Problem(where, message, "missing-agent-document")
