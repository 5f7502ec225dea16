"""The gallery: the playbooks that come with the studio, and the empty one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from builder.transfer.companions import gathered
from builder.transfer.loading import load

GALLERY: Final = Path(__file__).with_name("gallery")
AGENTS: Final = GALLERY / "agents"
"""Playbooks that those of the gallery call, each in a file named after its `id`."""
FIRST: Final = "customer-support"
"""The one that a new owner finds in the gallery."""


def template_slugs() -> list[str]:
    """Names of the gallery's playbooks, in alphabetical order."""
    return sorted(file.stem for file in GALLERY.glob("*.json"))


def template_document(slug: str) -> dict[str, Any] | None:
    """A fresh copy of the document, or None for an unknown slug."""
    if slug not in template_slugs():
        return None
    return load((GALLERY / f"{slug}.json").read_bytes()).document


def template_agents(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Fresh copies of the gallery's playbooks that a template calls, and those that they call, by `id`.
    The callers stand before the called."""
    return gathered(document, _agent)


def _agent(name: str) -> dict[str, Any] | None:
    if name not in {file.stem for file in AGENTS.glob("*.json")}:
        return None
    return load((AGENTS / f"{name}.json").read_bytes()).document


def templates() -> Iterator[tuple[str, dict[str, Any]]]:
    """Slug and document of each."""
    for slug in template_slugs():
        document = template_document(slug)
        if document is not None:
            yield slug, document


def blank_document() -> dict[str, Any]:
    """A new playbook: one stage, whose prompt is still to be written."""
    return {
        "formatVersion": 1,
        "id": "new-playbook",
        "name": "New playbook",
        "stages": [{"id": "start", "name": "Start", "systemPrompt": ""}],
        "transitions": [],
        "initialStage": "start",
        "metadata": {"studio": {"layout": {"start": {"x": 0, "y": 0}}}},
    }
