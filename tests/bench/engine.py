"""What the engine costs: `python -m tests.bench.engine`. Printed figures and ratios; nothing here is a test.

Times are medians; those of turns are processor times (but for Node's), so that a busy machine shows
less. The same script (in each turn a tool, a move to the other stage, and a reply) is played by our
runner, LLMRTC's orchestrator on Node, and LangGraph. The last two are fetched into `build/`, and
left out, with the reason, if that fails.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from runtime.context.window import ContextWindow
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.messages import AssistantMessage, ToolCall, ToolMessage
from runtime.conversation.state import SessionState
from runtime.engine import step, tables_of
from runtime.engine.draft import Draft
from runtime.engine.effects import CallModel, RunTool
from runtime.engine.happened import Happened, ModelReplied, Start, ToolReplied, UserMessage
from runtime.llm.base import LLMRequest
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import Playbook
from runtime.runner.model_call import ModelCall
from runtime.runner.ports import EventStore
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock, run_virtual
from runtime.tools import ToolBox
from tests.bench.peers import langgraph_times, llmrtc_times
from tests.bench.turns import MODEL, Source, render_nothing
from tests.llmrtc.case import decision, playbook, rule, stage, tool_named

SUPPORT = Path(__file__).parents[2] / "builder" / "transfer" / "gallery" / "customer-support.json"
START = datetime(2026, 1, 1, tzinfo=UTC)
EARLY, LATE, SAMPLE = 40, 1000, 20
"""Turns that are compared, each with the turns before it as its sample."""

# -- steps alone ----------------------------------------------------------------------------------------

Said = str | AssistantMessage
"""What somebody says in a script of the support playbook: the user, or the model."""


def asks(number: int, name: str, **arguments: Any) -> AssistantMessage:
    call = ToolCall(call_id=f"c{number}", name=name, arguments=arguments)
    return AssistantMessage(tool_calls=(call,))


def support_turns(turns: int) -> Iterator[list[Said]]:
    """The way into the conversation, then turns with a tool, every fifth with a move to another stage."""
    yield ["Hi", AssistantMessage(text="Hello. What can I do for you?")]
    yield [
        "Where is my parcel?",
        asks(1, "playbook_transition", targetStage="authentication", reason="A parcel."),
        AssistantMessage(text="Which address is your account under?"),
    ]
    yield [
        "ada@example.org",
        asks(2, "lookup_customer", email="ada@example.org"),
        AssistantMessage(text="Found you."),
        AssistantMessage(text="What can I do?"),
    ]
    here, other = "resolution", "refund"
    yield [
        "The parcel.",
        asks(3, "playbook_transition", targetStage=here, reason="A parcel."),
        AssistantMessage(text="Which order is it?"),
    ]
    for turn in range(4, turns):
        if turn % 5 == 0:
            here, other = other, here
            calls = [asks(turn, "playbook_transition", targetStage=here, reason="They changed their mind.")]
        elif here == "resolution":
            calls = [asks(turn, "find_order", orderNumber="4471")]
        else:
            calls = [asks(turn, "check_refund", orderNumber="4471")]
        yield [f"Order 4471, please ({turn}).", *calls, AssistantMessage(text="It comes on Thursday.")]


def begun(playbook: Playbook, state: SessionState, effect: CallModel, now: datetime) -> SessionState:
    """The call is logged, with a request of no segments; the runner does that, not a step."""
    draft = Draft(tables_of(playbook), state, now)
    log_started(draft, effect)
    return draft.state


def log_started(draft: Draft, effect: CallModel) -> None:
    draft.log(
        ev.LLMCallStarted,
        call=effect.call,
        lane="|scripted|bench",
        phase=effect.phase,
        stage=effect.stage,
        provider="scripted",
        model=MODEL.id,
    )


@dataclass
class Steps:
    """A session of the support playbook, driven by steps alone: nothing is sent, nothing is run."""

    playbook: Playbook
    state: SessionState
    now: datetime = START
    count: int = 0
    seconds: float = 0.0

    def do(self, happened: Happened) -> None:
        self.now += timedelta(seconds=1)
        began = time.perf_counter()
        done = step(self.playbook, self.state, happened, self.now)
        self.seconds += time.perf_counter() - began
        self.state, self.count = done.state, self.count + 1
        for effect in done.effects:
            if isinstance(effect, CallModel):
                self.state = begun(self.playbook, self.state, effect, self.now)
            elif isinstance(effect, RunTool):
                result = {"orderNumber": "4471", "status": "in transit"}
                message = ToolMessage(
                    call_id=effect.call.call_id, tool_name=effect.call.name, success=True, result=result
                )
                self.do(ToolReplied(message))

    def turn(self, said: Sequence[Said]) -> None:
        for one in said:
            if isinstance(one, str):
                self.do(UserMessage(one))
            elif self.state.running is not None:
                self.do(ModelReplied(self.state.calls, one))


def measure_steps() -> None:
    """Steps a second, and what a step costs early and late."""
    playbook = Playbook.model_validate(json.loads(SUPPORT.read_text("utf-8")))
    steps = Steps(playbook, SessionState(session="bench"))
    steps.do(Start({}))
    costs: list[float] = []
    for said in support_turns(LATE + 1):
        count, seconds = steps.count, steps.seconds
        steps.turn(said)
        costs.append((steps.seconds - seconds) / (steps.count - count))
    early, late = median(costs[EARLY - SAMPLE : EARLY]), median(costs[LATE - SAMPLE : LATE])
    typical = median(costs)
    print(f"step, support playbook      {1 / typical:10,.0f} a second ({typical * 1e6:.1f} µs)")
    print(f"  turn {EARLY} against turn {LATE}    × {late / early:8.2f} ({steps.state.seq:,} events)")


# -- turns through the runner ---------------------------------------------------------------------------

LOOK = tool_named(
    "look",
    "order",
    implementation={
        "type": "mock",
        "responses": [{"result": {"state": "on its way", "items": [1, 2, 3]}}],
    },
)
DOCUMENT = playbook(
    stage("front", LOOK),
    stage("back", LOOK),
    rules=[rule("there", "front", decision(), "back"), rule("home", "back", decision(), "front")],
)


def outputs() -> list[list[dict[str, Any]]]:
    """The model's messages in two turns: a tool, a move to the other stage, a reply."""
    return [
        [
            {"tool_calls": [{"id": f"a{turn}", "name": "look", "args": {"order": "A7"}}]},
            {
                "tool_calls": [
                    {
                        "id": f"b{turn}",
                        "name": "playbook_transition",
                        "args": {"targetStage": target, "reason": "They asked for it."},
                    }
                ]
            },
            {"text": "Order A7 is on its way and should arrive in a day or two."},
        ]
        for turn, target in enumerate(("back", "front"))
    ]


class Forgetful:
    """A store that keeps nothing: memory and time are the session's own."""

    async def append(self, events: Sequence[Event]) -> None:
        """Let them go."""


def begin_without_window(call: ModelCall, draft: Draft) -> LLMRequest:
    """In place of `ModelCall._begin`: the call is logged, and sends no window."""
    effect: CallModel = call._effect
    log_started(draft, effect)
    window = ContextWindow("append", "", effect.stage, effect.frame, (), 0, (), ())
    return LLMRequest(session="bench", call=effect.call, model=MODEL.id, window=window)


@contextmanager
def windows(built: bool) -> Iterator[None]:
    if built:
        yield
        return
    with patch.object(ModelCall, "_begin", begin_without_window):
        yield


def session_on(llm: ScriptedLLM, store: EventStore | None = None) -> Session:
    return Session(
        Playbook.model_validate(DOCUMENT),
        llms=Source(llm),
        tools=ToolBox(),
        store=store or Forgetful(),
        clock=VirtualClock(START),
        session_id="bench",
    )


def our_times(turns: int, *, built: bool) -> tuple[list[float], int]:
    """Milliseconds of each turn; the number of segments in the window at the end."""
    times: list[float] = []
    entries = 0

    async def talk() -> None:
        nonlocal entries
        llm = ScriptedLLM([], renderer=render_nothing, model=MODEL)
        session = session_on(llm)
        await session.start()
        script = outputs()
        for turn in range(turns):
            llm.outputs[:] = script[turn % 2]
            llm.requests.clear()
            began = time.process_time()
            await session.send(f"Where is my order number A{turn}?")
            times.append((time.process_time() - began) * 1000)
        entries = len(session.state.windows.agent().segments)

    with windows(built):
        run_virtual(talk)
    return times, entries


def typical(times: Sequence[float], turn: int) -> float:
    return median(times[turn - SAMPLE : turn])


def measure_turns() -> tuple[float, float]:
    """A whole turn, without and with its windows; both in milliseconds."""
    plain, _ = our_times(LATE, built=False)
    built, entries = our_times(150, built=True)
    typical_plain, with_windows = median(plain), typical(built, 150)
    print(f"turn, no windows            {typical_plain:10.2f} ms")
    late = typical(plain, LATE) / typical(plain, EARLY)
    print(f"  turn {EARLY} against turn {LATE}    × {late:8.2f}")
    print(f"turn, windows built         {with_windows:10.2f} ms (behind {entries:,} segments)")
    return typical_plain, with_windows


def measure_memory(sessions: int = 200, turns: int = 3) -> None:
    """What a session holds that waits for its user."""
    kept: list[Session] = []

    async def one(number: int) -> None:
        llm = ScriptedLLM([], renderer=render_nothing, model=MODEL)
        session = Session(
            document,
            llms=Source(llm),
            tools=ToolBox(),
            store=Forgetful(),
            clock=VirtualClock(START),
            session_id=f"s{number}",
        )
        await session.start()
        for turn in range(turns):
            llm.outputs[:] = outputs()[turn % 2]
            await session.send(f"Where is my order number A{turn}?")
        llm.requests.clear()
        kept.append(session)

    async def fill() -> None:
        await one(-1)
        gc.collect()
        tracemalloc.start()
        for number in range(sessions):
            await one(number)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"idle session, {turns} turns       {held / sessions / 1000:10.1f} kB")

    document = Playbook.model_validate(DOCUMENT)
    run_virtual(fill)


# -- beside others --------------------------------------------------------------------------------------


def compare(name: str, measure: Callable[[], list[float]], plain: float, built: float) -> None:
    """One line for another engine; its reason where it cannot be had."""
    try:
        other = median(measure())
    except RuntimeError as reason:
        print(f"{name:28}not measured: {reason}")
        return
    print(f"{name:28}{other:10.2f} ms   ours takes × {plain / other:.2f}, with windows × {built / other:.2f}")


def report() -> None:
    """Prints the figures."""
    measure_steps()
    plain, built = measure_turns()
    measure_memory()
    compare("LLMRTC on Node", lambda: llmrtc_times(DOCUMENT, outputs(), LATE), plain, built)
    compare("LangGraph", lambda: langgraph_times(outputs(), 150), plain, built)


if __name__ == "__main__":
    report()
