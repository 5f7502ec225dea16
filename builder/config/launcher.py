"""Starts everything one process does, and ends it in order: sockets, jobs, the reaper, the runtime."""

import asyncio
import logging
from collections.abc import Callable

from django.utils import timezone

from builder.config.environment import Environment
from builder.config.server import DrainingServer
from builder.config.worker import EmbeddedWorker
from runtime import bell, live, tasks
from runtime.sockets import in_database

logger = logging.getLogger(__name__)

WORKER_STOP_SECONDS = 4.0


class Launcher:
    """One process of the studio. `ready` is called once it answers."""

    def __init__(self, studio: Environment, *, host: str, port: int, ready: Callable[[], None]) -> None:
        from builder.config.asgi import application

        self.studio = studio
        self.ready = ready
        self.worker = EmbeddedWorker(studio.worker_threads) if studio.embedded else None
        self.server = DrainingServer(
            application, host=host, port=port, on_start=self.start, on_stop=self.stop
        )
        self._reaping: asyncio.Task[None] | None = None

    def run(self) -> bool:
        """Blocks until the end; whether it was an orderly one."""
        self.server.run()
        return not self.server.failed_to_listen

    @property
    def all_saved(self) -> bool:
        """Whether whatever ran was brought to an end before the process was."""
        return not self.server.stop_failed

    @property
    def busy(self) -> bool:
        """Whether a job still runs in a thread that the interpreter would wait for."""
        return tasks.running_here() > 0

    async def start(self) -> None:
        bell.set_server_loop(asyncio.get_running_loop())
        if self.worker is not None:
            await asyncio.to_thread(self.worker.start)
        # In the embedded mode the folder's lock keeps others out: what is unfinished now is nobody's.
        await in_database(tasks.reap, timezone.now(), everything=self.studio.embedded)
        await live.recover(timezone.now())
        self._reaping = asyncio.create_task(self.keep_reaping())
        self.ready()

    async def keep_reaping(self) -> None:
        while True:
            await asyncio.sleep(self.studio.reaper_seconds)
            try:
                await in_database(tasks.reap, timezone.now())
            except Exception:
                logger.exception(
                    "Looking for lost jobs failed; the next try is in %s s", self.studio.reaper_seconds
                )

    async def stop(self) -> None:
        if self._reaping is not None:
            self._reaping.cancel()
        await live.shutdown()
        if self.worker is not None:
            await asyncio.to_thread(self.worker.stop, WORKER_STOP_SECONDS)
        bell.set_server_loop(None)
