"""Two states of a playbook, compared as its author thinks of it: stages, rules, tools, settings.

Where cards stand is told apart. A field that is not set and one that is set to its default say the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from builder.changes.found import Change, Comparison, FieldChange, TextLine, What
from builder.changes.parts import KEYS, WHAT, Json, by_key, moved, studio_of
from builder.changes.renaming import renamed
from builder.transfer.sentences import stage_title, transition_title
from builder.validation.pointers import pointer
from runtime.playbook import Playbook

_TELLING: Final[Mapping[str, tuple[str, ...]]] = {
    "stages": ("name", "systemPrompt"),
    "transitions": ("condition", "action"),
}
_TOP: Final = ("stages", "transitions", "globalTools", "variables", "agents")
_STUDIO: Final = "studio"
_LONGEST_LINES: Final = 4000
"""Lines of both texts together, beyond which no difference by line is made."""


def compare(before: Playbook, after: Playbook) -> Comparison:
    """What `after` has added, lost, renamed, changed and moved, seen from `before`."""
    old, new = _plain(before), _plain(after)
    stages = _renamed_entries(old, new, "stages")
    _follow(old, stages)
    found: list[Change] = []
    for name in _TOP:
        found += _compare_list(old, new, name, {**stages} if name == "stages" else None)
    found += _compare_tools(old, new)
    return Comparison(
        changes=(*_settings(old, new), *found), layout=tuple(_compare_layout(before, after, stages))
    )


def _plain(playbook: Playbook) -> Json:
    plain: Json = playbook.model_dump(mode="json", by_alias=True)
    return plain


def _renamed_entries(old: Json, new: Json, name: str) -> dict[str, str]:
    key = KEYS[name]
    before, after = by_key(old[name], key) or {}, by_key(new[name], key) or {}
    removed = {known: entry for known, entry in before.items() if known not in after}
    added = {known: entry for known, entry in after.items() if known not in before}
    return renamed(removed, added, key, _TELLING.get(name, ()))


def _follow(old: Json, stages: Mapping[str, str]) -> None:
    """Writes the new ids where the old document named renamed stages: their rules did not change."""
    old["initialStage"] = stages.get(old["initialStage"], old["initialStage"])
    for rule in old["transitions"]:
        rule["from"] = stages.get(rule["from"], rule["from"])
        target = rule["action"]["targetStage"]
        rule["action"]["targetStage"] = stages.get(target, target)


# -- lists ------------------------------------------------------------------------------------------------


def _compare_list(
    old: Json, new: Json, name: str, pairs: Mapping[str, str] | None = None, stage: str | None = None
) -> Iterator[Change]:
    key, what = KEYS[name], cast(What, WHAT[name])
    before, after = by_key(old[name], key), by_key(new[name], key)
    if before is None or after is None:
        yield from _as_a_whole(old, new, name, what, stage)
        return
    pairs = _renamed_entries(old, new, name) if pairs is None else pairs
    was = {other: known for known, other in pairs.items()}
    for known, entry in after.items():
        title = _title(what, entry, new)
        earlier = was.get(known, known)
        if earlier not in before:
            yield Change(kind="added", what=what, id=known, title=title, stage=stage)
        else:
            yield from _entry(before[earlier], entry, what, key, title, stage)
    for known, entry in before.items():
        if known not in after and known not in pairs:
            title = _title(what, entry, old)
            yield Change(kind="removed", what=what, id=known, title=title, stage=stage)
    yield from _moves([pairs.get(known, known) for known in before], list(after), what, after, new, stage)


def _as_a_whole(old: Json, new: Json, name: str, what: What, stage: str | None) -> Iterator[Change]:
    """Entries that cannot be told apart (two of one id) are compared as one value."""
    if old[name] != new[name]:
        fields = tuple(_fields(old[name], new[name], pointer(name)))
        yield Change(
            kind="changed", what=what, id=name, title=f"{name} (ids twice)", stage=stage, fields=fields
        )


def _entry(
    before: Json, after: Json, what: What, key: str, title: str, stage: str | None
) -> Iterator[Change]:
    fields = tuple(
        change
        for change in _fields(_without(before, "tools"), _without(after, "tools"), "")
        if change.path != pointer(key)
    )
    new_id = before[key] != after[key]
    if not fields and not new_id:
        return
    new_name = any(change.path == "/name" for change in fields)
    yield Change(
        kind="renamed" if new_id or new_name else "changed",
        what=what,
        id=after[key],
        was=before[key] if new_id else None,
        title=title,
        stage=stage,
        fields=fields,
    )


def _moves(
    before: list[str], after: list[str], what: What, entries: Mapping[str, Json], new: Json, stage: str | None
) -> Iterator[Change]:
    was, now = ({name: index for index, name in enumerate(names)} for names in (before, after))
    for known in moved(before, after):
        yield Change(
            kind="moved",
            what=what,
            id=known,
            title=_title(what, entries[known], new),
            stage=stage,
            places=(was[known], now[known]),
        )


def _compare_tools(old: Json, new: Json) -> Iterator[Change]:
    """The tools of the stages that are in both; those of a new or lost stage come and go with it."""
    pairs = _renamed_entries(old, new, "stages")
    was = {other: known for known, other in pairs.items()}
    before, after = by_key(old["stages"], "id") or {}, by_key(new["stages"], "id") or {}
    for known, stage in after.items():
        earlier = before.get(was.get(known, known))
        if earlier is not None:
            yield from _compare_list(earlier, stage, "tools", stage=known)


# -- fields -----------------------------------------------------------------------------------------------


def _settings(old: Json, new: Json) -> Iterator[Change]:
    fields = tuple(_fields(_without(old, *_TOP), _without(new, *_TOP), ""))
    fields = tuple(change for change in fields if not change.path.startswith("/metadata/studio"))
    if fields:
        kind = "renamed" if any(change.path in ("/id", "/name") for change in fields) else "changed"
        yield Change(
            kind=cast(Any, kind),
            what="playbook",
            id=new["id"],
            title=f"Playbook {new['name']}",
            fields=fields,
        )


def _fields(before: Any, after: Any, path: str) -> Iterator[FieldChange]:
    """Objects field by field, everything else as one value; absent and null are the same."""
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and before.get("type") == after.get("type"):
        for name in (*before, *(name for name in after if name not in before)):
            yield from _fields(before.get(name), after.get(name), path + pointer(name))
        return
    if before == after and not isinstance(before, bool) and not isinstance(after, bool):
        return  # 1 and 1.0
    yield FieldChange(path=path, before=before, after=after, lines=_lines(before, after))


def _lines(before: Any, after: Any) -> tuple[TextLine, ...]:
    if not isinstance(before, str) or not isinstance(after, str) or "\n" not in before + after:
        return ()
    old, new = before.split("\n"), after.split("\n")
    if len(old) + len(new) > _LONGEST_LINES:
        return ()
    found: list[TextLine] = []
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            found += (TextLine(sign=" ", text=line) for line in old[start:end])
            continue
        found += (TextLine(sign="-", text=line) for line in old[start:end])
        found += (TextLine(sign="+", text=line) for line in new[new_start:new_end])
    return tuple(found)


def _without(value: Json, *names: str) -> Json:
    return {name: inner for name, inner in value.items() if name not in names}


def _title(what: What, entry: Json, document: Json) -> str:
    match what:
        case "stage":
            return f"Stage {stage_title(entry)}"
        case "transition":
            return transition_title(document, entry)
        case _:
            return f"{what.capitalize()} {entry['name']}"


# -- layout -----------------------------------------------------------------------------------------------


def _compare_layout(before: Playbook, after: Playbook, stages: Mapping[str, str]) -> Iterator[Change]:
    old, new = _studio(before), _studio(after)
    places, now = _object(old.get("layout")), _object(new.get("layout"))
    places = {stages.get(name, name): place for name, place in places.items()}
    titles = {stage.id: stage_title({"id": stage.id, "name": stage.name}) for stage in after.stages}
    known = {stages.get(stage.id, stage.id) for stage in before.stages}
    for name in (*now, *(name for name in places if name not in now)):
        # The card of a stage that is new or gone comes and goes with it.
        if places.get(name) != now.get(name) and (name in titles) == (name in known):
            fields = (FieldChange(path="", before=places.get(name), after=now.get(name)),)
            title = f"Card of {titles.get(name, name)}"
            yield Change(kind="moved", what="card", id=name, title=title, fields=fields)
    notes = tuple(_fields(_without(old, "layout"), _without(new, "layout"), ""))
    if notes:
        yield Change(kind="changed", what="notes", id=_STUDIO, title="The editor's notes", fields=notes)


def _studio(playbook: Playbook) -> Json:
    return studio_of({"metadata": playbook.metadata})


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
