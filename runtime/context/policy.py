"""The policy in force for one stage: every setting with its value and where the value comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from runtime.context.models import ModelRecord
from runtime.conversation.base import json_name
from runtime.conversation.window_events import Setting
from runtime.playbook import Playbook, Stage, StageContextPolicy
from runtime.playbook.engine_tools import tool_conflicts
from runtime.playbook.policy import ARTIFACT_DEFAULTS

Origin = str
"""`session`, `stage`, `playbook`, `model`, `default`, or a reason in words."""

BY_DEFAULT: Final = ("default", "model")
DEFAULTS: Final[Mapping[str, Any]] = {
    "layout": "append",
    "cache_ttl": "auto",
    "state_compression": True,
    "full_state_interval": 8,
    **ARTIFACT_DEFAULTS,
    "compaction": True,
    "summaries": "model_given",
    "cache_points": 4,
}
BUDGETS: Final = ("budget_tokens", "budget_target", "keep_recent")
"""Settings whose defaults depend on the model."""
BUDGET_SHARE: Final = 0.6
TARGET_SHARE: Final = 0.5
KEEP_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings in force (context.md, "Policy"). `origins` names for each where its value comes from."""

    layout: Literal["append", "swap"] = "append"
    cache_ttl: Literal["auto", "5m", "1h"] = "auto"
    state_compression: bool = True
    full_state_interval: int = 8
    artifact_threshold: int = 500
    artifact_preview: int = 20_000
    artifact_tools: bool = True
    compaction: bool = True
    budget_tokens: int = 120_000
    budget_target: int = 60_000
    keep_recent: int = 24_000
    summaries: Literal["model_given", "llm", "rules"] = "model_given"
    cache_points: int = 4
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def is_default(self, name: str) -> bool:
        """Whether nobody chose that setting."""
        return self.origins.get(name, "default") in BY_DEFAULT

    def chosen(self) -> dict[str, Setting]:
        """The settings that are not defaults: what a call's event says of them."""
        return {
            json_name(name): Setting(value=getattr(self, name), origin=origin)
            for name, origin in self.origins.items()
            if origin not in BY_DEFAULT
        }


def policy_for(
    playbook: Playbook,
    stage: Stage | None,
    model: ModelRecord,
    overrides: StageContextPolicy | None = None,
    layout: Literal["append", "swap"] | None = None,
) -> Policy:
    """The policy for a request of `stage` to `model`; later layers win: default, playbook, stage, session.

    `overrides` and `layout` are the session's (`use`). A playbook with two different tools of one name runs
    in the `swap` layout whatever is set, with that reason as its origin.
    """
    values: dict[str, Any] = dict(DEFAULTS)
    origins: dict[str, Origin] = dict.fromkeys(DEFAULTS, "default")
    layers = (
        ("playbook", playbook.context),
        ("stage", stage.context if stage else None),
        ("session", overrides),
    )
    for origin, layer in layers:
        for name, value in _given(layer).items():
            values[name], origins[name] = value, origin
    if layout is not None:
        values["layout"], origins["layout"] = layout, "session"
    if conflicts := tool_conflicts(playbook):
        values["layout"], origins["layout"] = "swap", f"two different tools are named {conflicts[0]}"
    _fill_budget(values, origins, model)
    return Policy(**values, origins=origins)


def settings_in_force(chosen: Mapping[str, Setting], model: ModelRecord) -> dict[str, Setting]:
    """All settings of a call, from those that its event names: the others had their defaults."""
    values: dict[str, Any] = dict(DEFAULTS)
    origins: dict[str, Origin] = dict.fromkeys(DEFAULTS, "default")
    for name in (*DEFAULTS, *BUDGETS):
        if (setting := chosen.get(json_name(name))) is not None:
            values[name], origins[name] = setting.value, setting.origin
    _fill_budget(values, origins, model)
    return {json_name(name): Setting(value=value, origin=origins[name]) for name, value in values.items()}


def _given(layer: StageContextPolicy | None) -> dict[str, Any]:
    if layer is None:
        return {}
    names = {*DEFAULTS, *BUDGETS}
    values = {name: getattr(layer, name, None) for name in sorted(names)}
    return {name: value for name, value in values.items() if value is not None}


def _fill_budget(values: dict[str, Any], origins: dict[str, Origin], model: ModelRecord) -> None:
    limit = min([model.window, *(tier.above for tier in model.tiers)])
    if "budget_tokens" not in values:
        values["budget_tokens"], origins["budget_tokens"] = (
            int(min(model.window * BUDGET_SHARE, limit)),
            "model",
        )
    elif values["budget_tokens"] > limit:
        values["budget_tokens"] = limit
        origins["budget_tokens"] += f", lowered to the limit of {model.label or model.id}"
    budget = values["budget_tokens"]
    for name, share in (("budget_target", TARGET_SHARE), ("keep_recent", KEEP_SHARE)):
        if name not in values:
            values[name], origins[name] = int(budget * share), "default"
        elif values[name] > budget:
            values[name] = budget
            origins[name] += ", lowered to the budget"
