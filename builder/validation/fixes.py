"""Repairs that one click does: a small closed set of commands on a document, as data.

The editor applies the same commands (`frontend/src/playbook/fixes.ts`); both are held to the cases in
`frontend/src/playbook/fixes.cases.json`. What a command names may be gone or changed when it is applied: it
then changes nothing. A place is named by an id where it has one; a pointer comes with what stood there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

from pydantic import Field

from runtime.conversation.base import Value

FixCommand = Literal[
    "connect",
    "setInitialStage",
    "changeStageId",
    "updateStage",
    "updateTransition",
    "removeTransition",
    "renameTool",
    "declareVariable",
    "replaceAt",
    "removeAt",
    "renameAt",
]
Json = dict[str, Any]


class Fix(Value):
    """A repair: the name of a command, the words on its button, and its arguments."""

    command: FixCommand
    label: str
    args: dict[str, Any] = Field(default_factory=dict)


def connect(label: str, source: str, target: str) -> Fix:
    """A transition that the model decides, from one stage to another."""
    return Fix(command="connect", label=label, args={"from": source, "target": target})


def update_stage(label: str, stage: str, changes: Json) -> Fix:
    """Sets fields of a stage; None takes one away."""
    return Fix(command="updateStage", label=label, args={"id": stage, "changes": changes})


def update_transition(label: str, transition: str, changes: Json) -> Fix:
    """Sets fields of a transition; None takes one away."""
    return Fix(command="updateTransition", label=label, args={"id": transition, "changes": changes})


def remove_transition(label: str, transition: str) -> Fix:
    """Takes a transition out."""
    return Fix(command="removeTransition", label=label, args={"id": transition})


def rename_tool(name: str, wanted: str) -> Fix:
    """Another name for a tool, wherever it is defined, waited for, called or chosen."""
    return Fix(command="renameTool", label=f"Call it “{wanted}”", args={"name": name, "wanted": wanted})


def declare_variable(name: str) -> Fix:
    """Adds a variable to the playbook's."""
    return Fix(command="declareVariable", label=f"Declare “{name}”", args={"name": name})


def replace_at(label: str, path: str, was: Any, value: Any) -> Fix:
    """Puts a value where `was` stands; `was` of None means that nothing stands there yet."""
    return Fix(command="replaceAt", label=label, args={"path": path, "was": was, "value": value})


def remove_at(label: str, path: str, was: Any) -> Fix:
    """Takes away what stands there. Of an object, `was` needs only the fields that tell it from others."""
    return Fix(command="removeAt", label=label, args={"path": path, "was": was})


def rename_at(label: str, path: str, wanted: str) -> Fix:
    """Gives a field another name, unless there is one of that name."""
    return Fix(command="renameAt", label=label, args={"path": path, "wanted": wanted})


def apply_fix(document: Json, fix: Fix) -> Json:
    """The document with the repair, as the editor would make it; the given one is left as it is."""
    changed = copy.deepcopy(document)
    _COMMANDS[fix.command](changed, **{_ARGUMENT.get(name, name): v for name, v in fix.args.items()})
    return changed


def _connect(document: Json, source: str, target: str) -> None:
    rules = document.setdefault("transitions", [])
    rules.append(
        {
            "id": _free_id(f"{source}-to-{target}", {rule["id"] for rule in rules}),
            "from": source,
            "condition": {"type": "llm_decision"},
            "action": {"targetStage": target},
        }
    )


def _free_id(wanted: str, taken: set[str]) -> str:
    number, candidate = 1, wanted
    while candidate in taken:
        number += 1
        candidate = f"{wanted}-{number}"
    return candidate


def _set_initial_stage(document: Json, part: str) -> None:
    if any(entry["id"] == part for entry in document["stages"]):
        document["initialStage"] = part


def _change_stage_id(document: Json, part: str, wanted: str) -> None:
    ids = [entry["id"] for entry in document["stages"]]
    if not wanted or wanted in ids or part not in ids:
        return
    _update(document["stages"], part, {"id": wanted})
    if document["initialStage"] == part:
        document["initialStage"] = wanted
    for rule in document.get("transitions", ()):
        if rule["from"] == part:
            rule["from"] = wanted
        if rule["action"].get("targetStage") == part:
            rule["action"]["targetStage"] = wanted
    layout = _at(document, "/metadata/studio/layout")
    if isinstance(layout, dict) and part in layout:
        layout[wanted] = layout.pop(part)


def _update(entries: list[Json], wanted: str, changes: Json) -> None:
    for entry in entries:
        if entry["id"] == wanted:
            entry.update(changes)
            for name in [name for name, value in changes.items() if value is None]:
                del entry[name]


def _update_stage(document: Json, part: str, changes: Json) -> None:
    _update(document["stages"], part, changes)


def _update_transition(document: Json, part: str, changes: Json) -> None:
    _update(document.get("transitions", []), part, changes)


def _remove_transition(document: Json, part: str) -> None:
    rules = document.get("transitions", [])
    document["transitions"] = [rule for rule in rules if rule["id"] != part]


def _rename_tool(document: Json, name: str, wanted: str) -> None:
    """The definitions, and all that refers to them; prompts are the author's."""
    tools = list(document.get("globalTools", ()))
    actions: list[Json] = []
    for stage in document["stages"]:
        tools += stage.get("tools", ())
        actions += [*stage.get("onEnter", ()), *stage.get("onExit", ())]
        choice = stage.get("toolChoice")
        if isinstance(choice, dict):
            _rename(choice, "name", name, wanted)
    for tool in tools:
        _rename(tool, "name", name, wanted)
    for action in actions:
        _rename(action, "call", name, wanted)
    for rule in document.get("transitions", ()):
        _rename(rule["condition"], "toolName", name, wanted)


def _rename(part: Json, field: str, name: str, wanted: str) -> None:
    if part.get(field) == name:
        part[field] = wanted


def _declare_variable(document: Json, name: str) -> None:
    variables = document.setdefault("variables", [])
    if all(variable["name"] != name for variable in variables):
        variables.append({"name": name})


def _replace_at(document: Json, path: str, was: Any, value: Any) -> None:
    holder, key = _holder(document, path)
    if isinstance(holder, dict) and _fits(holder.get(key), was):
        holder[key] = copy.deepcopy(value)
    elif (
        isinstance(holder, list) and (index := _index(holder, key)) is not None and _fits(holder[index], was)
    ):
        holder[index] = copy.deepcopy(value)


def _remove_at(document: Json, path: str, was: Any) -> None:
    holder, key = _holder(document, path)
    if isinstance(holder, dict) and key in holder and _fits(holder[key], was):
        del holder[key]
    elif (
        isinstance(holder, list) and (index := _index(holder, key)) is not None and _fits(holder[index], was)
    ):
        del holder[index]


def _rename_at(document: Json, path: str, wanted: str) -> None:
    holder, key = _holder(document, path)
    if isinstance(holder, dict) and key in holder and wanted not in holder:
        holder[wanted] = holder.pop(key)


def _fits(value: Any, was: Any) -> bool:
    """Whether that stood there; an object may have more fields than are asked for."""
    if isinstance(was, dict):
        return isinstance(value, dict) and all(name in value and value[name] == was[name] for name in was)
    return bool(value == was)


def _holder(document: Json, path: str) -> tuple[Any, str]:
    above, _, last = path.rpartition("/")
    return _at(document, above), _unescaped(last)


def _at(document: Any, path: str) -> Any:
    value = document
    for part in path.split("/")[1:]:
        if isinstance(value, list) and (index := _index(value, part)) is not None:
            value = value[index]
        else:
            value = value.get(_unescaped(part)) if isinstance(value, dict) else None
    return value


def _index(entries: list[Any], part: str) -> int | None:
    return int(part) if part.isascii() and part.isdecimal() and int(part) < len(entries) else None


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


_ARGUMENT: Final[Mapping[str, str]] = {"from": "source", "id": "part"}
_COMMANDS: Final[Mapping[FixCommand, Callable[..., None]]] = {
    "connect": _connect,
    "setInitialStage": _set_initial_stage,
    "changeStageId": _change_stage_id,
    "updateStage": _update_stage,
    "updateTransition": _update_transition,
    "removeTransition": _remove_transition,
    "renameTool": _rename_tool,
    "declareVariable": _declare_variable,
    "replaceAt": _replace_at,
    "removeAt": _remove_at,
    "renameAt": _rename_at,
}
FIX_COMMANDS: Final[tuple[FixCommand, ...]] = get_args(FixCommand)
