"""What stands here for LLMRTC's functions: expressions and actions, by their names in `run.mjs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.playbook import Playbook
from tests.llmrtc.case import Case, Json

CONDITIONS: Final[Mapping[str, str]] = {
    "second-turn": "turn.count >= 2",
    "says-order": "turn.assistantMessage.startsWith('Order ')",
    "long-reply": "size(turn.assistantMessage) > 20",
    "in-front": "stage.id == 'front'",
    "looked-for-red": "turn.toolCalls.exists(c, c.name == 'look' && c.arguments.what == 'red')",
    "no-tool-called": "size(turn.toolCalls) == 0",
    "later": "turn.count >= 1",
    "fails": "turn.nothing.of.the.kind",
}
HOOKS: Final = {"onEnter": "on_enter", "onExit": "on_exit"}
"""Hook -> the cause that its changes have in our log."""
NOTED: Final = "noted"
"""The variable in which our hooks note that they were run."""


def written_anew(imported: Playbook, case: Case) -> Playbook:
    """The imported playbook, with what its report asks for: rules and hooks as expressions and actions."""
    document = imported.model_dump(mode="json", by_alias=True, exclude_none=True)
    for rule, theirs in zip(document["transitions"], case.playbook["transitions"], strict=True):
        if theirs["condition"]["type"] == "custom":
            assert rule["disabled"], "the import left a function switched on"
            rule["condition"]["expression"] = CONDITIONS[theirs["condition"]["function"]]
            rule["disabled"] = False
    for stage, theirs in zip(document["stages"], case.playbook["stages"], strict=True):
        for hook in HOOKS.keys() & theirs.keys():
            stage[hook] = _actions(theirs[hook], f"{hook} {stage['id']}")
    return Playbook.model_validate(document)


def _actions(function: str, text: str) -> list[Json]:
    fails = [{"set": {"spoiled": "vars.nothing.of.the.kind"}}] if function == "fails" else []
    return [{"set": {NOTED: repr(text)}}, *fails]


def hook_noted(event: Json) -> str | None:
    """The note, where an event is a hook's."""
    if event["type"] != "state_changed" or event["cause"] not in HOOKS.values():
        return None
    note: str | None = event["set"].get(NOTED)
    return note
