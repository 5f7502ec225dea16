"""The sessions that run in this process: loaded when somebody asks something of them, kept while they are
used.

What is asked runs as a task of its own, so a turn goes on when the socket that asked for it is gone. While
anything runs, the session's lease is this process's; at rest the lease is free, and another process may take
the session up (its log is then read again here, because `last_seq` has moved).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from channels.layers import get_channel_layer
from django.conf import settings
from django.utils import timezone

from runtime import leases
from runtime.commands import Command, Recover, RunnerSession, Start, Tick, perform
from runtime.conversation.events import StageEntered
from runtime.engine import NotNow
from runtime.handover import Switchboard, Unanswered
from runtime.inspector.calls import CallLog
from runtime.inspector.frames import ErrorFrame, RunningReply, SendMessage, Stop
from runtime.models import StoredSession
from runtime.publisher import GroupSend, Message, Publisher, group_of
from runtime.runner.session import SessionOver
from runtime.sockets import in_database
from runtime.storage import DjangoEventStore, LoadedSession, LogMovedOn, load_session
from runtime.tasks import PROCESS
from runtime.wiring import build, connections

logger = logging.getLogger(__name__)

MOST_WAITING = 20
"""Messages that may wait for their turn in one session."""

UNLOAD_AFTER = timedelta(minutes=10)
RENEW_SECONDS = 3.0
TEND_SECONDS = 1.0
DRAIN_SECONDS = 3.0

Build = Callable[[LoadedSession, DjangoEventStore], RunnerSession]


@dataclass(slots=True)
class Loaded:
    """A session in memory, and the task that tells others about it."""

    session: RunnerSession
    publisher: Publisher
    pump: asyncio.Task[None]
    beginning: asyncio.Task[None] | None = None

    async def begun(self, row: StoredSession) -> None:
        """Returns when the session has started; the first who asks starts it."""
        if self.session.state.status == "new" and self.beginning is None:
            self.beginning = asyncio.create_task(self._begin(row))
        if self.session.state.status == "new" and self.beginning is not None:
            await asyncio.shield(self.beginning)

    async def _begin(self, row: StoredSession) -> None:
        if row.start_model and self.session.state.seq == 0:
            await self.session.use(model=row.start_model)
        await self.session.start(row.start_data)

    async def close(self) -> None:
        """Sends what is left, then ends the pump."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.publisher.drained(), 1.0)
        self.pump.cancel()
        await self.session.aclose()


@dataclass(slots=True)
class Room:
    """One session's place in this process. `users`: tasks that work on it now."""

    id: uuid.UUID
    used_at: datetime
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    viewers: int = 0
    row: StoredSession | None = None
    loaded: Loaded | None = None
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a stage was entered."""
    waiting: set[str] = field(default_factory=set)
    """Client ids of messages that are under way."""
    tasks: set[asyncio.Task[ErrorFrame | None]] = field(default_factory=set)


class Hub:
    """All rooms of this process. Belongs to one event loop."""

    def __init__(self, build: Build, send: GroupSend, *, process: str, now: Callable[[], datetime]) -> None:
        self.process = process
        self.switchboard: Switchboard | None = None
        """The line to other processes, where there are any."""
        self._build = build
        self._send = send
        self._now = now
        self._rooms: dict[uuid.UUID, Room] = {}
        self._tending: asyncio.Task[None] | None = None
        self._renewed_at: datetime | None = None
        self._closing = False
        self._hopeless: set[uuid.UUID] = set()
        """Sessions whose log could not be put in order; tried once by each process."""

    # Asking

    async def do(self, session: uuid.UUID, command: Command) -> ErrorFrame | None:
        """Does it and returns when it is done (a message: when its turn ended), with the error if it could
        not be done at all; how a turn ended is in the log. Cancelling the wait leaves the work going on."""
        room = self._room(session)
        client_id = command.client_id if isinstance(command, SendMessage) else None
        if self._closing:
            return failure("closing", "The server is stopping; send it again in a moment.", True, client_id)
        if client_id is not None:
            if client_id in room.waiting:
                return None
            if len(room.waiting) >= MOST_WAITING:
                return failure("too-many", f"{MOST_WAITING} messages are waiting already.", True, client_id)
            room.waiting.add(client_id)
        return await asyncio.shield(self._spawn(room, command, client_id))

    def _spawn(
        self, room: Room, command: Command, client_id: str | None = None
    ) -> asyncio.Task[ErrorFrame | None]:
        task = asyncio.create_task(self._run(room, command, client_id), name=f"session {room.id}")
        room.tasks.add(task)
        task.add_done_callback(room.tasks.discard)
        return task

    async def forget(self, session: uuid.UUID) -> None:
        """The session is about to be deleted: ends what runs, closes its sockets."""
        room = self._rooms.pop(session, None)
        if room is not None:
            if room.users and room.loaded is not None:
                await room.loaded.session.stop()
            if room.tasks:
                await asyncio.wait(room.tasks, timeout=DRAIN_SECONDS)
            await self._unload(room)
        await self._send(group_of(session), {"type": "session.gone"})

    def running(self, session: uuid.UUID) -> RunningReply | None:
        """The reply that this process is streaming in that session."""
        room = self._rooms.get(session)
        text = room.loaded.session.running_text if room and room.loaded else None
        return RunningReply(turn=text.turn, call=text.call, text=text.text) if text else None

    def last_seq(self, session: uuid.UUID) -> int:
        """Number of the last event this process knows of; 0 when it has not loaded the session."""
        room = self._rooms.get(session)
        return room.loaded.session.state.seq if room and room.loaded else 0

    def tell(self, session: uuid.UUID) -> None:
        """Repeats to all sockets what was shown so far of the running reply; each takes what it lacks."""
        running, room = self.running(session), self._rooms.get(session)
        if running is not None and room is not None and room.loaded is not None:
            room.loaded.publisher.repeat(running)

    async def ask_to_tell(self, session: uuid.UUID, holder: str) -> None:
        """Has the process that works on the session do so."""
        if self.switchboard is not None and holder != self.process:
            await self.switchboard.ask_to_tell(holder, session)

    def is_running(self, session: uuid.UUID) -> bool:
        """Whether this process works on it now."""
        room = self._rooms.get(session)
        return room is not None and room.users > 0

    async def start(self, session: uuid.UUID) -> ErrorFrame | None:
        """Starts it and returns when its first stage is entered; a stage that speaks at once goes on
        speaking."""
        room = self._room(session)
        task = self._spawn(room, Start())
        entered = asyncio.create_task(room.entered.wait())
        await asyncio.wait({task, entered}, return_when=asyncio.FIRST_COMPLETED)
        entered.cancel()
        return task.result() if task.done() else None

    def enter(self, session: uuid.UUID) -> int:
        """A socket looks at the session; how many do now."""
        room = self._room(session)
        room.viewers += 1
        return room.viewers

    def leave(self, session: uuid.UUID) -> int:
        """A socket is gone; how many are left."""
        room = self._rooms.get(session)
        if room is None:  # the session was deleted under its sockets
            return 0
        room.viewers -= 1
        room.used_at = self._now()
        return room.viewers

    def _room(self, session: uuid.UUID) -> Room:
        room = self._rooms.get(session)
        if room is None:
            room = self._rooms[session] = Room(session, self._now())
        return room

    # Doing

    async def _run(self, room: Room, command: Command, client_id: str | None) -> ErrorFrame | None:
        try:
            await self._perform(room, command)
        except leases.HeldElsewhere as held:
            return await self._hand_over(held.holder, room, command)
        except StoredSession.DoesNotExist:
            return failure("not-found", "This session no longer exists.", False, client_id)
        except LogMovedOn:
            await self._unload(room)
            message = "Another server process took this session over; try again."
            return failure("taken-over", message, True, client_id)
        except asyncio.CancelledError:
            await asyncio.shield(self._unload(room))
            raise
        except (NotNow, SessionOver) as refusal:
            return failure("not-now", str(refusal), False, client_id)
        except Exception:
            await self._give_up(room, command)
            return failure(
                "internal", "Something went wrong on the server; its log says what.", True, client_id
            )
        finally:
            room.waiting.discard(client_id or "")
        return None

    async def _hand_over(self, holder: str, room: Room, command: Command) -> ErrorFrame | None:
        """Has the process that works on the session do it. Timers and dead turns are that process's own
        affair."""
        if isinstance(command, Start | Tick | Recover):
            return None
        if self.switchboard is not None:
            with suppress(Unanswered):
                return await self.switchboard.forward(holder, room.id, command)
        client_id = command.client_id if isinstance(command, SendMessage) else None
        message = "Another server process works on this session; try again in a moment."
        return failure("busy-elsewhere", message, True, client_id)

    async def _perform(self, room: Room, command: Command) -> None:
        async with self._holding(room) as loaded:
            assert room.row is not None
            if not isinstance(command, Stop):
                await loaded.begun(room.row)
            await perform(loaded.session, command)

    async def _give_up(self, room: Room, command: Command) -> None:
        logger.exception("Session %s: %s failed", room.id, type(command).__name__)
        if room.users == 0:  # whatever else runs in it goes on; the log is what it was
            await self._unload(room)
        if isinstance(command, Tick):
            await in_database(leases.forget_timer, room.id)
        if isinstance(command, Recover):
            self._hopeless.add(room.id)

    @asynccontextmanager
    async def _holding(self, room: Room) -> AsyncIterator[Loaded]:
        """The session, loaded and up to date, under this process's lease until the block ends."""
        async with room.lock:
            if room.users == 0 or room.loaded is None:
                room.row = await in_database(leases.acquire, room.id, self.process, self._now())
                await self._bring_up_to_date(room, room.row)
            room.users += 1
            loaded = room.loaded
        assert loaded is not None
        try:
            yield loaded
        finally:
            await asyncio.shield(self._let_go(room, loaded))

    async def _let_go(self, room: Room, loaded: Loaded) -> None:
        async with room.lock:
            room.users -= 1
            room.used_at = self._now()
            if room.users == 0:
                frame, wake_at = loaded.session.state.frame, loaded.session.next_wake
                stage = frame.stage if frame else ""
                await in_database(leases.release, room.id, self.process, stage=stage, wake_at=wake_at)

    async def _bring_up_to_date(self, room: Room, row: StoredSession) -> None:
        if room.loaded is not None and room.loaded.session.state.seq != row.last_seq:
            await self._unload(room)
        if room.loaded is None:
            stored = await in_database(load_session, room.id)
            room.loaded = self._open(room, stored)
            state = room.loaded.session.state
            if state.running is not None or state.moving is not None:  # of a dead process: the lease was free
                await room.loaded.session.recover((row.running or {}).get("text", ""))

    def _open(self, room: Room, stored: LoadedSession) -> Loaded:
        store = DjangoEventStore(room.id, stored.row.owner_id, self.process)
        session = self._build(stored, store)
        publisher = Publisher(group_of(room.id), self._send, CallLog().read_all(stored.call_events))
        session.on(publisher)
        session.on(partial(_note_entry, room.entered))
        if session.state.frame is not None:
            room.entered.set()
        return Loaded(session, publisher, asyncio.create_task(publisher.run(), name=f"bell of {room.id}"))

    async def _unload(self, room: Room) -> None:
        loaded, room.loaded = room.loaded, None
        if loaded is not None:
            await loaded.close()

    # Tending

    def open(self) -> None:
        """Begins to keep leases, to look for timers that are due and for turns that dead processes left."""
        if self._tending is None:
            self._tending = asyncio.create_task(self._tend_for_ever(), name="tending sessions")

    async def tend(self, now: datetime) -> None:
        """One round of it."""
        await self._keep_leases(now)
        for session in await in_database(leases.left_by_the_dead, now):
            if session not in self._hopeless:
                self._spawn(self._room(session), Recover())
        for session in await in_database(leases.due, now):
            self._spawn(self._room(session), Tick())
        await self._unload_unused(now)

    async def close(self) -> None:
        """Takes nothing new, gives running turns a moment, then ends them as turns of a process that
        stopped."""
        self._closing = True
        if self._tending is not None:
            self._tending.cancel()
        tasks = {task for room in self._rooms.values() for task in room.tasks}
        if tasks:
            await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
        await self._end_turns()
        if self.switchboard is not None:
            await self.switchboard.close()
        for room in self._rooms.values():
            await self._unload(room)

    async def _end_turns(self) -> None:
        """Ends them, and the turns of messages that waited behind them: those are in the log then."""
        deadline = asyncio.get_running_loop().time() + DRAIN_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            busy = [room for room in self._rooms.values() if room.tasks]
            if not busy:
                return
            for room in busy:
                if room.loaded is not None:
                    await room.loaded.session.stop("process_died")
            await asyncio.wait({task for room in busy for task in room.tasks}, timeout=0.05)
        for task in [task for room in self._rooms.values() for task in room.tasks]:
            task.cancel()

    async def _tend_for_ever(self) -> None:
        while True:
            try:
                await self.tend(self._now())
            except Exception:
                logger.exception("Tending the sessions failed; it goes on")
            await asyncio.sleep(TEND_SECONDS)

    async def _keep_leases(self, now: datetime) -> None:
        busy = {room.id for room in self._rooms.values() if room.users}
        texts = {
            session: text.model_dump() for session in busy if (text := self.running(session)) is not None
        }
        if texts:
            await in_database(leases.note_running, texts, self.process)
        if self._renewed_at is None or (now - self._renewed_at).total_seconds() >= RENEW_SECONDS:
            self._renewed_at = now
            lost = await in_database(leases.renew, busy, self.process, now) if busy else set()
            for room in [self._rooms[session] for session in lost if session in self._rooms]:
                await self._abandon_if_lost(room)

    async def _abandon_if_lost(self, room: Room) -> None:
        """The lease is gone: whatever runs here would be refused by the store at its next event. Sure only
        under the lock: the session may have been let go, and taken again, while the leases were renewed."""
        async with room.lock:
            if not room.users or await in_database(leases.holder_of, room.id) == self.process:
                return
            logger.warning("Session %s was taken over by another process", room.id)
            for task in room.tasks:
                task.cancel()

    async def _unload_unused(self, now: datetime) -> None:
        for room in list(self._rooms.values()):
            in_use = room.users or room.viewers or room.tasks or room.lock.locked()
            if not in_use and now - room.used_at > UNLOAD_AFTER:
                del self._rooms[room.id]
                await self._unload(room)


class Current:
    """This process's hub; made when it is first asked for, in the server's loop."""

    hub: Hub | None = None


def hub() -> Hub:
    """The hub of this process."""
    if Current.hub is None:
        Current.hub = Hub(build, send_to_group, process=PROCESS, now=timezone.now)
    return Current.hub


async def send_to_group(group: str, message: Message) -> None:
    """Sends in the server's own loop, where the hub lives."""
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(group, message)


async def recover(now: datetime) -> None:
    """At the start of the server: ends turns that dead processes left, and begins to tend the sessions. In
    the embedded mode there is no other process, so every lease is a dead one's."""
    if settings.STUDIO.embedded:
        await in_database(leases.drop_all)
    else:
        await connect_to_others(hub())
    hub().open()
    await hub().tend(now)


async def connect_to_others(hub: Hub) -> None:
    """Lets this process and the others do for one another what only the holder of a lease can."""
    hub.switchboard = Switchboard(get_channel_layer(), hub.process, hub.do, hub.tell)
    await hub.switchboard.open()


async def shutdown() -> None:
    """At the end of the server: no turn is left hanging."""
    if Current.hub is not None:
        await Current.hub.close()
        await connections().aclose()


def _note_entry(entered: asyncio.Event, item: object) -> None:
    if isinstance(item, StageEntered):
        entered.set()


def failure(code: str, message: str, retryable: bool, client_id: str | None = None) -> ErrorFrame:
    """An error that answers one request."""
    return ErrorFrame(code=code, message=message, retryable=retryable, client_id=client_id)
