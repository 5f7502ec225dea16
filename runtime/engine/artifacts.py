"""Long values become artifacts, and artifacts come into the window of a frame; what the engine decides of it.

Values longer than the stage's `artifactThreshold` are kept under a name, and a reference goes where the value
would have gone. A failed result never comes here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runtime.conversation import events as ev
from runtime.conversation.artifacts import (
    ArtifactRef,
    automatic_summary,
    find,
    hash_of,
    kind_of,
    reference,
    referred,
    short,
    text_of,
)
from runtime.conversation.messages import ToolCall
from runtime.conversation.segments import Segment
from runtime.conversation.snapshot import canonical, is_private
from runtime.conversation.state import SessionState
from runtime.conversation.windows import ROOT_AGENT, AgentWindow
from runtime.engine.draft import Draft
from runtime.playbook import Playbook, Stage
from runtime.playbook.policy import artifact_setting

NAME_DIGITS: Final = 8
ARGUMENTS: Final = 80
"""Characters of a call's arguments that an automatic summary shows."""

Part = tuple[str, int, int | None]
"""Content hash, offset, length: what of an artifact is loaded. Length None: all, or head and tail."""


def setting(draft: Draft, stage: Stage, name: str) -> Any:
    """An artifact setting in force for a stage: the session's, else the stage's, else the playbook's."""
    playbook = draft.table.playbook
    return artifact_setting(name, draft.state.using_policy, stage.context, playbook.context)


# -- keeping -----------------------------------------------------------------------------------------------


def is_long(draft: Draft, stage: Stage, value: Any) -> bool:
    """Whether a value has more characters than the stage's threshold, as a model would read it."""
    return _exceeds(value, setting(draft, stage, "artifact_threshold"))


def _exceeds(value: Any, limit: int) -> bool:
    if value is None or isinstance(value, bool | int | float):
        return False
    return referred(value) is None and len(text_of(value)) > limit


def save(draft: Draft, value: Any, name: str, summary: str) -> ArtifactRef:
    """Keep a value under a name; nothing is logged where the same stands under it already."""
    kind, text = kind_of(value), text_of(value)
    digest = hash_of(kind, text)
    known = draft.state.artifacts.get(name)
    if known is None or (known.hash, known.summary) != (digest, summary):
        draft.log(
            ev.ArtifactSaved,
            name=name,
            summary=summary,
            kind=kind,
            length=len(text),
            hash=digest,
            content=value,
        )
    return draft.state.artifacts[name]


def keep(draft: Draft, value: Any, source: str, name: str | None = None) -> ArtifactRef:
    """Keep a value with an automatic summary: under its content's name, or under `name` where no artifact is
    named after that content yet."""
    kind, text = kind_of(value), text_of(value)
    own = _content_name(draft.state, hash_of(kind, text))
    known = draft.state.artifacts.get(own)
    if known is not None:
        return known
    return save(draft, value, name or own, automatic_summary(source, kind, text))


def _content_name(state: SessionState, digest: str) -> str:
    """`a_` and the first digits of the hash; more of them where another content has that name."""
    length = NAME_DIGITS
    while (known := state.artifacts.get(f"a_{digest[:length]}")) is not None and known.hash != digest:
        length += 4
    return f"a_{digest[:length]}"


def kept_result(draft: Draft, stage: Stage, call: ToolCall, result: Any) -> ArtifactRef | None:
    """The artifact that a tool's result became; None for a result that is short."""
    if not is_long(draft, stage, result):
        return None
    return keep(draft, result, f"{call.name}({short(canonical(call.arguments or {}), ARGUMENTS)})")


def kept_variables(draft: Draft, stage: Stage, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values to set variables to, with references for the long ones."""
    return {
        name: reference(keep(draft, value, name, name).name) if is_long(draft, stage, value) else value
        for name, value in values.items()
    }


def parted_variables(draft: Draft, playbook: Playbook) -> tuple[dict[str, Any], dict[str, Any]]:
    """The variables that a playbook begins with, references for the long ones; and those, to be kept."""
    first = playbook.stage(playbook.initial_stage)
    limit = artifact_setting(
        "artifact_threshold", draft.state.using_policy, first.context if first else None, playbook.context
    )
    variables: dict[str, Any] = {variable.name: variable.default for variable in playbook.variables}
    long = {name: value for name, value in variables.items() if _exceeds(value, limit)}
    return {**variables, **{name: reference(name) for name in long}}, long


def keep_variables(draft: Draft, long: Mapping[str, Any]) -> None:
    """Keep the long variables that an agent, or the session, begins with."""
    for name, value in long.items():
        save(draft, value, name, automatic_summary(name, kind_of(value), text_of(value)))


def kept_value(draft: Draft, stage: Stage, value: dict[str, Any]) -> dict[str, Any]:
    """What a frame returns, with references for its longest entries until the rest is not long."""
    kept = dict(value)
    by_length = sorted(kept, key=lambda key: (-len(text_of(kept[key])), key))
    for key in by_length:
        if not is_long(draft, stage, kept):
            break
        if referred(kept[key]) is None and len(text_of(kept[key])) > ARGUMENTS:
            kept[key] = reference(keep(draft, kept[key], f"{key} returned by «{stage.name}»").name)
    return kept


# -- by reference ------------------------------------------------------------------------------------------


def contents(draft: Draft, arguments: Mapping[str, Any], *, private: bool = False) -> dict[str, Any]:
    """Arguments with the content wherever a whole one is `$name` of an artifact or of a variable; with
    `private` (an author's own arguments) of private ones as well. An unknown name stays as it is."""
    return {key: _content(draft.state, value, private) for key, value in arguments.items()}


def _content(state: SessionState, value: Any, private: bool) -> Any:
    if not isinstance(value, str) or not value.startswith("$") or (is_private(value[1:]) and not private):
        return value
    name = value[1:]
    held = state.variables.get(name)
    artifact = state.artifacts.get(name) or state.artifacts.get(referred(held) or "")
    if artifact is not None:
        return artifact.content
    return held if name in state.variables else value


def shown(draft: Draft, stage: Stage, given: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the log has them: what is long stays by its name."""
    return {key: given[key] if is_long(draft, stage, value) else value for key, value in whole.items()}


def pinned(draft: Draft, data: Mapping[str, Any]) -> dict[str, Any]:
    """Data of a transition in which `$name` of an artifact became a reference to its content of now."""
    return {key: _pinned(draft, value) for key, value in data.items()}


def _pinned(draft: Draft, value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    artifact = find(value, draft.state.artifacts, draft.state.variables)
    if artifact is None:
        return value
    own = _content_name(draft.state, artifact.hash)
    return reference(save(draft, artifact.content, own, artifact.summary).name)


# -- loading -----------------------------------------------------------------------------------------------


def load(draft: Draft, artifact: ArtifactRef, offset: int = 0, length: int | None = None) -> bool:
    """Load an artifact, or a range of it, into the current frame; False if that stands in the window."""
    if (artifact.hash, offset, length) in set(_loaded(draft.state)):
        return False
    state = draft.state
    frame = state.frame.id if state.frame is not None else f"f{state.frames_opened + 1}"
    draft.log(ev.ArtifactLoaded, name=artifact.name, frame=frame, offset=offset, length=length)
    return True


def is_loaded(state: SessionState, artifact: ArtifactRef, preview: int) -> bool:
    """Whether all of an artifact stands in the current agent's window."""
    return artifact.length <= preview and (artifact.hash, 0, None) in set(_loaded(state))


def unload_frame(draft: Draft) -> None:
    """The current frame returns: what was loaded in it leaves the window with it."""
    frame = draft.frame.id
    for artifact in list(draft.state.artifacts.values()):
        if artifact.loaded_in == frame:
            draft.log(ev.ArtifactUnloaded, name=artifact.name, frame=frame)


def unload_lost(draft: Draft) -> None:
    """Log what a rewriting took out of the window of the current agent."""
    loaded = [artifact for artifact in draft.state.artifacts.values() if artifact.loaded_in is not None]
    if not loaded:
        return
    standing = {digest for digest, _, _ in _loaded(draft.state)}
    for artifact in loaded:
        if artifact.hash not in standing and artifact.loaded_in is not None:
            draft.log(ev.ArtifactUnloaded, name=artifact.name, frame=artifact.loaded_in)


def _loaded(state: SessionState) -> Iterator[Part]:
    """What stands in the current agent's window, or will with its next request."""
    frame = state.frame
    agent = state.windows.agent((frame.agent if frame is not None else None) or ROOT_AGENT)
    for item in agent.pending:
        if item.artifact is not None and isinstance(item.event, ev.ArtifactLoaded):
            yield item.artifact.hash, item.event.offset, item.event.length
    frames = {frame.id for frame in state.frames}
    for index, segment in enumerate(agent.segments):
        if segment.kind == "artifact" and segment.frame in frames and not _cleared(agent, index, segment):
            yield segment.meta["content"], segment.meta["offset"], segment.meta["length"]


def _cleared(agent: AgentWindow, index: int, segment: Segment) -> bool:
    """Whether a clearing that waits for the next request takes the segment away."""
    return any(
        index < cleared.sent
        and (cleared.is_root or segment.frame == cleared.frame)
        and (cleared.keep_from is None or max(segment.sources, default=0) < cleared.keep_from)
        for cleared in agent.cleared
    )
