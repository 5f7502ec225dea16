"""Artifacts: long values that are kept once, under a name; what refers to them, and what they read as.

A reference is plain JSON, `{"$artifact": name}`: what holds one stays small wherever it goes. Everything here
is a pure function over values; the engine decides, the fold applies.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from runtime.conversation.snapshot import canonical, is_private

REFERENCE: Final = "$artifact"
SIGIL: Final = "$"
"""`$name` as a whole argument stands for the content of that name."""
CONTENT_NAME: Final = re.compile(r"a_[0-9a-f]{8,32}")
"""Names that the engine gives by content; nobody else may use them."""
TOLD: Final = 48
"""Characters of an automatic summary in the state."""
SAMPLE: Final = 80
"""Characters of the content that an automatic summary shows."""

Artifacts = Mapping[str, "ArtifactRef"]


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact as the state knows it. Artifacts with one hash share their content."""

    name: str
    summary: str
    kind: str
    """`text`, `list`, `object`, `number` or `boolean`."""
    length: int
    """Characters (code points) of its text."""
    hash: str
    loaded_in: str | None = None
    """The frame whose window has it, or a part of it."""
    listed: bool = False
    """It was unloaded once: from then on the model finds it in the state."""
    content: Any = None
    """The typed value. None in a state that was read without contents."""

    @property
    def is_listed(self) -> bool:
        """Whether the state tells a model of it. One that the engine named and that was always in the window
        is not: the result that it is says all this at its place."""
        return self.listed or self.loaded_in is None or CONTENT_NAME.fullmatch(self.name) is None

    @property
    def told(self) -> str:
        """What the state says of it: of a summary that the engine made, the beginning."""
        return self.summary if CONTENT_NAME.fullmatch(self.name) is None else short(self.summary, TOLD)

    @property
    def text(self) -> str:
        """What a model reads of it, whole."""
        return text_of(self.content)

    @property
    def size(self) -> str:
        """`list, 12,345 characters`."""
        return f"{self.kind}, {self.length:,} characters"


def text_of(value: Any) -> str:
    """The text a model would see: a text as it is, everything else as canonical JSON."""
    return value if isinstance(value, str) else canonical(value)


def content_of(kind: str, text: str) -> Any:
    """The typed value again, from what `text_of` made of it."""
    return text if kind == "text" else json.loads(text)


def kind_of(value: Any) -> str:
    """What an artifact of this value is."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "list"


def hash_of(kind: str, text: str) -> str:
    """32 hex digits that stand for the content: the text `[1]` and the list `[1]` differ."""
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "replace")).hexdigest()[:32]


def reference(name: str) -> dict[str, str]:
    """What stands for the artifact wherever its content would."""
    return {REFERENCE: name}


def referred(value: Any) -> str | None:
    """The name that a value refers to, if it is a reference."""
    if isinstance(value, Mapping) and len(value) == 1:
        name = value.get(REFERENCE)
        return name if isinstance(name, str) else None
    return None


def names_in(value: Any) -> Iterator[str]:
    """The names that a value and, one level deep, its entries refer to."""
    name = referred(value)
    if name is not None:
        yield name
    elif isinstance(value, Mapping):
        yield from (name for entry in value.values() if (name := referred(entry)) is not None)


def find(name: str, artifacts: Artifacts, variables: Mapping[str, Any]) -> ArtifactRef | None:
    """The artifact of that name, or the one that the variable of that name holds; none for private names."""
    plain = name.removeprefix(SIGIL)
    if is_private(plain):
        return None
    held = referred(variables.get(plain))
    return artifacts.get(plain) or (artifacts.get(held) if held is not None else None)


def automatic_summary(source: str, kind: str, text: str) -> str:
    """`source: type, n characters, first 80 characters`, in one line."""
    sample = short(text[: 4 * SAMPLE], SAMPLE)
    return f"{source}: {kind}, {len(text):,} characters, {sample}"


def short(text: str, limit: int) -> str:
    """One line of at most `limit` characters; the cut is marked."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


# -- what events make of a state's artifacts -------------------------------------------------------------


def with_loaded(artifacts: Artifacts, name: str, frame: str | None) -> Artifacts:
    """The artifacts once `name` is in the window of `frame`, or in none."""
    ref = artifacts.get(name)
    if ref is None:
        return artifacts
    return {**artifacts, name: replace(ref, loaded_in=frame, listed=ref.listed or frame is None)}


def with_variables(artifacts: Artifacts, changed: Mapping[str, Any], deleted: tuple[str, ...]) -> Artifacts:
    """The artifacts once these variables were set or deleted: one named after a variable that holds something
    else now is gone."""
    gone = {
        name
        for name in (*changed, *deleted)
        if name in artifacts and (name in deleted or referred(changed.get(name)) != name)
    }
    return artifacts if not gone else {name: ref for name, ref in artifacts.items() if name not in gone}


def handed_over(artifacts: Artifacts, value: Any) -> dict[str, ArtifactRef]:
    """The artifacts that a value takes along when it goes to another agent; none of them is loaded there."""
    return {name: replace(artifacts[name], loaded_in=None) for name in names_in(value) if name in artifacts}
