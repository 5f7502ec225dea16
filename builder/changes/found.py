"""What a comparison finds: one `Change` for each part of a playbook that is not as it was."""

from __future__ import annotations

from typing import Any, Literal

from runtime.conversation.base import Value

Kind = Literal["added", "removed", "renamed", "changed", "moved"]
What = Literal["playbook", "stage", "transition", "tool", "variable", "agent", "card", "notes"]


class TextLine(Value):
    """A line of a text that was changed."""

    sign: Literal["+", "-", " "]
    text: str


class FieldChange(Value):
    """A field that has another value. A field that is not set is null."""

    path: str
    """JSON pointer within the part: `/condition/keywords`."""
    before: Any = None
    after: Any = None
    lines: tuple[TextLine, ...] = ()
    """For texts of several lines: their difference, line by line."""


class Change(Value):
    """One part of the playbook: added, removed, renamed (its id or name), changed field by field, or moved
    within its list (of transitions with the same priority the first one is tried first)."""

    kind: Kind
    what: What
    id: str
    """Id or name as it is now; as it was, where it was removed."""
    was: str | None = None
    """The id or name it had, where it has another one now."""
    title: str
    """For people: `Stage Greeting`, `Greeting → Triage: model decides`."""
    stage: str | None = None
    """Id of the stage that a tool belongs to."""
    fields: tuple[FieldChange, ...] = ()
    places: tuple[int, int] | None = None
    """Of `moved`: its place in the list before and now, counted from 0."""


class Comparison(Value):
    """Everything that differs, in the order of the newer document; what is gone comes after it."""

    changes: tuple[Change, ...]
    layout: tuple[Change, ...]
    """Cards that stand elsewhere and the editor's notes: they change nothing that runs."""

    @property
    def same(self) -> bool:
        """Whether nothing differs, the layout included."""
        return not self.changes and not self.layout
