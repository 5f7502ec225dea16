"""Three-way merge: what one of two people changed is taken, what both changed differently is a conflict.

Nothing is decided for anybody: a conflict keeps mine until a choice is given for it, and is always reported.
Works on documents as they are stored, so that nothing that was typed is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from builder.changes.found import What
from builder.changes.ordering import merged_order
from builder.changes.parts import KEYS, WHAT, Json, by_key
from builder.transfer.sentences import stage_title, transition_title
from builder.validation.pointers import pointer
from runtime.conversation.base import Value

Side = Literal["mine", "theirs"]
Choices = Mapping[str, Side]
_LAYOUT: Final = "/metadata/studio/layout"


class _Absent:
    """Nothing stands there."""


class _Unknown:
    """What stood there before is not known: whatever differs is a conflict."""


ABSENT: Final = _Absent()
UNKNOWN: Final = _Unknown()


class MergeSide(Value):
    """What one of the three documents has at a place."""

    there: bool
    value: Any = None


class MergeConflict(Value):
    """A place that both changed, each in their own way. Mine stands there unless theirs was chosen."""

    key: str
    """Names it in the choices: a pointer with ids in place of numbers, `/stages/greet/systemPrompt`."""
    title: str
    """The part it belongs to, for people."""
    field: str
    """Pointer within the part; empty for all of it."""
    base: MergeSide
    mine: MergeSide
    theirs: MergeSide
    choice: Side | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """The document, and what nobody but a person can decide."""

    document: Json
    conflicts: tuple[MergeConflict, ...]

    @property
    def open(self) -> tuple[MergeConflict, ...]:
        """The conflicts for which no choice was given."""
        return tuple(conflict for conflict in self.conflicts if conflict.choice is None)


def merge(base: Json | None, mine: Json, theirs: Json, choices: Choices | None = None) -> Merged:
    """Both changes in one document. Without `base` everything that differs is a conflict."""
    merger = _Merger(mine, theirs, base, choices or {})
    known = UNKNOWN if base is None else base
    document = merger.objects("", known, mine, theirs)
    if not document.get("stages") and mine.get("stages"):
        # Each removed what the other kept: one of the two lists has to stay.
        whole = merger.conflict(
            "/stages", known if base is None else base["stages"], mine["stages"], theirs["stages"]
        )
        document = {**document, "stages": whole}
    return Merged(document, tuple(merger.conflicts))


@dataclass
class _Merger:
    mine: Json
    theirs: Json
    base: Json | None
    choices: Choices
    conflicts: list[MergeConflict] = field(default_factory=list)
    _named_entries: dict[str, tuple[dict[str, Json], ...]] = field(default_factory=dict)

    # -- values -------------------------------------------------------------------------------------------

    def value(self, key: str, base: Any, mine: Any, theirs: Any) -> Any:
        """What stands at that place in the merged document; ABSENT for nothing."""
        if _same(mine, theirs):
            return mine
        if key != "/stages":  # a stage that only one touched may still be one that the other needs
            if _same(base, theirs):
                return mine
            if _same(base, mine):
                return theirs
        if key == _LAYOUT and isinstance(mine, dict) and isinstance(theirs, dict):
            return self.layout(base if isinstance(base, dict) else {}, mine, theirs)
        if _mergeable(base, mine, theirs):
            return self.objects(key, {} if base is ABSENT else base, mine, theirs)
        merged = self.entries(key, base, mine, theirs)
        return self.conflict(key, base, mine, theirs) if merged is None else merged

    def objects(self, key: str, base: Any, mine: Json, theirs: Json) -> Json:
        """Field by field; the fields stand in my order, then theirs."""
        merged: Json = {}
        for name in (*mine, *(name for name in theirs if name not in mine)):
            before = base.get(name, ABSENT) if isinstance(base, dict) else UNKNOWN
            value = self.value(key + pointer(name), before, mine.get(name, ABSENT), theirs.get(name, ABSENT))
            if value is not ABSENT:
                merged[name] = value
        return merged

    def conflict(self, key: str, base: Any, mine: Any, theirs: Any) -> Any:
        """Asks for a choice; mine until there is one."""
        choice = self.choices.get(key)
        title, path = self._named(key)
        self.conflicts.append(
            MergeConflict(
                key=key,
                title=title,
                field=path,
                base=_version(base),
                mine=_version(mine),
                theirs=_version(theirs),
                choice=choice,
            )
        )
        return theirs if choice == "theirs" else mine

    # -- lists with names ---------------------------------------------------------------------------------

    def entries(self, key: str, base: Any, mine: Any, theirs: Any) -> list[Any] | None:
        """A list whose entries have names, merged entry by entry; None if it is no such list."""
        name = key.rpartition("/")[2]
        if name not in KEYS or not _at_its_place(key):
            return None
        ours, others = by_key(mine, KEYS[name]), by_key(theirs, KEYS[name])
        before = {} if base in (ABSENT, UNKNOWN) else by_key(base, KEYS[name])
        if ours is None or others is None or before is None:
            return None
        unknown = base is UNKNOWN
        kept: dict[str, Any] = {}
        for entry in dict.fromkeys((*ours, *others)):
            merged = self._entry(
                key + pointer(entry),
                UNKNOWN if unknown else before.get(entry, ABSENT),
                ours.get(entry, ABSENT),
                others.get(entry, ABSENT),
            )
            if merged is not ABSENT:
                kept[entry] = merged
        order = self._order(key, None if unknown else list(before), list(ours), list(others), kept)
        return [kept[entry] for entry in order]

    def _entry(self, key: str, base: Any, mine: Any, theirs: Any) -> Any:
        if base is ABSENT and mine is not ABSENT and theirs is not ABSENT and not _same(mine, theirs):
            return self.conflict(key, base, mine, theirs)  # two that were given the same name
        removed = (mine is ABSENT) != (theirs is ABSENT) and base not in (ABSENT, UNKNOWN)
        if (
            removed
            and key.startswith("/stages/")
            and key.count("/") == 2
            and self._needed(base["id"], mine is ABSENT)
        ):
            return self.conflict(key, base, mine, theirs)
        return self.value(key, base, mine, theirs)

    def _needed(self, stage: str, by_them: bool) -> bool:
        """Whether the one who kept the stage made or changed a rule that uses it."""
        return stage in (self._used_by_them if by_them else self._used_by_me)

    @cached_property
    def _used_by_me(self) -> frozenset[str]:
        return self._freshly_used(self.mine)

    @cached_property
    def _used_by_them(self) -> frozenset[str]:
        return self._freshly_used(self.theirs)

    def _freshly_used(self, document: Json) -> frozenset[str]:
        """The stages that the rules use which the document has and the base has not."""
        base = self.base or {}
        known: dict[Any, list[Json]] = {}
        for rule in base.get("transitions") or []:
            known.setdefault(rule["id"], []).append(rule)
        used = {
            stage
            for rule in document.get("transitions") or []
            if rule not in known.get(rule["id"], [])
            for stage in (rule["from"], rule["action"].get("targetStage"))
            if stage is not None
        }
        if document["initialStage"] != base.get("initialStage"):
            used.add(document["initialStage"])
        return frozenset(used)

    def _order(
        self,
        key: str,
        base: Sequence[str] | None,
        mine: list[str],
        theirs: list[str],
        kept: Mapping[str, Any],
    ) -> list[str]:
        ours, others = ([name for name in side if name in kept] for side in (mine, theirs))
        order = merged_order(base, ours, others)
        if order is not None:
            return order
        chosen = self.conflict(f"{key}/*", ABSENT if base is None else base, ours, others)
        return merged_order(chosen, ours, others, prefer=chosen) or chosen

    # -- layout -------------------------------------------------------------------------------------------

    def layout(self, base: Json, mine: Json, theirs: Json) -> Json:
        """Card by card; the cards that both moved are one conflict."""
        names = list(dict.fromkeys((*mine, *theirs)))
        sides = {
            name: (base.get(name, ABSENT), mine.get(name, ABSENT), theirs.get(name, ABSENT)) for name in names
        }
        both = [name for name, three in sides.items() if _moved_by_both(*three)]
        taken: Json = {}
        if both:
            one, other, third = (
                {n: sides[n][i] for n in both if sides[n][i] is not ABSENT} for i in range(3)
            )
            taken = self.conflict(_LAYOUT, one, other, third)
        merged = {}
        for name, (before, ours, others) in sides.items():
            value = taken.get(name, ABSENT) if name in both else ours if _same(before, others) else others
            if value is not ABSENT:
                merged[name] = value
        return merged

    # -- words --------------------------------------------------------------------------------------------

    def _named(self, key: str) -> tuple[str, str]:
        """The title of the part a key leads into, and the pointer within it."""
        parts = [part.replace("~1", "/").replace("~0", "~") for part in key.split("/")[1:]]
        if key == _LAYOUT:
            return "Places of cards", ""
        if parts[0] in KEYS and parts[1:] == ["*"]:
            return f"Order of the {WHAT[parts[0]]}s", ""
        if parts[0] in KEYS and len(parts) > 1:
            return self._title(parts[0], parts[1]), pointer(*parts[2:])
        return "Playbook", key

    def _by_name(self, name: str) -> tuple[dict[str, Json], ...]:
        """My entries of a list, and theirs."""
        if name not in self._named_entries:
            sides = (self.mine, self.theirs)
            self._named_entries[name] = tuple(by_key(side.get(name), KEYS[name]) or {} for side in sides)
        return self._named_entries[name]

    def _title(self, name: str, entry: str) -> str:
        for document, named in zip((self.mine, self.theirs), self._by_name(name), strict=True):
            found = named.get(entry)
            if found is not None and name == "stages":
                return f"Stage {stage_title(found)}"
            if found is not None and name == "transitions":
                return transition_title(document, found)
        what: What | str = WHAT[name]
        return f"{what.capitalize()} {entry}"


def _version(value: Any) -> MergeSide:
    there = value is not ABSENT and value is not UNKNOWN
    return MergeSide(there=there, value=value if there else None)


def _same(one: Any, other: Any) -> bool:
    if one is UNKNOWN or other is UNKNOWN or one is ABSENT or other is ABSENT:
        return one is other and one is ABSENT
    return bool(_exact(one) == _exact(other))


def _exact(value: Any) -> Any:
    """JSON's `true` is not 1: a value that compares so."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    return value


def _mergeable(base: Any, mine: Any, theirs: Any) -> bool:
    """Objects are merged by their fields, unless they are of different kinds (conditions, tools)."""
    sides = [side for side in (base, mine, theirs) if side is not ABSENT and side is not UNKNOWN]
    return (
        mine is not ABSENT
        and theirs is not ABSENT
        and all(isinstance(side, dict) for side in sides)
        and len({str(side.get("type")) for side in sides}) == 1
    )


def _at_its_place(key: str) -> bool:
    """A list of that name counts only where the format has it: metadata may have lists of any name."""
    parts = key.split("/")[1:]
    return len(parts) == 1 or (len(parts) == 3 and parts[0] == "stages" and parts[2] == "tools")


def _moved_by_both(base: Any, mine: Any, theirs: Any) -> bool:
    return not _same(mine, theirs) and not _same(base, mine) and not _same(base, theirs)
