"""The segment that stands for a called frame once it returned: by the model's own words, else by rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.context.artifacts import artifact_line
from runtime.context.segments import SegmentMaker, result_text
from runtime.conversation.artifacts import short as one_line
from runtime.conversation.events import LLMCallCompleted, ToolCallComplete, UserMessageEvent
from runtime.conversation.segments import Replaced, Segment
from runtime.conversation.snapshot import canonical
from runtime.conversation.windows import Pending, Popped
from runtime.playbook import Playbook
from runtime.playbook.artifact_tools import ever_offers_artifact_tools

SHORT: Final = 160
ENGINE_TOOL: Final = "playbook_transition"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened in a frame, in order, whether it was sent or not."""

    said: tuple[tuple[str, str], ...]
    """(role, text) of every message with text."""
    calls: tuple[tuple[str, str], ...]
    """(call, short result) of every tool call but the engine's own."""
    stages: tuple[str, ...]


def return_summary(
    maker: SegmentMaker, playbook: Playbook, popped: Popped, replaced: Sequence[Segment]
) -> Segment:
    """The summary of a returned frame or agent, with its value; `replaced`: its segments that were sent."""
    name, given = _name(playbook, popped), (popped.event.summary or "").strip()
    lines = _lines(popped, name, given, _trace(replaced, popped.unsent))
    lines += _artifacts(playbook, popped, replaced)
    tokens = sum(segment.tokens for segment in replaced if segment.kind not in ("tools", "base"))
    return maker.make(
        f"summary.{popped.event.frame}",
        "summary",
        "user",
        "\n".join(lines),
        sources=(popped.event.seq,),
        frame=popped.caller,
        stage=popped.event.stage,
        label=f"«{name}»: summary {'given by the model' if given else 'by rules'}",
        meta={"frame": popped.event.frame, "origin": "model_given" if given else "rules"},
        replaced=Replaced(
            what=f"the trace of «{name}»",
            tokens=tokens,
            rule="return",
            segments=tuple(segment.id for segment in replaced),
        ),
    )


def _artifacts(playbook: Playbook, popped: Popped, replaced: Sequence[Segment]) -> list[str]:
    """The artifacts that the value refers to and those that were loaded in the frame, which are unloaded."""
    if popped.agent is None:
        loaded = {s.meta["artifact"]: s.text.partition("\n")[0] for s in replaced if s.kind == "artifact"}
        waiting = [item.artifact for item in popped.unsent if item.artifact is not None]
    else:
        loaded, waiting = {}, []  # an agent's artifacts go with it
    listed = loaded | {artifact.name: artifact_line(artifact) for artifact in (*waiting, *popped.artifacts)}
    if not listed:
        return []
    readable = ever_offers_artifact_tools(playbook)
    how = "Artifacts, not loaded now (LoadArtifact reads one):" if readable else "Artifacts, not loaded now:"
    return [how, *(f"- {line}" for line in listed.values())]


def _name(playbook: Playbook, popped: Popped) -> str:
    if popped.agent is not None:
        return popped.agent
    stage = playbook.stage(popped.event.stage)
    return stage.name if stage is not None else popped.event.stage


def _lines(popped: Popped, name: str, given: str, trace: Trace) -> list[str]:
    event, what = popped.event, "agent" if popped.agent is not None else "stage"
    if event.reason == FAILED:
        error = event.value.get("error") if isinstance(event.value, dict) else None
        return [f"Called {what} «{name}» failed: {short(str(error or 'no reason was given'))}"]
    lines = [f"Called {what} «{name}» has returned ({_reason(event.reason)})."]
    lines.append(f"Value: {canonical(event.value)}")
    return lines + ([f"Summary: {given}"] if given else _by_rules(trace, popped.variables))


def _reason(reason: str) -> str:
    return "as asked" if reason == "return" else " ".join(reason.replace("_", " ").split())


def _by_rules(trace: Trace, variables: Sequence[str]) -> list[str]:
    """Stage, turns, variables, tools with short results, last words on each side; nothing is made up."""
    turns = sum(1 for role, _ in trace.said if role == "user")
    lines = [f"Summary by rules. Stages: {', '.join(trace.stages) or 'none'}. User messages: {turns}."]
    if variables:
        lines.append(f"Variables set: {', '.join(variables)}")
    lines += [f"Tool {call} gave {result}" for call, result in trace.calls]
    for role in ("user", "assistant"):
        last = [text for said, text in trace.said if said == role]
        if last:
            lines.append(f"Last words of the {role}: {short(last[-1])}")
    return lines


def _trace(sent: Sequence[Segment], unsent: Sequence[Pending]) -> Trace:
    said: list[tuple[str, str]] = [
        (segment.role, segment.text) for segment in sent if segment.kind in ("dialogue", "injected")
    ]
    calls: dict[str, list[str]] = {}
    for segment in sent:
        if segment.kind == "tool_call":
            calls[segment.meta["callId"]] = [_call_line(segment), "no result"]
        elif segment.kind == "tool_result" and segment.meta["callId"] in calls:
            calls[segment.meta["callId"]][1] = short(segment.text)
    for item in unsent:
        _add_unsent(said, calls, item)
    stages = dict.fromkeys(
        [segment.stage for segment in sent if segment.kind == "stage"] + [item.stage for item in unsent]
    )
    return Trace(
        said=tuple(said),
        calls=tuple((call, result) for call, result in calls.values() if not call.startswith(ENGINE_TOOL)),
        stages=tuple(stage for stage in stages if stage),
    )


def _add_unsent(said: list[tuple[str, str]], calls: dict[str, list[str]], item: Pending) -> None:
    event = item.event
    if isinstance(event, UserMessageEvent):
        said.append(("user", event.text))
    elif isinstance(event, LLMCallCompleted):
        if event.message.text.strip():
            said.append(("assistant", event.message.text))
        for call in event.message.tool_calls:
            calls[call.call_id] = [_line(call.name, call.arguments or {}), "no result"]
    elif isinstance(event, ToolCallComplete) and event.call_id in calls:
        artifact = item.artifact
        calls[event.call_id][1] = short(result_text(event) if artifact is None else artifact_line(artifact))


def _call_line(segment: Segment) -> str:
    return _line(segment.meta["toolName"], json.loads(segment.text)["arguments"])


def _line(name: str, arguments: Any) -> str:
    return f"{name}({short(canonical(arguments))})"


def short(text: str, limit: int = SHORT) -> str:
    """One line of at most `limit` characters; the cut is marked."""
    return one_line(text, limit)
