"""What a session can be asked to do, and the one place that asks the runner to do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, assert_never

from runtime.conversation.state import SessionState
from runtime.engine import NotNow
from runtime.inspector.frames import Retry, SendMessage, SetVariable, Stop, Use

StopReason = Literal["stop", "interrupt", "process_died", "timeout"]


class RunningTextLike(Protocol):
    """The reply that is being streamed, as shown so far."""

    @property
    def turn(self) -> int: ...
    @property
    def call(self) -> int: ...
    @property
    def text(self) -> str: ...


class RunnerSession(Protocol):
    """What the live side uses of `runtime.Session`; see there."""

    @property
    def state(self) -> SessionState: ...
    @property
    def next_wake(self) -> datetime | None: ...
    @property
    def running_text(self) -> RunningTextLike | None: ...
    def on(self, listener: Callable[[Any], None]) -> Callable[[], None]: ...
    async def start(self, data: Mapping[str, Any] | None = None) -> None: ...
    async def send(self, text: str, *, client_id: str | None = None, interrupt: bool = False) -> None: ...
    async def stop(self, reason: StopReason = "stop") -> None: ...
    async def retry(self) -> None: ...
    async def set(self, variable: str, value: Any) -> None: ...
    async def use(self, model: str | None = None, layout: Any = None, policy: Any = None) -> None: ...
    async def tick(self) -> None: ...
    async def recover(self, shown_text: str = "") -> None: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Start:
    """Enters the initial stage; nothing when the session has started."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A timer may be due."""


@dataclass(frozen=True, slots=True)
class Recover:
    """Ends a turn that a dead process left. Loading the session does it, so there is nothing more to do."""


Command = Start | Tick | Recover | SendMessage | Stop | Retry | SetVariable | Use


async def perform(session: RunnerSession, command: Command) -> None:
    """Does it; returns when it is done, for a message: when its turn ended. Raises NotNow or SessionOver."""
    match command:
        case Start() | Recover():
            pass
        case Tick():
            await session.tick()
        case SendMessage():
            await session.send(command.text, client_id=command.client_id, interrupt=command.interrupt)
        case Stop():
            await session.stop()
        case Retry():
            if session.state.failed is None:
                raise NotNow("There is no failed turn to take up again.")
            await session.retry()
        case SetVariable():
            await session.set(command.variable, command.value)
        case Use():
            await session.use(model=command.model, layout=command.layout, policy=command.policy)
        case _:
            assert_never(command)
