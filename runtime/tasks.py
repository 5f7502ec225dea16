"""Work that must outlive a socket or a process: jobs.

A `Job` row is the truth; the broker carries its id and may lose it. A worker claims a row by a conditional
update and keeps a lease on it while it works; `reap` finds rows that nobody holds and sends them again.
The same code serves the embedded mode (a thread, an in-memory broker) and Redis with many workers.

A kind of job is a function registered with `@job("kind")`. It may run more than once when a process dies
under it, so it writes its effect inside `with run.finishing(result):`, which is one transaction with
the row's last state and refuses a worker whose lease was taken over.
"""

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.db import close_old_connections, transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from runtime.models import Job

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
HEARTBEAT_SECONDS = 10.0
# How long a sent id may be under way before the reaper sends it again.
DELIVERY_GRACE = timedelta(seconds=60)
FIRST_RETRY_AFTER = timedelta(seconds=2)
LONGEST_RETRY_AFTER = timedelta(minutes=5)
REAP_AT_ONCE = 500

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
"""The name under which this process holds leases."""

JSON = Any


class LeaseLost(Exception):
    """Another worker took the job over; whatever this one was about to write must not be written."""


@dataclass(eq=False)
class JobRun:
    """One attempt at one job, given to its handler."""

    job: Job
    stop_asked: threading.Event = field(default_factory=threading.Event)
    """Set when the lease is gone or the process ends: a long handler looks at it between pieces of work."""
    finished: bool = False

    @property
    def payload(self) -> Mapping[str, JSON]:
        payload: Mapping[str, JSON] = self.job.payload
        return payload

    @contextmanager
    def finishing(self, result: JSON = None) -> Iterator[None]:
        """The job's last state and what the block writes are one transaction. Raises LeaseLost, and the
        block's work is undone, when another worker has the job."""
        with transaction.atomic():
            yield
            self._mark_done(result)
        self.finished = True

    def _mark_done(self, result: JSON) -> None:
        done = _held_by(self.job).update(
            state=Job.State.DONE,
            result=result,
            error="",
            finished_at=timezone.now(),
            lease_until=None,
            lease_owner="",
        )
        if not done:
            raise LeaseLost(str(self.job))


Handler = Callable[[JobRun], JSON]
_handlers: dict[str, Handler] = {}
_active: set[JobRun] = set()


def job(kind: str) -> Callable[[Handler], Handler]:
    """Registers the function that does jobs of this kind. Its return value becomes the job's result
    unless it finished the job itself."""

    def register(handler: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"Two handlers for jobs of kind {kind!r}")
        _handlers[kind] = handler
        return handler

    return register


def enqueue(
    kind: str, key: str, payload: Mapping[str, JSON] | None = None, eta: datetime | None = None
) -> Job:
    """Stores the job and sends it once the transaction is committed. The same key again gives the same job,
    whatever became of it. `eta`: not before that time (aware)."""
    due = eta or timezone.now()
    row, created = Job.objects.get_or_create(
        key=key, defaults={"kind": kind, "payload": dict(payload or {}), "due_at": due}
    )
    if created:
        transaction.on_commit(lambda: send(row))
    return row


def send(row: Job) -> None:
    """Hands the id to the broker. A broker that is away is no error: the reaper sends it later."""
    now = timezone.now()
    wait = max((row.due_at - now).total_seconds(), 0.0)
    Job.objects.filter(pk=row.pk, state=Job.State.QUEUED).update(
        lease_until=max(row.due_at, now) + DELIVERY_GRACE
    )
    try:
        run_job.apply_async(args=[str(row.pk)], countdown=wait or None)
    except (OperationalError, OSError):
        logger.warning("The broker did not take job %s; it will be sent again", row.pk, exc_info=True)


def reap(now: datetime, *, everything: bool = False) -> int:
    """Sends every due job that nobody holds; how many. `everything` is for the start of the embedded
    mode's one process: whatever is unfinished then was lost with the process before it."""
    unheld = Q() if everything else Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    lost = Job.objects.filter(unheld, state=Job.State.RUNNING)
    queued = Job.objects.filter(unheld, state=Job.State.QUEUED)
    if not everything:
        queued = queued.filter(due_at__lte=now)
    lost.filter(attempts__gte=F("max_attempts")).update(
        state=Job.State.FAILED, error="The process died at every attempt.", finished_at=now, lease_until=None
    )
    lost.update(state=Job.State.QUEUED, lease_owner="", lease_until=None, due_at=now)
    rows = list(queued[:REAP_AT_ONCE])
    for row in rows:
        send(row)
    return len(rows)


@shared_task(name="runtime.run_job", ignore_result=True)  # type: ignore[untyped-decorator,unused-ignore]
def run_job(job_id: str) -> None:
    """Does one job if it is still to be done. A second delivery of the same id does nothing."""
    close_old_connections()
    try:
        row = claim(uuid.UUID(job_id), timezone.now())
        if row is not None:
            attempt(row)
    finally:
        close_old_connections()


def claim(job_id: uuid.UUID, now: datetime) -> Job | None:
    """The row, if this process got it: due and queued, or running under a lease that ended. A job that is not
    due yet, is done, or is held by another is left alone."""
    free = Q(state=Job.State.QUEUED, due_at__lte=now) | Q(state=Job.State.RUNNING, lease_until__lt=now)
    row = Job.objects.filter(free, pk=job_id).first()
    if row is None:
        return None
    taken = Job.objects.filter(free, pk=job_id, attempts=row.attempts).update(
        state=Job.State.RUNNING, attempts=row.attempts + 1, lease_owner=PROCESS, lease_until=now + LEASE
    )
    if not taken:
        return None
    row.refresh_from_db()
    return row


def attempt(row: Job) -> None:
    """Calls the handler under a heartbeat, and writes how it ended."""
    run = JobRun(row)
    _active.add(run)
    try:
        with _heartbeat(run):
            handler = _handlers.get(row.kind)
            if handler is None:
                raise LookupError(f"No handler for jobs of kind {row.kind!r} in this release")
            result = handler(run)
        if not run.finished:
            with run.finishing(result):
                pass
    except LeaseLost:
        logger.info("Job %s was taken over by another worker", row)
    except Exception as error:
        logger.warning("Job %s failed at attempt %d", row, row.attempts, exc_info=True)
        give_up_or_retry(row, error, timezone.now())
    finally:
        _active.discard(run)


def running_here() -> int:
    """How many jobs this process is at."""
    return len(_active)


def ask_all_to_stop() -> None:
    """The process is about to end. What does not stop in time is taken up by the next one."""
    for run in tuple(_active):
        run.stop_asked.set()


def give_up_or_retry(row: Job, error: Exception, now: datetime) -> None:
    """Queues the job again with a growing wait, or marks it failed after its last attempt."""
    text = f"{type(error).__name__}: {error}"[:2000]
    if row.attempts >= row.max_attempts or isinstance(error, LookupError):
        _held_by(row).update(
            state=Job.State.FAILED, error=text, finished_at=now, lease_until=None, lease_owner=""
        )
        return
    row.due_at = now + retry_wait(row.attempts)
    queued = _held_by(row).update(
        state=Job.State.QUEUED, error=text, due_at=row.due_at, lease_until=None, lease_owner=""
    )
    if queued:
        send(row)


def retry_wait(attempts: int) -> timedelta:
    """Doubles with each attempt, up to five minutes."""
    doublings = max(0, min(attempts - 1, 16))
    return min(FIRST_RETRY_AFTER * float(2**doublings), LONGEST_RETRY_AFTER)


def _held_by(row: Job) -> Any:
    """The row as long as this very attempt holds it."""
    return Job.objects.filter(pk=row.pk, state=Job.State.RUNNING, attempts=row.attempts, lease_owner=PROCESS)


@contextmanager
def _heartbeat(run: JobRun) -> Iterator[None]:
    """Renews the lease from a thread of its own until the block ends."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(run, stop), name=f"lease of {run.job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(run: JobRun, stop: threading.Event) -> None:
    while not stop.wait(HEARTBEAT_SECONDS):
        close_old_connections()
        if not _held_by(run.job).update(lease_until=timezone.now() + LEASE):
            run.stop_asked.set()
            break
    close_all_of_this_thread()


def close_all_of_this_thread() -> None:
    """A thread that ends leaves no open connection behind."""
    from django.db import connections

    connections.close_all()
