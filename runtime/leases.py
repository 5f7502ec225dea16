"""Which process works on a session now: a lease in its row, taken by a conditional update and renewed.

Times are arguments. Everything here reads or writes the database; not for the event loop.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from runtime.models import StoredSession

LEASE = timedelta(seconds=15)
"""How long a process may be silent before another one takes its sessions over."""


class HeldElsewhere(Exception):
    """Another process, which is alive, works on this session. `holder` is its name."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def acquire(session: uuid.UUID, holder: str, now: datetime) -> StoredSession:
    """The session's row, now held by `holder`. Raises HeldElsewhere, or StoredSession.DoesNotExist."""
    free = Q(lease_owner="") | Q(lease_owner=holder) | Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    taken = StoredSession.objects.filter(free, pk=session).update(lease_owner=holder, lease_until=now + LEASE)
    row = StoredSession.objects.get(pk=session)
    if not taken:
        raise HeldElsewhere(row.lease_owner)
    return row


def renew(sessions: Collection[uuid.UUID], holder: str, now: datetime) -> set[uuid.UUID]:
    """Holds on to these sessions; those that are lost, because another process took them over."""
    held = StoredSession.objects.filter(pk__in=sessions, lease_owner=holder)
    held.update(lease_until=now + LEASE)
    return set(sessions) - set(held.values_list("pk", flat=True))


def holder_of(session: uuid.UUID) -> str | None:
    """The process that holds it; empty if none does, None if the session is gone."""
    return StoredSession.objects.filter(pk=session).values_list("lease_owner", flat=True).first()


def release(session: uuid.UUID, holder: str, *, stage: str, wake_at: datetime | None) -> None:
    """Lets go of a session at rest, and says in which stage, and when its next timer is due."""
    StoredSession.objects.filter(pk=session, lease_owner=holder).update(
        lease_owner="", lease_until=None, stage=stage, wake_at=wake_at
    )


def note_running(texts: Mapping[uuid.UUID, dict[str, Any]], holder: str) -> None:
    """Writes down how far the replies have come that are being streamed."""
    for session, running in texts.items():
        StoredSession.objects.filter(pk=session, lease_owner=holder, status="running").update(running=running)


def drop_all() -> None:
    """At the start of the only process there is: whoever held a lease is dead."""
    StoredSession.objects.exclude(lease_owner="").update(lease_owner="", lease_until=None)


def left_by_the_dead(now: datetime) -> list[uuid.UUID]:
    """Sessions whose turn was running in a process that is silent."""
    silent = Q(lease_owner="") | Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    return list(StoredSession.objects.filter(silent, status="running").values_list("pk", flat=True))


def due(now: datetime, limit: int = 100) -> list[uuid.UUID]:
    """Sessions with a timer that is due and that nobody works on."""
    free = Q(lease_owner="") | Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    rows = StoredSession.objects.filter(free, wake_at__lte=now).order_by("wake_at")
    return list(rows.values_list("pk", flat=True)[:limit])


def forget_timer(session: uuid.UUID) -> None:
    """No timer any more: it could not be served."""
    StoredSession.objects.filter(pk=session).update(wake_at=None)
