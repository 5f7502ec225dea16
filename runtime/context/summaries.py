"""The segment that stands for a called frame once it returned: by the model's own words, else by rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
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
LEAST_CHARACTERS: Final = 400
CHARACTERS_A_TOKEN: Final = 2
MOST_CHARACTERS: Final = 6_000
"""Of a summary of turns; between the two, as many as the tokens it stands for."""
_CONTINUED: Final = ("Summary by rules of the conversation", "Tools called here", "… ")


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened in a frame, in order, whether it was sent or not."""

    said: tuple[tuple[str, str], ...]
    """(role, text) of every message with text."""
    calls: tuple[tuple[str, str], ...]
    """(call, short result) of every tool call but the engine's own."""
    stages: tuple[str, ...]
    by_id: tuple[tuple[str, tuple[str, str]], ...] = ()
    """(call id, (call, short result)) of every tool call."""


def return_summary(
    maker: SegmentMaker,
    playbook: Playbook,
    popped: Popped,
    replaced: Sequence[Segment],
    *,
    by_rules: bool = False,
) -> Segment:
    """The summary of a returned frame or agent, with its value; `replaced`: its segments that were sent.
    `by_rules`: also where the model gave one."""
    name, given = _name(playbook, popped), "" if by_rules else (popped.event.summary or "").strip()
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


def written_summary(maker: SegmentMaker, by_rules: Segment, text: str) -> Segment:
    """A model's words in place of a summary by rules; what stands above those, as the value, stays."""
    lines = list(takewhile(lambda line: not line.startswith("Summary by rules"), by_rules.text.splitlines()))
    return maker.make(
        f"{by_rules.id}.written",
        "summary",
        "user",
        "\n".join([*lines, f"Summary: {text.strip()}"]),
        sources=by_rules.sources,
        frame=by_rules.frame,
        stage=by_rules.stage,
        label=by_rules.label.replace("by rules", "by a model"),
        meta={**by_rules.meta, "origin": "llm"},
        replaced=by_rules.replaced,
    )


def _artifacts(playbook: Playbook, popped: Popped, replaced: Sequence[Segment]) -> list[str]:
    """The artifacts that the value refers to and those that were loaded in the frame, which are unloaded."""
    if popped.agent is None:
        loaded = {s.meta["artifact"]: str(s.meta["line"]) for s in replaced if s.kind == "artifact"}
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
            calls[segment.meta["callId"]][1] = short(str(segment.meta.get("line", segment.text)))
    for item in unsent:
        _add_unsent(said, calls, item)
    stages = dict.fromkeys(
        [segment.stage for segment in sent if segment.kind == "stage"] + [item.stage for item in unsent]
    )
    return Trace(
        said=tuple(said),
        calls=tuple((call, result) for call, result in calls.values() if not call.startswith(ENGINE_TOOL)),
        stages=tuple(stage for stage in stages if stage),
        by_id=tuple((call_id, (call, result)) for call_id, (call, result) in calls.items()),
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


def turns_summary(
    maker: SegmentMaker,
    segment_id: str,
    gone: Sequence[Segment],
    frame: str | None,
    rule: str,
    room: int | None = None,
) -> Segment:
    """What stands for whole turns that are replaced: a line for each thing said or done, the newest where
    not all fit into about `room` tokens. Earlier summaries go on in it."""
    turns = sum(1 for segment in gone if segment.kind == "dialogue" and segment.role == "user")
    tokens = sum(segment.tokens for segment in gone)
    most = min(tokens, MOST_CHARACTERS if room is None else room * CHARACTERS_A_TOKEN, MOST_CHARACTERS)
    lines = _newest(_turn_lines(gone), max(LEAST_CHARACTERS, most))
    return maker.make(
        segment_id,
        "summary",
        "user",
        "\n".join([f"Summary by rules of the conversation up to here ({turns} user messages).", *lines]),
        sources=tuple(sorted({source for segment in gone for source in segment.sources})),
        frame=frame,
        label=f"summary of {turns} user messages by rules",
        meta={"origin": "rules", "compacted": True},
        replaced=Replaced(
            what=f"{turns} user messages and what followed",
            tokens=tokens,
            rule=rule,
            segments=tuple(segment.id for segment in gone),
        ),
    )


def _turn_lines(gone: Sequence[Segment]) -> list[str]:
    calls = dict(_trace(gone, ()).by_id)
    lines: list[str] = []
    for segment in gone:
        if segment.kind in ("dialogue", "injected"):
            who = "User" if segment.role == "user" else "You"
            lines.append(f"{who}: {short(segment.text)}")
        elif segment.kind == "tool_call" and segment.meta["toolName"] != ENGINE_TOOL:
            call, result = calls[segment.meta["callId"]]
            lines.append(f"Tool {call} gave {result}")
        elif segment.kind == "summary":
            lines += [line for line in segment.text.splitlines() if not line.startswith(_CONTINUED)]
    return lines


def _newest(lines: Sequence[str], most: int) -> list[str]:
    """The last lines that have at most so many characters together."""
    kept: list[str] = []
    for line in reversed(lines):
        most -= len(line) + 1
        if most < 0:
            break
        kept.append(line)
    left_out = len(lines) - len(kept)
    return ([f"… {left_out} earlier lines left out"] if left_out else []) + kept[::-1]


def tools_summary(maker: SegmentMaker, segment_id: str, gone: Sequence[Segment], rule: str) -> Segment | None:
    """What stands for the tool traffic of a visit that is over; None if only the engine's own tool was
    called."""
    calls = _trace(gone, ()).calls
    if not calls:
        return None
    lines = _newest([f"Tool {call} gave {result}" for call, result in calls], MOST_CHARACTERS)
    return maker.make(
        segment_id,
        "summary",
        "user",
        "\n".join(["Tools called here, in short.", *lines]),
        sources=tuple(sorted({source for segment in gone for source in segment.sources})),
        frame=gone[0].frame,
        stage=gone[0].stage,
        label=f"{len(calls)} tool calls in short",
        meta={"origin": "rules", "compacted": True},
        replaced=Replaced(
            what=f"{len(calls)} tool calls with their results",
            tokens=sum(segment.tokens for segment in gone),
            rule=rule,
            segments=tuple(segment.id for segment in gone),
        ),
    )


def _call_line(segment: Segment) -> str:
    return _line(segment.meta["toolName"], json.loads(segment.text)["arguments"])


def _line(name: str, arguments: Any) -> str:
    return f"{name}({short(canonical(arguments))})"


def short(text: str, limit: int = SHORT) -> str:
    """One line of at most `limit` characters; the cut is marked."""
    return one_line(text, limit)
