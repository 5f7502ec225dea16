"""What the rehearsal model can see: the window's texts, and nothing that a real model would not be sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.context.artifacts import read_artifact
from runtime.context.instructions import StageInstructions, read_instructions
from runtime.context.window import ContextWindow
from runtime.conversation.segments import Segment
from runtime.playbook.engine_tools import RESERVED_TOOLS, TRANSITION_TOOL

_STATE = re.compile(r"^State \d+(?: \([0-9a-f]+\), complete|, changes to state \d+ \([0-9a-f]+\)): ")
_RETURNED: Final = re.compile(
    r"Called (?:stage|agent) «(?P<name>.*)» (?:has returned .*\nValue: (?P<value>.*)|failed: (?P<error>.*))"
)
_AGENT_NUMBER: Final = re.compile(r"\(agent \d+\)$")
_NO_CALLS: Final = ("call no tool", "no tool call", "without calling")
_NOWHERE: Final = StageInstructions(name="", tools=(), targets=(), prompt="")


@dataclass(frozen=True, slots=True)
class Result:
    """A tool call of the conversation and what it gave."""

    tool: str
    arguments: Mapping[str, Any]
    success: bool
    value: Any
    """The result as JSON where it is JSON, else its text."""


@dataclass(frozen=True, slots=True)
class View:
    """The conversation as the rehearsal model understands it."""

    stage: StageInstructions = _NOWHERE
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Tools that the stage lists, by name, without the engine's own."""
    user: str = ""
    """What the user said and nobody answered; empty where nobody spoke."""
    earlier: tuple[str, ...] = ()
    """The user's messages before that one, newest first."""
    here: tuple[Result, ...] = ()
    """Results since the user's message, in this stage; of transitions only the refused ones."""
    turn: tuple[Result, ...] = ()
    """Results since the user's message, in any stage."""
    past: tuple[Result, ...] = ()
    """All results of the window but transitions, oldest first."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the stage was given on the way in, or back."""
    back: str = ""
    """The name of the stage or the agent that was called and has returned since the last reply."""
    returned: Mapping[str, Any] = field(default_factory=dict)
    """The value that it gave; its `error` if it failed."""
    loaded: Any = None
    """The content of the artifact that was loaded last, where all of it stands in the window."""
    replies: int = 0
    """Replies of the model in the window."""
    replies_here: int = 0
    """Replies since the current stage began."""
    may_call: bool = True
    moved: bool = False
    """The model's own last call in this turn was a transition."""


def read_view(window: ContextWindow) -> View:
    """Reads a window's texts."""
    segments = window.segments
    stage_at, stage = _stage(segments)
    entered_at = _entered(segments, stage_at)
    user_at = _last(segments, _is_user)
    reply_at = _last(segments, _is_reply)
    start = max(user_at, reply_at, _last(segments, _is_nobody))
    back, returned = _returned(segments[reply_at + 1 :])
    past = [result for result in _results(segments, 0) if result.tool != TRANSITION_TOOL]
    turn = _results(segments, start + 1)
    said = [segment.text for segment in segments if _is_user(segment)]
    answered = reply_at > user_at
    return View(
        stage=stage,
        tools=_tools(segments, stage),
        user="" if answered or not said else said[-1],
        earlier=tuple(reversed(said if answered else said[:-1])),
        here=tuple(r for r in _results(segments, max(start, entered_at) + 1) if _counts(r)),
        turn=tuple(turn),
        past=tuple(past),
        variables=_variables(segments),
        data=_data(stage),
        back=back,
        returned=returned,
        loaded=_loaded(segments),
        replies=sum(1 for segment in segments if _is_reply(segment)),
        replies_here=sum(1 for segment in segments[entered_at + 1 :] if _is_reply(segment)),
        may_call=not _calls_forbidden(segments),
        moved=bool(turn) and turn[-1].tool == TRANSITION_TOOL,
    )


def _last(segments: Sequence[Segment], matches: Any) -> int:
    return max((index for index, segment in enumerate(segments) if matches(segment)), default=-1)


def _is_user(segment: Segment) -> bool:
    return segment.kind == "dialogue" and segment.role == "user"


def _is_nobody(segment: Segment) -> bool:
    return segment.kind == "injected" and segment.text in ("[continue]", "[conversation starts]")


def _is_reply(segment: Segment) -> bool:
    return segment.kind == "dialogue" and segment.role == "assistant"


def _stage(segments: Sequence[Segment]) -> tuple[int, StageInstructions]:
    """The newest instructions; where they only refer to a text above, that text."""
    found = [(i, read_instructions(s.text)) for i, s in enumerate(segments) if s.kind in ("stage", "base")]
    known = [(index, instructions) for index, instructions in found if instructions is not None]
    if not known:
        return -1, _NOWHERE
    index, current = known[-1]
    if not current.repeats:
        return index, current
    above = [i for _, i in known if i.name == current.name and not i.repeats]
    prompt = above[-1].prompt if above else ""
    return index, StageInstructions(current.name, current.tools, current.targets, prompt, current.data)


def _entered(segments: Sequence[Segment], stage_at: int) -> int:
    """Where the current stage began: at its instructions or, where the layout keeps those at the head, at the
    newest state frame that tells another call stack."""
    if stage_at >= 0 and segments[stage_at].kind == "stage":
        return stage_at
    entered, stack = -1, None
    for index, body in _state_frames(segments):
        if body.get("call_stack", stack) != stack:
            entered, stack = index, body["call_stack"]
    return entered


def _tools(segments: Sequence[Segment], stage: StageInstructions) -> dict[str, Mapping[str, Any]]:
    defined = {
        tool["name"]: tool
        for segment in segments
        if segment.kind == "tools"
        for tool in json.loads(segment.text)
    }
    return {name: defined[name] for name in stage.tools if name in defined and name not in RESERVED_TOOLS}


def _results(segments: Sequence[Segment], start: int) -> list[Result]:
    calls: dict[str, tuple[str, Any]] = {}
    artifacts = dict(read_artifact(segment) for segment in segments if segment.kind == "artifact")
    found = []
    for index, segment in enumerate(segments):
        if segment.kind == "tool_call":
            content = json.loads(segment.text)
            calls[segment.meta["callId"]] = (content["name"], content["arguments"])
        elif segment.kind == "tool_result" and index >= start and segment.meta["callId"] in calls:
            name, arguments = calls[segment.meta["callId"]]
            success = bool(segment.meta.get("success", True))
            text = artifacts.get(segment.meta.get("artifact", "")) or segment.text
            found.append(Result(name, arguments, success, as_json(text)))
    return found


def _data(stage: StageInstructions) -> Mapping[str, Any]:
    data = as_json(stage.data)
    return data if isinstance(data, dict) else {}


def _returned(segments: Sequence[Segment]) -> tuple[str, Mapping[str, Any]]:
    """Of the newest summary of a called stage or agent: its name, and its value."""
    last = _last(segments, lambda segment: segment.kind == "summary" and _RETURNED.match(segment.text))
    match = _RETURNED.match(segments[last].text) if last >= 0 else None
    if match is None:
        return "", {}
    name = _AGENT_NUMBER.sub("", match["name"])
    if match["error"] is not None:
        return name, {"error": match["error"]}
    value = as_json(match["value"])
    return name, value if isinstance(value, dict) else {}


def _loaded(segments: Sequence[Segment]) -> Any:
    last = _last(segments, lambda segment: segment.kind == "artifact")
    text = read_artifact(segments[last])[1] if last >= 0 else None
    return as_json(text) if text is not None else None


def _counts(result: Result) -> bool:
    return result.tool != TRANSITION_TOOL or not result.success


def as_json(text: str) -> Any:
    """The JSON value of a text, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _state_frames(segments: Sequence[Segment]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Where each state frame stands, and what it says."""
    for index, segment in enumerate(segments):
        match = _STATE.match(segment.text) if segment.kind == "state" else None
        if match is not None:
            yield index, json.loads(segment.text[match.end() :])


def _variables(segments: Sequence[Segment]) -> dict[str, Any]:
    """The variables as the state frames tell them."""
    variables: dict[str, Any] = {}
    for _, body in _state_frames(segments):
        if "variables" in body:
            variables = dict(body["variables"])
        variables.update(body.get("new_variables", {}))
        variables.update(body.get("changed_variables", {}))
        for name in body.get("deleted_variables", ()):
            variables.pop(name, None)
    return variables


def _calls_forbidden(segments: Sequence[Segment]) -> bool:
    last = segments[-1] if segments else None
    return last is not None and last.kind == "tail" and any(words in last.text.lower() for words in _NO_CALLS)
