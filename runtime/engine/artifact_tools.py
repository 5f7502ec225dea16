"""`SaveArtifact` and `LoadArtifact`: what they do, for the model and as actions of `onEnter` and `onExit`.

Rule: they are answered at once and never fail inside; what cannot be done is an error in words. One that
would change nothing is an error as well, so that a model which repeats itself comes to an end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from runtime.conversation import events as ev
from runtime.conversation.artifacts import CONTENT_NAME, ArtifactRef, find, hash_of, kind_of, short, text_of
from runtime.conversation.messages import ToolCall
from runtime.conversation.snapshot import is_private
from runtime.conversation.state import SessionState
from runtime.engine.artifacts import contents, is_loaded, load, save, setting
from runtime.engine.draft import Draft
from runtime.playbook import Stage
from runtime.playbook.arguments import argument_error
from runtime.playbook.artifact_tools import ARTIFACT_TOOLS, DEFINITIONS, SAVE

SUMMARY: Final = 300
"""Characters of a summary that are kept."""
LISTED: Final = 20
"""Names that an error lists."""
_NAME: Final = re.compile(r"[^\W\d][\w.-]{0,63}")
_PARAMETERS: Final = {tool.name: tool.parameters for tool in DEFINITIONS}

Answer = tuple[Mapping[str, Any] | None, str | None]
"""A result, or an error for who asked."""


def is_answered_here(draft: Draft, call: ToolCall) -> bool:
    """Whether the call is one of these tools, offered now."""
    return draft.row.offers_artifacts and call.name in ARTIFACT_TOOLS


def answer(draft: Draft, call: ToolCall) -> None:
    """Do what the model asks for, and log its one result."""
    draft.log(ev.ToolCallStart, call_id=call.call_id, name=call.name, arguments=call.arguments)
    result, error = perform(draft, draft.row.stage, call.name, call.arguments)
    draft.log(
        ev.ToolCallComplete,
        call_id=call.call_id,
        tool_name=call.name,
        success=error is None,
        result=result,
        error=error,
    )


def perform(draft: Draft, stage: Stage, tool: str, given: Mapping[str, Any] | None) -> Answer:
    """Do it for the current frame, which is in `stage` or about to be; what it gives."""
    whole = None if given is None else {**given, **contents(draft, {"value": given.get("value")})}
    problem = argument_error(_PARAMETERS[tool], whole if tool == SAVE else given)
    if problem is not None or given is None or whole is None:
        return None, problem
    return _save(draft, whole) if tool == SAVE else _load(draft, stage, given)


def _save(draft: Draft, given: Mapping[str, Any]) -> Answer:
    name, value = given["name"], given["value"]
    problem = _name_problem(draft.state, name)
    if problem is None and value is None:
        problem = "There is nothing to save: the value is null."
    if problem is not None:
        return None, problem
    summary = short(given["summary"], SUMMARY)
    known = draft.state.artifacts.get(name)
    if known is not None and _is(known, value, summary):
        return None, f"The artifact {name!r} has this content already."
    saved = save(draft, value, name, summary)
    return {"artifact": name, "type": saved.kind, "characters": saved.length}, None


def _is(known: ArtifactRef, value: Any, summary: str) -> bool:
    return known.hash == hash_of(kind_of(value), text_of(value)) and known.summary == summary


def _name_problem(state: SessionState, name: str) -> str | None:
    if _NAME.fullmatch(name) is None or is_private(name) or CONTENT_NAME.fullmatch(name):
        return f"{name[:80]!r} is no name for an artifact: take a word with letters, digits, _ . and -."
    if name in state.variables:
        return f"{name!r} is a variable. Choose another name."
    return None


def _load(draft: Draft, stage: Stage, given: Mapping[str, Any]) -> Answer:
    name, state = given["name"], draft.state
    artifact = find(name, state.artifacts, state.variables)
    if artifact is None:
        known = [known for known in state.artifacts if not is_private(known)]
        return None, f"There is no artifact {name[:80]!r}. There are: {', '.join(known[:LISTED]) or 'none'}."
    preview: int = setting(draft, stage, "artifact_preview")
    if int(given.get("offset") or 0) < 0 or given.get("length", 1) < 1:
        return None, "offset counts from 0, length from 1."
    offset, length = _part(given, artifact, preview)
    if offset >= artifact.length > 0:
        return None, f"The artifact has {artifact.length:,} characters; the first one is 0."
    if is_loaded(state, artifact, preview) or not load(draft, artifact, offset, length):
        return None, "It stands in the conversation already; read it there."
    shown = artifact.length if length is None else min(offset + length, artifact.length)
    return {"artifact": artifact.name, "from": offset, "to": shown, "of": artifact.length}, None


def _part(given: Mapping[str, Any], artifact: ArtifactRef, preview: int) -> tuple[int, int | None]:
    """Which part is asked for, at most as long as may be loaded at once. None: all, or head and tail."""
    offset, length = int(given.get("offset") or 0), given.get("length")
    if length is None and given.get("offset") is None:
        return 0, None
    taken = min(int(length) if length is not None else preview, preview)
    return (0, None) if offset == 0 and taken >= artifact.length else (offset, taken)
