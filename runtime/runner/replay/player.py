"""Plays a script: step by step through a real Session, on virtual time, and reports what it saw."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, assert_never

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.fold import fold
from runtime.conversation.history import until_turn
from runtime.conversation.state import SessionState
from runtime.engine import NO_AGENTS
from runtime.inspector.calls import CallLog
from runtime.inspector.efficiency import efficiency
from runtime.playbook import Playbook
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Delta
from runtime.runner.replay.classifiers import PlayedClassifiers
from runtime.runner.replay.model import DEFAULT_MODEL, PlayedLLM, PlayedSource
from runtime.runner.replay.report import CallSeen, End, Item, call_seen
from runtime.runner.replay.script import (
    ForkStep,
    Moment,
    RetryStep,
    Script,
    SetStep,
    StartStep,
    Step,
    StepPart,
    UserStep,
    WaitStep,
)
from runtime.runner.replay.tools import ScriptedTools
from runtime.runner.session import Session, SessionOver
from runtime.runner.virtual_time import NothingWillHappen, VirtualClock, run_virtual
from runtime.tools.toolbox import ToolBox

Tell = Callable[[Item], None]


@dataclass(slots=True)
class Outcome:
    """How a replay went. `problems`: a sentence for everything that went otherwise than the script says."""

    problems: list[str] = field(default_factory=list)
    unused: int = 0


def play(
    playbook: Playbook,
    script: Script,
    tell: Tell,
    *,
    model: str = DEFAULT_MODEL,
    agents: Mapping[str, Playbook] = NO_AGENTS,
) -> Outcome:
    """Plays the script; `tell` hears of every event and call in order, and of the end. Takes no time.

    `model` is for stages that name none; `agents` are the script's, read. Must be called where no event loop
    runs.
    """
    options = script.options.model_dump(by_alias=False, exclude_unset=True)
    context = script.context.model_dump(by_alias=False, exclude_unset=True)
    changed = {
        "options": playbook.options.model_copy(update=options),
        "context": playbook.context.model_copy(update=context),
    }
    runnable = playbook.model_copy(update=changed)

    async def main() -> Outcome:
        return await Player(runnable, script, tell, model, agents).play()

    try:
        return run_virtual(main)
    except NothingWillHappen:
        return Outcome(["The script came to a point from which nothing more could happen."])


class Player:
    """One run of a script."""

    def __init__(
        self, playbook: Playbook, script: Script, tell: Tell, model: str, agents: Mapping[str, Playbook]
    ) -> None:
        self._playbook, self._script, self._tell, self._agents = playbook, script, tell, agents
        self._clock = VirtualClock(script.clock.astimezone(UTC))
        self._llm = PlayedLLM()
        self._llms = PlayedSource(self._llm, model)
        self._classifiers = PlayedClassifiers(script.options)
        self._tools = ScriptedTools(script.tools, ToolBox(self._clock.sleep), self._clock)
        self._outcome = Outcome()
        self._replies: dict[int, str] = {}
        self._failure: str | None = None
        """How the turn of the step that is played failed."""
        self._at_turn_start: Callable[[], None] | None = None
        self._forks = 0
        self._told = 0
        self._store = MemoryStore()
        self._session = self._open(SessionState(session="replay"))

    def _open(self, state: SessionState) -> Session:
        session = Session(
            self._playbook,
            llms=self._llms,
            tools=self._tools,
            store=self._store,
            clock=self._clock,
            session_id=state.session,
            state=state,
            agents=self._agents,
            rng=NoChance(),
            classifiers=self._classifiers,
        )
        session.on(self._hear)
        return session

    async def play(self) -> Outcome:
        """All steps in order, then the end."""
        steps = self._script.chat
        if not (steps and isinstance(steps[0], StartStep)):
            await self._played(0, StartStep(start=True))
        for index, step in enumerate(steps):
            following = steps[index + 1] if index + 1 < len(steps) else None
            if not (isinstance(step, UserStep) and step.interrupt is not None):
                await self._played(index + 1, step, following)
        self._llm.supply(())
        self._outcome.unused = self._llm.unused
        self._tell(self._end())
        await self._session.aclose()
        return self._outcome

    async def _played(self, number: int, step: Step, following: Step | None = None) -> None:
        """One step, and the one that interrupts it."""
        if isinstance(step, StepPart):
            self._llm.supply(step.model)
        try:
            await self._do(number, step, following)
        except SessionOver as error:
            self._failure = str(error)
        interrupting = following if isinstance(following, UserStep) and following.interrupt else None
        self._settle(*((number + 1, interrupting) if interrupting else (number, step)))
        self._report()

    async def _do(self, number: int, step: Step, following: Step | None) -> None:
        session = self._session
        match step:
            case UserStep():
                await self._user(number, step, following)
            case StartStep():
                await session.start(step.data)
            case WaitStep():
                await self._wait(step.wait_s)
            case RetryStep():
                await session.retry()
            case SetStep():
                for name, value in step.set.items():
                    await session.set(name, value)
            case ForkStep():
                self._fork(step.fork.turn)
            case _:
                assert_never(step)

    # -- a turn --------------------------------------------------------------------------------------------

    async def _user(self, number: int, step: UserStep, following: Step | None) -> None:
        self._classifiers.supply(step.intents)
        turn = self._session.send(step.user)
        if isinstance(following, UserStep) and following.interrupt is not None:
            await self._interrupted(number, step, following, following.interrupt, turn)
        elif step.stop is not None:
            await self._during(number, turn, step.stop, self._session.stop)
        else:
            await turn

    async def _interrupted(
        self,
        number: int,
        step: UserStep,
        following: UserStep,
        moment: Moment,
        turn: Coroutine[Any, Any, None],
    ) -> None:
        def switch() -> None:
            self._settle(number, step)
            self._llm.supply(following.model)
            self._classifiers.supply(following.intents)

        async def interrupt() -> None:
            self._at_turn_start = switch
            await self._session.send(following.user, interrupt=True)

        if not await self._during(number, turn, moment, interrupt):
            await interrupt()

    async def _during(
        self,
        number: int,
        turn: Coroutine[Any, Any, None],
        moment: Moment,
        act: Callable[[], Coroutine[Any, Any, None]],
    ) -> bool:
        """Runs the turn, and `act` at that moment of it; False if the turn had ended before."""
        running = asyncio.create_task(turn)
        waiting = asyncio.create_task(self._moment(moment))
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        self._llm.release()
        in_time = not running.done()
        if in_time:
            await act()
        else:
            self._outcome.problems.append(
                f"Step {number}: the turn ended before the moment it was to be cut."
            )
        await running
        return in_time

    async def _moment(self, moment: Moment) -> None:
        if moment.at_chunk is not None:
            await self._llm.reached(moment.at_chunk)
        else:
            await self._clock.sleep((moment.after_ms or 0) / 1000)

    def _settle(self, number: int, step: Step) -> None:
        """Compares how the step went with what the script expects of it."""
        failure, self._failure = self._failure, None
        expected = isinstance(step, StepPart) and step.fails
        if failure is not None and not expected:
            self._outcome.problems.append(f"{_named(number)}: {failure}")
        elif failure is None and expected:
            self._outcome.problems.append(f"{_named(number)} was expected to fail and did not.")

    # -- time, forks ---------------------------------------------------------------------------------------

    async def _wait(self, seconds: float) -> None:
        """Lets time pass; a timer fires when it is due, and what it begins takes its time from the rest."""
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            due = self._seconds_to_timer()
            await self._clock.sleep(left if due is None else min(left, max(due, 0.0)))
            await self._session.tick()
            if due is not None and due <= 0 and self._seconds_to_timer() == due:
                await self._clock.sleep(left)  # a timer that does not want to fire

    def _seconds_to_timer(self) -> float | None:
        wake = self._session.next_wake
        return None if wake is None else (wake - self._clock.now()).total_seconds()

    def _fork(self, turn: int) -> None:
        """Goes on from the end of that turn, in a session of its own."""
        if turn > self._session.state.turn:
            self._failure = f"There is no turn {turn} to fork at yet."
            return
        self._report()
        self._forks += 1
        name = f"replay-{self._forks + 1}"
        kept = [e.model_copy(update={"session": name}) for e in until_turn(self._store.events, turn)]
        self._store.events[:] = kept
        self._told = len(kept)
        self._replies = {number: text for number, text in self._replies.items() if number <= turn}
        self._session = self._open(fold(name, kept))

    # -- what is seen --------------------------------------------------------------------------------------

    def _hear(self, item: Event | Delta) -> None:
        match item:
            case ev.TurnStarted():
                switch, self._at_turn_start = self._at_turn_start, None
                if switch is not None:
                    switch()
            case ev.TurnFailed():
                self._failure = item.message
                self._replies[item.turn] = ""
            case ev.TurnComplete():
                self._replies[item.turn] = item.text
            case ev.TurnInterrupted():
                self._replies[item.turn] = item.shown_text

    def _report(self) -> None:
        """Tells of the events since the last time, and of each call behind the event that ends it."""
        events = self._store.events
        for position in range(self._told, len(events)):
            event = events[position]
            self._tell(event)
            if isinstance(event, ev.LLMCallCompleted | ev.LLMCallFailed):
                call = self._call(event, position)
                if call is not None:
                    self._tell(call)
        self._told = len(events)

    def _call(self, event: ev.LLMCallCompleted | ev.LLMCallFailed, position: int) -> CallSeen | None:
        """None for a call that failed before anything was asked."""
        for earlier in reversed(self._store.events[:position]):
            if isinstance(earlier, ev.LLMCallStarted) and earlier.call == event.call:
                return call_seen(earlier, self._llm.asked[event.call], event)
        return None

    def _end(self) -> End:
        state = self._session.state
        return End(
            stage=self._stage(),
            complete=state.status == "complete",
            variables=dict(state.variables),
            call_stack=tuple(frame.stage for frame in state.frames),
            replies=tuple(text for _, text in sorted(self._replies.items())),
            unused_outputs=self._outcome.unused,
            efficiency=efficiency(CallLog().read_all(self._store.events).sent(or_predicted=True)),
        )

    def _stage(self) -> str:
        frame = self._session.state.frame
        if frame is not None:
            return frame.stage
        completed = [e.stage for e in self._store.events if isinstance(e, ev.SessionComplete)]
        return completed[-1] if completed else self._playbook.initial_stage


def _named(number: int) -> str:
    """A step as the messages call it; the start that no step of the script asks for is 0."""
    return f"Step {number}" if number else "The start (give its outputs in a start step)"


class NoChance:
    """Retries wait exactly their time: a replay is the same each time."""

    def random(self) -> float:
        """No jitter."""
        return 0.0
