"""Decides: step(playbook, state, happened, now) -> Step; a value and a function, no clock and no chance."""

from runtime.engine.step import NotNow, Step, step
from runtime.engine.table import NO_AGENTS, MissingDocument, tables_of
from runtime.engine.timers import wake_at

__all__ = ["NO_AGENTS", "MissingDocument", "NotNow", "Step", "step", "tables_of", "wake_at"]
