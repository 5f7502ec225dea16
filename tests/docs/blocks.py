"""The blocks of docs/context.md that are made from real output, each by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from runtime.context.models import record
from runtime.context.prices import price, price_without_caching
from runtime.conversation import events as ev
from runtime.conversation.segments import Segment
from runtime.inspector.calls import CallView
from runtime.playbook import Playbook
from runtime.runner.replay.player import play
from runtime.runner.replay.script import Script
from runtime.runner.terminal.window import window_lines
from runtime.runner.wording import quiet_words
from tests.docs.mystery import calls, events, in_stage, last_of

ROOT: Final = Path(__file__).resolve().parents[2]
WIDTH: Final = 110
PAYS: Final = ("calls", "removed", "summary", "suffix", "read", "write", "saves")


def a_window() -> Iterator[str]:
    """The call after the agent has returned."""
    yield from window_lines(last_of(2))


def a_return() -> Iterator[str]:
    """What the first return of the called stage took out of the window, and what it put there."""
    before = [call for call in in_stage("search") if call.turn == 1][-1]
    after = next(call for call in calls() if call.call == before.call + 1)
    kept = {segment.id for segment in after.segments}
    known = {segment.id for segment in before.segments}
    yield from (f"- {_row(segment)}" for segment in before.segments if segment.id not in kept)
    yield from (f"+ {_row(segment)}" for segment in after.segments if segment.id not in known)


def _row(segment: Any) -> str:
    return _cut(f"{segment.tokens:>5,}  {segment.kind:<11}  {segment.label}")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def a_summary() -> Iterator[str]:
    """The text that stands for the called stage."""
    rewritten = next(event for event in events() if isinstance(event, ev.WindowRewritten))
    summary = next(segment for segment in rewritten.replacement if segment.kind == "summary")
    yield from (_cut(line) for line in summary.text.splitlines())


def state_frames() -> Iterator[str]:
    """The first state frames, cut."""
    yield from (_cut(text) for text in _texts("state")[:5])


def _texts(kind: str) -> list[str]:
    """Texts of all segments of a kind that were ever sent for the assistant itself, in order."""
    added: dict[str, Segment] = {}
    for event in events():
        if isinstance(event, ev.LLMCallStarted) and event.lane.startswith("|"):
            added |= {segment.id: segment for segment in event.added if segment.kind == kind}
    return [segment.text for segment in added.values()]


def artifacts() -> Iterator[str]:
    """How artifacts come and go in the first turn."""
    told = (ev.ArtifactSaved, ev.ArtifactLoaded, ev.ArtifactUnloaded)
    for event in events():
        words = quiet_words(event) if isinstance(event, told) and event.turn == 1 else None
        if words is not None:
            yield _cut(f"{words[0]:<8} {words[1]}")


def an_agent() -> Iterator[str]:
    """The agent's own window."""
    yield from window_lines(in_stage("check")[-1])


def the_calls() -> Iterator[str]:
    """One line a call: its window, and what became of it."""
    yield "call  stage     window   read  written  fresh  cache points"
    for call in calls():
        tokens = sum(segment.tokens for segment in call.segments)
        usage = call.usage or call.predicted
        assert usage is not None
        written = usage.write5m + usage.write1h
        points = ", ".join(f"{_kind_at(call, point.segment)} {point.ttl}" for point in call.cache_points)
        sums = f"{tokens:>7,} {usage.read:>6,} {written:>8,} {usage.fresh:>6,}"
        yield f"{call.call:>4}  {call.stage:<8} {sums}  {points}".rstrip()
    yield from _in_money()


def _in_money() -> Iterator[str]:
    """What that would cost at the prices of the model that the playbook names."""
    model = record("claude-sonnet-5")
    usages = [usage.model_copy(update={"output": 0}) for call in calls() if (usage := call.usage)]
    paid, plain = (sum(of(usage, model) or 0 for usage in usages) for of in (price, price_without_caching))
    tokens = sum(usage.input for usage in usages)
    yield f"{tokens:,} input tokens in {len(usages)} calls. At the prices of {model.label}: ${paid:.3f};"
    yield f"without a cache: ${plain:.3f}. That is {paid / plain:.0%}."


def _kind_at(call: CallView, segment_id: str) -> str:
    return next(segment.kind for segment in call.segments if segment.id == segment_id)


def compactions() -> Iterator[str]:
    """The decisions of a conversation that has too small a window, with their numbers."""
    for event in _small_window():
        if isinstance(event, ev.CompactionPlanned):
            yield _decision(event)


def _decision(event: ev.CompactionPlanned) -> str:
    verdict = "yes" if event.decision else "no"
    shown = ("tokens", "budget", "target", "rest") if event.rule == "must" else PAYS
    numbers = ", ".join(f"{name} {event.numbers[name]:,g}" for name in shown)
    return f"turn {event.turn}  {event.rule:<5} {verdict:<4} {numbers}"


def _small_window() -> list[ev.Event]:
    gallery = ROOT / "builder" / "transfer" / "gallery"
    script = json.loads((ROOT / "docs" / "examples" / "small-window.json").read_text("utf-8"))
    playbook = json.loads((gallery / "research-assistant.json").read_text("utf-8"))
    agent = json.loads((gallery / "agents" / "fact-checker.json").read_text("utf-8"))
    heard: list[ev.Event] = []
    play(
        Playbook.model_validate(playbook),
        Script.model_validate(script),
        lambda item: heard.append(item) if isinstance(item, ev.EventBase) else None,
        agents={"fact-checker": Playbook.model_validate(agent)},
    )
    return heard


BLOCKS: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "window": a_window,
    "return": a_return,
    "summary": a_summary,
    "state": state_frames,
    "artifacts": artifacts,
    "agent": an_agent,
    "calls": the_calls,
    "compactions": compactions,
}
