"""Reads stored sessions for those who look at them: sockets and views. Not for the event loop."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import QuerySet

from runtime import wiring
from runtime.conversation.fold import fold
from runtime.conversation.state import SessionState
from runtime.inspector.calls import CALL_EVENTS, CallLog
from runtime.inspector.frames import RunningReply
from runtime.inspector.requests import Address, RenderedRequest
from runtime.inspector.requests import rendered_request as rendered
from runtime.models import ArtifactText, LLMCall, LoggedEvent, SegmentText, StoredSession
from runtime.storage import load_events


@dataclass(frozen=True, slots=True)
class SessionNow:
    """Where a session stands, as its row says."""

    last_seq: int
    status: Literal["new", "idle", "running", "complete"]
    holder: str
    """The process that works on it; empty for none."""
    running: RunningReply | None
    """The reply that some process streams, as of about a second ago."""


def session_now(session: uuid.UUID) -> SessionNow:
    """Raises StoredSession.DoesNotExist."""
    row = StoredSession.objects.only("last_seq", "status", "running", "lease_owner").get(pk=session)
    running = RunningReply.model_validate(row.running) if row.running and row.status == "running" else None
    status: Any = row.status
    return SessionNow(last_seq=row.last_seq, status=status, holder=row.lease_owner, running=running)


def logged_frames(session: uuid.UUID, after: int, limit: int) -> list[tuple[int, dict[str, Any]]]:
    """The next `limit` events after `after` as they go over the socket, with their `seq`."""
    rows = LoggedEvent.objects.filter(session_id=session, seq__gt=after).order_by("seq")
    return list(rows.values_list("seq", "payload")[:limit])


def call_log(session: uuid.UUID, *, texts: bool = False) -> CallLog:
    """Every call of the session; with the texts of its segments where they are wanted."""
    return CallLog().read_all(load_events(session, types=CALL_EVENTS, texts=texts))


def rendered_request(session: uuid.UUID, number: int) -> RenderedRequest | None:
    """The request of a call as it went over the wire; None when there is no such call."""
    calls = call_log(session, texts=True)
    started = calls.started(number)
    if started is None:
        return None
    return rendered(started, calls.window(number), address_of(started.connection))


def address_of(connection: str) -> Address | None:
    """Where the connection of that name sends to now; None if there is none of that name any more."""
    known = wiring.connections().named(connection)
    if known is None:
        return None
    settings = known.settings
    variable = settings.key_source if settings.key_source.isidentifier() else "API_KEY"
    needs_key = bool(settings.key) or settings.url is None
    return Address(settings.url or "", variable if needs_key else "")


def state_at(session: uuid.UUID, seq: int | None) -> SessionState:
    """The state after event `seq`; after the last one for None or a number beyond it. Its segments have no
    texts."""
    return fold(str(session), load_events(session, upto=seq, texts=False))


def segment_text(owner_id: int, key: str) -> str | None:
    """The text that a segment's hash stands for, if the owner's sessions have it."""
    return SegmentText.objects.filter(owner_id=owner_id, hash=key).values_list("text", flat=True).first()


def artifact_text(session: uuid.UUID, key: str) -> str | None:
    """The text of an artifact of the session, by the hash of its content."""
    return ArtifactText.objects.filter(session_id=session, hash=key).values_list("text", flat=True).first()


def delete_session(session: uuid.UUID) -> None:
    """Deletes a session and the texts that none of its owner's other sessions has sent."""
    row = StoredSession.objects.filter(pk=session).first()
    if row is None:
        return
    # One transaction: a session that meanwhile sends one of these texts must find it kept, or write it anew.
    with transaction.atomic():
        mine = _hashes(LLMCall.objects.filter(session=row))
        kept = _hashes(LLMCall.objects.filter(session__owner_id=row.owner_id).exclude(session=row))
        row.delete()
        SegmentText.objects.filter(owner_id=row.owner_id, hash__in=mine - kept).delete()


def _hashes(calls: QuerySet[LLMCall]) -> set[str]:
    return {key for texts in calls.values_list("texts", flat=True).iterator() for key in texts}
