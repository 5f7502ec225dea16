"""Session: drives one conversation. Takes an input, calls `step`, stores its events, does its effects.

All steps go through one lock, and each runs to its end whatever is cancelled meanwhile: events are stored
first, then the state moves on, then listeners hear of them. What decides is in `runtime.engine`.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, Self, TypeVar, cast

from runtime.conversation.events import Event
from runtime.conversation.fold import fold
from runtime.conversation.messages import ToolMessage, Usage
from runtime.conversation.state import SessionState
from runtime.engine import NO_AGENTS, step, tables_of, wake_at
from runtime.engine.draft import Draft
from runtime.engine.effects import (
    CallModel,
    CancelModel,
    CancelTools,
    ClassifyIntent,
    Effect,
    RunTool,
    WakeAt,
)
from runtime.engine.happened import (
    Happened,
    ModelFailed,
    Retry,
    Start,
    Stop,
    Tick,
    ToolReplied,
    Use,
    VariableSet,
)
from runtime.engine.happened import UserMessage as UserSaid
from runtime.engine.table import Table
from runtime.llm.base import LLM
from runtime.llm.source import Connections
from runtime.playbook import Playbook, Stage, StageContextPolicy, Transition
from runtime.playbook.storable import storable, storable_text
from runtime.runner.alarm import Alarm
from runtime.runner.clock import SystemClock
from runtime.runner.defaults import OneLLM, Source, document_digest, read, runnable, tools_of
from runtime.runner.intents import Classifiers, LocalClassifiers, classify_message
from runtime.runner.memory import MemoryStore
from runtime.runner.model_call import ModelCall
from runtime.runner.ports import Clock, Delta, EventStore, LLMSource, Random, RunningText, Tools
from runtime.runner.showing import Showing
from runtime.runner.summary_call import SummaryCalls
from runtime.runner.talk import ask, keep_time, stream
from runtime.tools import ToolBox
from runtime.tools.functions import ToolFunction

T = TypeVar("T")
Listener = Callable[[Event | Delta], object]
StopReason = Literal["stop", "interrupt", "process_died", "timeout"]

_CHANCE: Final = random.Random()  # noqa: S311  jitter is no secret; one for all, since each is 2.5 kB

logger = logging.getLogger(__name__)


class SessionOver(Exception):
    """The session is complete: it takes no more messages."""


class Session:
    """One conversation with one playbook. Belongs to one event loop; its turns run one at a time.

    As an async context manager it starts, keeps its timers, and leaves nothing running (docs/embedding.md).
    """

    def __init__(
        self,
        playbook: Playbook,
        *,
        llms: LLMSource,
        tools: Tools,
        store: EventStore,
        clock: Clock,
        session_id: str,
        state: SessionState | None = None,
        agents: Mapping[str, Playbook] = NO_AGENTS,
        rng: Random | None = None,
        classifiers: Classifiers | None = None,
    ) -> None:
        self.playbook = playbook
        self.agents = agents
        """By playbook id, the documents of the agents that the playbook and they may call."""
        self.llms = llms
        self.clock = clock
        self.rng: Random = rng if rng is not None else _CHANCE
        self._tools = tools
        self._classifiers: Classifiers = classifiers if classifiers is not None else LocalClassifiers()
        self._store = store
        self._state = state if state is not None else SessionState(session=session_id)
        self._listeners: list[Listener] = []
        self._stepping = asyncio.Lock()
        self._turns = asyncio.Lock()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._dead: Exception | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._model: asyncio.Task[None] | None = None  # or what classifies before it is called
        self._calling: ModelCall | None = None
        self._tool_tasks: dict[str, asyncio.Task[None]] = {}
        self._alarm = Alarm(clock, self._spawn, self._ring)
        self._showing = Showing(self._tell)
        self._waiting_ids: set[str] = set()
        self._summaries = SummaryCalls(self, self._spawn)
        self._close: Callable[[], Awaitable[None]] | None = None
        self._data: Mapping[str, Any] | None = None
        self.next_wake: datetime | None = wake_at(tables_of(playbook, agents), self._state)
        """When `tick` is wanted while nothing runs; None: never."""

    @classmethod
    def open(
        cls,
        playbook: Source,
        *,
        llm: LLM | None = None,
        tools: Mapping[str, ToolFunction] | None = None,
        data: Mapping[str, Any] | None = None,
        agents: Mapping[str, Source] | None = None,
        store: EventStore | None = None,
        events: Iterable[Event] = (),
        session_id: str = "session",
        clock: Clock | None = None,
    ) -> Self:
        """A session for `async with`, with a default for all but the playbook.

        `llm` answers every stage; without it the connections of the environment do (a key, else the
        rehearsal). `tools` are functions for tools of these names. `data` is what the first stage is entered
        with. `agents` are the playbooks that may be called, by playbook id. `store` keeps the log, in memory
        if there is none; `events` is a log to go on from.
        Raises what `runnable` and `tools_of` of `runtime.runner.defaults` raise.
        """
        called = {name: read(source) for name, source in (agents or {}).items()}
        document, time = runnable(playbook, called), clock or SystemClock()
        connections = Connections() if llm is None else None
        session = cls(
            document,
            llms=connections or OneLLM(cast(LLM, llm)),
            tools=tools_of((document, *called.values()), tools or {}, ToolBox(time.sleep)),
            store=store or MemoryStore(),
            clock=time,
            session_id=session_id,
            state=fold(session_id, events),
            agents=called,
        )
        session._data = data
        session._close = connections.aclose if connections is not None else None
        return session

    async def __aenter__(self) -> Self:
        """Starts the session if it is new, and ends a turn that its stored log left open."""
        try:
            await self.recover()
            await self.start(self._data)
        except BaseException:
            await self.__aexit__()
            raise
        self._spawn(keep_time(self))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancels whatever runs and closes the connections that `open` made."""
        await self.aclose()
        if self._close is not None:
            await self._close()

    @property
    def state(self) -> SessionState:
        """The state, as stored."""
        return self._state

    @property
    def running_text(self) -> RunningText | None:
        """What the call in flight has shown so far; None when none shows text."""
        return self._showing.text

    def on(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event once it is stored, and with every Delta; returns its unsubscribe.

        Listeners are called in order, in the session's loop; one that raises never breaks a turn.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def stage(self, stage_id: str) -> Stage:
        """The stage that an event names, of the playbook that is on top now. Raises LookupError."""
        row = self._current_table().rows.get(stage_id)
        if row is None:
            raise LookupError(f"The playbook has no stage {stage_id!r}.")
        return row.stage

    def transition(self, transition_id: str) -> Transition:
        """The transition that an event names, of the playbook that is on top now. Raises LookupError."""
        rule = self._current_table().transitions.get(transition_id)
        if rule is None:
            raise LookupError(f"The playbook has no transition {transition_id!r}.")
        return rule

    def _current_table(self) -> Table:
        return tables_of(self.playbook, self.agents).current(self._state)

    async def ask(self, text: str) -> str:
        """Say something; the reply. Raises NoReply if its turn failed or was stopped, SessionOver."""
        return await ask(self, text)

    def stream(self, text: str) -> AsyncIterator[Event | Delta]:
        """Say something; what listeners hear of its turn, as it comes."""
        return stream(self, text)

    async def start(self, data: Mapping[str, Any] | None = None) -> None:
        """Enter the initial stage; returns when a stage that speaks at once has spoken."""
        async with self._turns:
            if self._state.status == "new":
                await self._drive(Start(storable(data or {}), document_digest(self.playbook)))

    async def send(self, text: str, *, client_id: str | None = None, interrupt: bool = False) -> None:
        """Say something; returns when its turn has ended, however it ended.

        A second message waits for the first one's turn, or, with `interrupt`, cancels it. A `client_id` that
        was sent before is ignored. Raises SessionOver after the end.
        """
        if client_id is not None and (client_id in self._waiting_ids or client_id in self._state.client_ids):
            return
        self._waiting_ids |= {client_id} if client_id is not None else set()
        try:
            if interrupt:
                await self.stop("interrupt")
            async with self._turns:
                if self._state.status == "complete":
                    raise SessionOver("The session is complete; start a new one.")
                await self._drive(UserSaid(storable_text(text), client_id))
        finally:
            self._waiting_ids.discard(client_id or "")

    async def stop(self, reason: StopReason = "stop") -> None:
        """End the running turn now; nothing more of it is shown. Returns when it has ended."""
        if self._model is not None:
            self._model.cancel()
        await self._drive(Stop(reason, *self._in_flight()))

    async def retry(self) -> None:
        """Take up the failed turn where it failed; returns when it has ended."""
        async with self._turns:
            await self._drive(Retry())

    async def set(self, variable: str, value: Any) -> None:
        """Change a variable."""
        await self.advance(VariableSet(storable_text(variable), storable(value)))

    async def use(
        self,
        model: str | None = None,
        layout: Literal["append", "swap"] | None = None,
        policy: StageContextPolicy | None = None,
    ) -> None:
        """From here on use another model, layout or policy."""
        await self.advance(Use(model, layout, policy))

    async def tick(self) -> None:
        """Let a timer fire that is due; returns when what it began has ended. Nothing while a turn runs."""
        if self._turns.locked() or self.next_wake is None or self.clock.now() < self.next_wake:
            return
        async with self._turns:
            await self._drive(Tick())

    async def recover(self, shown_text: str = "") -> None:
        """End a turn that a process which is gone left running; nothing if there is none."""
        running = self._state.running
        if self._at_rest.is_set() and (running is not None or self._state.moving is not None):
            await self._drive(Stop("process_died", running.call if running else None, shown_text))

    async def aclose(self) -> None:
        """Cancel whatever runs, without a trace in the log: a later `recover` ends the turn."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # What the calls of models use (model_call.Host)

    async def advance(self, happened: Happened) -> None:
        """One step. It runs to its end even if who asked for it is cancelled."""
        await asyncio.shield(self._spawn(self._step(happened)))

    async def log(self, write: Callable[[Draft], T]) -> T:
        """Log events that are no step of the engine; `write` logs them on a draft. Runs to its end, too."""
        return await asyncio.shield(self._spawn(self._write(write)))

    def show(self, call: int, text: str) -> None:
        """Show a piece of the reply to the listeners."""
        self._showing.show(self._state.turn, call, text)

    def show_as_reply(self, call: int, text: str) -> None:
        """The call's message is complete: show its held text where Phase 2 begins, if it begins with it."""
        self._showing.hold(call, text)

    def withdraw(self) -> str:
        """Forget what the call in flight has shown; the text."""
        return self._showing.forget()

    # Steps

    async def _drive(self, happened: Happened) -> None:
        await self.advance(happened)
        await self._at_rest.wait()
        if self._dead is not None:
            raise self._dead

    async def _step(self, happened: Happened) -> None:
        async with self._stepping:
            if self._dead is not None:
                raise self._dead
            if self._summaries.must_end:
                await self._commit_draft(self._summaries.end)
            done = step(self.playbook, self._state, happened, self.clock.now(), self.agents)
            await self._commit(done.state, done.events)
            self._do(done.effects)
            self._notice_rest()

    async def _write(self, write: Callable[[Draft], T]) -> T:
        async with self._stepping:
            if self._dead is not None:
                raise self._dead
            return await self._commit_draft(write)

    async def _commit_draft(self, write: Callable[[Draft], T]) -> T:
        draft = Draft(tables_of(self.playbook, self.agents), self._state, self.clock.now())
        result = write(draft)
        await self._commit(draft.state, draft.events)
        return result

    async def _commit(self, state: SessionState, events: Sequence[Event]) -> None:
        """Store first; only then is it so, and only then do others hear of it."""
        if not events:
            return
        try:
            await self._store.append(events)
        except Exception as error:
            self._die(error)
            raise
        self._state = state
        for event in events:
            self._tell(event)
            self._showing.heard(event, state.turn)
        if state.running is None or state.running.call is None:
            self._showing.forget()

    def _tell(self, item: Event | Delta) -> None:
        for listener in list(self._listeners):
            try:
                listener(item)
            except Exception:
                logger.exception("a listener of session %s raised", self._state.session)

    def _notice_rest(self) -> None:
        if self._state.running is None and self._state.moving is None:
            self._at_rest.set()
            self._summaries.begin()
        else:
            self._at_rest.clear()

    def _die(self, error: Exception) -> None:
        """The log cannot be written: nothing that runs here may go on."""
        self._dead = error
        for task in (self._model, *self._tool_tasks.values()):
            self._cancel(task)
        self._alarm.cancel()
        self._at_rest.set()

    # Effects

    def _do(self, effects: Sequence[Effect]) -> None:
        wake: datetime | None = None
        for effect in effects:
            if isinstance(effect, CallModel):
                self._model = self._spawn(self._call_model(effect))
            elif isinstance(effect, ClassifyIntent):
                self._model = self._spawn(self._classify(effect))
            elif isinstance(effect, RunTool):
                self._tool_tasks[effect.call.call_id] = self._spawn(self._run_tool(effect))
            elif isinstance(effect, CancelModel):
                self._cancel(self._model)
            elif isinstance(effect, CancelTools):
                for call_id in effect.call_ids:
                    self._cancel(self._tool_tasks.pop(call_id, None))
            elif isinstance(effect, WakeAt):
                wake = effect.at
        self.next_wake = wake
        at_work = self._state.running is not None or self._state.moving is not None
        self._alarm.set(wake if at_work else None)

    async def _call_model(self, effect: CallModel) -> None:
        self._calling = ModelCall(self, effect)
        try:
            await self._calling.run()
        except Exception as error:
            if self._dead is not None:
                return
            logger.exception("a call of session %s failed inside", self._state.session)
            await self._fail(effect, error)

    def _in_flight(self) -> tuple[int | None, str, Usage | None, float | None]:
        """The call in flight, what it has shown, and its usage and cost up to now."""
        calling = self._calling
        if calling is None:
            return None, "", None, None
        return calling.call, self._showing.of(calling.call), *calling.used()

    async def _fail(self, effect: CallModel, error: Exception) -> None:
        sentence = f"Something went wrong while the model was called ({type(error).__name__})."
        try:
            await self.advance(ModelFailed(effect.call, sentence, "internal"))
        except Exception as second:
            self._die(second)

    async def _classify(self, effect: ClassifyIntent) -> None:
        try:
            await classify_message(self, self._classifiers, effect)
        except Exception as error:
            if self._dead is None:
                self._die(error)

    async def _run_tool(self, effect: RunTool) -> None:
        began = self.clock.now()
        try:
            message = await self._tools.run(effect.tool, effect.call, effect.roots)
        except Exception as error:
            logger.exception("the tools of session %s raised", self._state.session)
            text = f"The tool failed inside ({type(error).__name__})."
            message = ToolMessage(
                call_id=effect.call.call_id, tool_name=effect.call.name, success=False, error=text
            )
        passed = round((self.clock.now() - began).total_seconds() * 1000)
        self._tool_tasks.pop(effect.call.call_id, None)
        try:
            await self.advance(ToolReplied(message.storable().model_copy(update={"duration_ms": passed})))
        except Exception as error:
            if self._dead is None:
                self._die(error)

    async def _ring(self) -> None:
        """A deadline of what runs has come: while a turn runs or a transition is made, the session itself
        keeps them."""
        try:
            await self.advance(Tick(*self._in_flight()))
        except Exception as error:
            if self._dead is None:
                self._die(error)

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None and not task.done():
            task.cancel()
