"""The embedded Celery worker: a thread of the server's process, fed by the in-memory broker."""

import logging
import threading
from typing import Any

from builder.config.celery import app
from runtime import tasks

logger = logging.getLogger(__name__)


class EmbeddedWorker:
    """Starts and stops with the server. Jobs that are cut off are found again by the reaper."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._controller: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._controller = app.WorkController(
            pool="threads",
            concurrency=self.threads,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
        )
        self._thread = threading.Thread(target=self._run, name="celery worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._controller.start()
        except Exception:
            logger.exception("The job worker ended; jobs wait for the next start")

    def stop(self, seconds: float) -> None:
        """Waits for the jobs that run, at most so long."""
        if self._controller is None or self._thread is None:
            return
        tasks.ask_all_to_stop()
        stopping = threading.Thread(target=self._stop_controller, name="celery worker stop", daemon=True)
        stopping.start()
        stopping.join(seconds)
        self._thread.join(0.5)

    def _stop_controller(self) -> None:
        try:
            self._controller.stop()
        except Exception:
            logger.debug("The job worker met an error as it stopped", exc_info=True)
