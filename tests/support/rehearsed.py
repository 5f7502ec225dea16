"""A gallery playbook, played by the rehearsal model in a time of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from builder.transfer.templates import template_agents, template_document
from runtime import Session
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.state import SessionState
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.source import Connections
from runtime.playbook import Playbook
from runtime.runner.intents import LocalClassifiers
from runtime.runner.memory import MemoryStore
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox


@dataclass
class Played:
    """What a conversation left behind."""

    stages: list[str] = field(default_factory=list)
    rules: list[str | None] = field(default_factory=list)
    tools: list[tuple[str, bool]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    intents: list[str | None] = field(default_factory=list)
    stage: str = ""
    """Where it stands; empty once it is complete."""
    status: str = ""


def rehearsed(slug: str, *said: str | float) -> Played:
    """Says the lines one after the other; a number is that many seconds of silence. Keywords tell intents
    apart, whatever is installed."""
    events, state = talked(slug, *said)
    played = Played(status=state.status, stage=state.frame.stage if state.frame is not None else "")
    for event in events:
        _note(played, event)
    return played


def talked(slug: str, *said: str | float) -> tuple[list[Event], SessionState]:
    """The whole log of such a conversation, and where it stands."""
    store = MemoryStore()
    state = run_virtual(lambda: _talk(slug, store, said))
    return store.events, state


async def _talk(slug: str, store: MemoryStore, said: Sequence[str | float]) -> SessionState:
    document = template_document(slug)
    assert document is not None, f"The gallery has no {slug}."
    agents = template_agents(document)
    clock = VirtualClock(datetime(2026, 11, 30, 9, tzinfo=UTC))
    session = Session(
        Playbook.model_validate(document),
        agents={name: Playbook.model_validate(agent) for name, agent in agents.items()},
        llms=Connections({}, rehearsal=RehearsalLLM(sleep=clock.sleep, now=clock.now)),
        tools=ToolBox(clock.sleep),
        store=store,
        clock=clock,
        session_id="played",
        classifiers=LocalClassifiers("keyword"),
    )
    await session.start()
    for line in said:
        if isinstance(line, str):
            await session.send(line)
        else:
            await _wait(session, clock, line)
    return session.state


async def _wait(session: Session, clock: VirtualClock, seconds: float) -> None:
    """Lets time pass; a timer fires when it is due."""
    end = clock.now() + timedelta(seconds=seconds)
    while clock.now() < end:
        due = min(session.next_wake or end, end)
        await clock.sleep(max(0.0, (due - clock.now()).total_seconds()))
        await session.tick()


def _note(played: Played, event: Event) -> None:
    assert not isinstance(event, ev.TurnFailed), event
    match event:
        case ev.StageEntered():
            played.stages.append(event.stage)
        case ev.TransitionTriggered():
            played.rules.append(event.transition)
        case ev.ToolCallComplete() if event.tool_name != "playbook_transition":
            played.tools.append((event.tool_name, event.success))
        case ev.TurnComplete():
            played.replies.append(event.text)
        case ev.IntentClassified():
            played.intents.append(event.intent if event.confidence >= 0.6 else None)
