"""Runs playbooks: a plain core (playbook, conversation, engine, context, inspector) in a Django app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.runner.session import Session as Session

__all__ = ["Session"]


def __getattr__(name: str) -> Any:
    """`from runtime import Session`, loaded when asked for: Django imports this package before all else."""
    if name == "Session":
        from runtime.runner.session import Session

        return Session
    raise AttributeError(f"module 'runtime' has no attribute {name!r}")
