"""Daphne's server, with two things added: the event loop at hand when it starts, and an orderly end.

Stock Daphne cancels its applications on SIGTERM: clients see their socket break, consumers never hear of a
disconnect, and on CPython before 3.11.8 the interpreter may crash while it finalises pending futures.
This one stops listening, lets the hooks end their work, closes each socket with 1012 (service restart), waits
for the applications, and leaves no task behind.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from daphne.server import Server, reactor
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import defer

logger = logging.getLogger(__name__)

SERVICE_RESTART = 1012
HOOK_SECONDS = 8.0
APPLICATION_SECONDS = 5.0
TASK_SECONDS = 2.0

Hook = Callable[[], Awaitable[None]]


class DrainingServer(Server):  # type: ignore[misc]  # daphne has no types
    """`on_start` runs in the loop as soon as it turns; `on_stop` once it is asked to end."""

    def __init__(self, application: Any, *, host: str, port: int, on_start: Hook, on_stop: Hook) -> None:
        interface = host.replace(":", "\\:")
        super().__init__(
            application,
            endpoints=[f"tcp:port={port}:interface={interface}"],
            signal_handlers=False,
            verbosity=0,
            server_name="playbook-studio",
        )
        self.on_start = on_start
        self.on_stop = on_stop
        self.ports: list[Any] = []
        self.failed_to_listen = False
        self.stop_failed = False
        self.draining = False
        self._starting: asyncio.Task[None] | None = None

    def run(self) -> None:
        """Blocks until the server has ended."""
        # Not callWhenRunning: that is called just before the loop runs.
        reactor.callLater(0, self._started)
        super().run()

    def _started(self) -> None:
        loop = asyncio.get_running_loop()
        self._catch_signals(loop)
        self._starting = loop.create_task(self._start())

    async def _start(self) -> None:
        try:
            await self.on_start()
        except Exception:
            logger.exception("The start was not completed")
            self.failed_to_listen = True
            self.stop()

    def _catch_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(number, self.interrupted)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(self.interrupted))

    def interrupted(self) -> None:
        """Ends in order; asked a second time while that goes on, ends at once."""
        if self.draining:
            os._exit(130)
        self.draining = True
        self.stop()

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self.ports.append(port)

    def listen_error(self, failure: Any) -> None:
        self.failed_to_listen = True
        super().listen_error(failure)

    def kill_all_applications(self) -> Any:
        """Upstream's hook before the reactor ends; it waits for what is returned."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self.drain()))

    async def drain(self) -> None:
        self.draining = True
        for port in self.ports:
            port.stopListening()
        await self._run_stop_hook()
        for protocol in list(self.connections):
            if isinstance(protocol, WebSocketProtocol):
                close_for_restart(protocol)
        await wait_quietly(list(self._applications()), APPLICATION_SECONDS)
        await cancel_everything_else()

    async def _run_stop_hook(self) -> None:
        try:
            await asyncio.wait_for(self.on_stop(), HOOK_SECONDS)
        except TimeoutError:
            self.stop_failed = True
            logger.warning(
                "Some work did not stop within %s s; it is taken up at the next start", HOOK_SECONDS
            )
        except Exception:
            self.stop_failed = True
            logger.exception("Stopping met an error")

    def _applications(self) -> Iterator[asyncio.Future[Any]]:
        for details in self.connections.values():
            running = details.get("application_instance")
            if running is not None and not running.done():
                yield running


def close_for_restart(protocol: Any) -> None:
    """`sendClose` refuses 1012, the code that tells a client to come back; the frame itself may carry it."""
    if protocol.state == WebSocketProtocol.STATE_OPEN:
        protocol.sendCloseFrame(code=SERVICE_RESTART, isReply=False)


async def wait_quietly(futures: list[asyncio.Future[Any]], seconds: float) -> None:
    if futures:
        await asyncio.wait(futures, timeout=seconds)


async def cancel_everything_else() -> None:
    """A pending task at the end of the interpreter is what crashes old 3.11s."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await wait_quietly(list(others), TASK_SECONDS)
