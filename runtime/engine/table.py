"""What the engine looks up in a playbook again and again, computed once and kept while it lives."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from runtime.conversation.snapshot import is_private
from runtime.conversation.state import Frame, SessionState
from runtime.engine.intents import Intent, intents_of
from runtime.engine.rules import MOMENTS, Moment, looks
from runtime.playbook import LLMConfig, Playbook, Stage, ToolDefinition, Transition
from runtime.playbook.artifact_tools import offers_artifact_tools
from runtime.playbook.engine_tools import allowed_targets, outgoing, own_tools, stage_tools
from runtime.playbook.model_settings import merged_settings

NO_AGENTS: Final[Mapping[str, Playbook]] = MappingProxyType({})


class MissingDocument(ValueError):
    """A session stands in an agent whose document it was not given."""


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage with everything that is derived from it."""

    stage: Stage
    rules: tuple[Transition, ...]
    """Transitions that may leave it, in the order of precedence."""
    looked_at: Mapping[Moment, tuple[Transition, ...]]
    """Those of them that are looked at in each moment, in the same order."""
    tools: dict[str, ToolDefinition]
    """The author's tools it offers, by name."""
    targets: tuple[str, ...]
    """What `playbook_transition` may name here."""
    described: tuple[tuple[str, str], ...]
    """Those of them whose description has placeholders, with it."""
    offers_tools: bool
    config: LLMConfig
    intents: tuple[Intent, ...]
    """What its rules ask a classifier to tell apart."""
    offers_artifacts: bool = False
    """Whether the model may save and load artifacts here."""

    @property
    def starts_with_tools(self) -> bool:
        """Whether a turn in this stage has a tool loop at all."""
        return self.offers_tools and self.stage.tool_choice != "none" and self.stage.kind != "raw"


@dataclass(frozen=True, slots=True)
class Table:
    """A playbook and its rows by stage id."""

    playbook: Playbook
    rows: dict[str, StageRow]
    with_artifacts: dict[str, StageRow]
    """The rows with the tools that save and load artifacts: these hold once there is one."""
    transitions: dict[str, Transition]
    declared: tuple[str, ...]
    """Names of the declared variables."""
    turn_timeout: timedelta
    phase1_timeout: timedelta


class Tables(NamedTuple):
    """The documents of a session: its own and, by playbook id, those of the agents that may be called."""

    root: Table
    agents: Mapping[str, Playbook]

    def of(self, frame: Frame | None) -> Table:
        """The table of the document that the frame runs. Raises MissingDocument."""
        if frame is None or frame.playbook is None:
            return self.root
        playbook = self.agents.get(frame.playbook)
        if playbook is None:
            raise MissingDocument(f"The session was not given its agent's playbook {frame.playbook!r}.")
        return table_of(playbook)

    def current(self, state: SessionState) -> Table:
        """The table of the current frame's document."""
        return self.of(state.frames[-1] if state.frames else None)


def may_use_artifacts(table: Table, state: SessionState) -> bool:
    """Whether the model may save and load artifacts now: there is one, and the current stage offers it."""
    stage = table.rows[state.frames[-1].stage].stage
    own = state.using_policy.artifact_tools if state.using_policy is not None else None
    offered = own if own is not None else offers_artifact_tools(table.playbook, stage)
    return offered and stage.kind != "raw" and any(not is_private(name) for name in state.artifacts)


def tables_of(playbook: Playbook, agents: Mapping[str, Playbook] = NO_AGENTS) -> Tables:
    """The tables of a session."""
    return Tables(table_of(playbook), agents)


_tables: dict[int, tuple[weakref.ref[Playbook], Table]] = {}


def table_of(playbook: Playbook) -> Table:
    """The table of `playbook`; the same one for the same object."""
    known = _tables.get(id(playbook))
    if known is not None and known[0]() is playbook:
        return known[1]
    table = _build(playbook)
    key = id(playbook)
    _tables[key] = (weakref.ref(playbook, lambda _: _tables.pop(key, None)), table)
    return table


def _build(playbook: Playbook) -> Table:
    # The table must not keep its playbook alive for ever: the weak reference drops the table, which
    # holds a copy that shares all parts.
    own = playbook.model_copy()
    rows = {stage.id: _row(playbook, stage) for stage in playbook.stages}
    return Table(
        playbook=own,
        rows=rows,
        with_artifacts={
            name: replace(row, offers_tools=True, offers_artifacts=True)
            for name, row in rows.items()
            if row.stage.kind != "raw"
        },
        transitions={rule.id: rule for rule in playbook.transitions},
        declared=tuple(variable.name for variable in playbook.variables),
        turn_timeout=timedelta(milliseconds=playbook.options.turn_timeout_ms),
        phase1_timeout=timedelta(milliseconds=playbook.options.phase1_timeout_ms),
    )


def _row(playbook: Playbook, stage: Stage) -> StageRow:
    rules, targets = outgoing(playbook, stage), allowed_targets(playbook, stage)
    return StageRow(
        stage=stage,
        rules=rules,
        looked_at={
            moment: tuple(rule for rule in rules if looks(rule.condition, moment)) for moment in MOMENTS
        },
        tools={tool.name: tool for tool in own_tools(playbook, stage)},
        targets=tuple(target for target, _ in targets),
        described=tuple((target, text) for target, text in targets if "{" in text or "}" in text),
        offers_tools=bool(stage_tools(playbook, stage)),
        config=merged_settings(playbook.default_llm_config, stage.llm_config),
        intents=intents_of(rules),
    )
