"""The session's log in the database: written before anybody hears of it, read back into a state.

One append is one short transaction: the session's row first (its `last_seq` and lease are what keeps two
processes from writing one log), then the events, the segments' texts by hash, and the rows of the calls.
"""

from __future__ import annotations

import gc
import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from runtime.conversation.artifacts import content_of, text_of
from runtime.conversation.events import (
    EVENT,
    ArtifactSaved,
    Event,
    LLMCallCompleted,
    LLMCallFailed,
    LLMCallStarted,
    SessionComplete,
    SessionStarted,
    StageEntered,
    TurnComplete,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    WindowRewritten,
)
from runtime.conversation.history import FOLDED, fold_without
from runtime.conversation.state import SessionState
from runtime.inspector.calls import CALL_EVENTS, CUT_OFF
from runtime.models import ArtifactText, LLMCall, LoggedEvent, SegmentText, StoredSession
from runtime.playbook import Playbook
from runtime.sockets import in_database

PAGE = 500
_BARE: Final = {"llm_call_started": "added", "window_rewritten": "replacement"}
"""Events with segments, whose texts are stored apart; the name of the field."""
_APART: Final = frozenset({*_BARE, "artifact_saved"})
"""Events of which a part is stored apart."""


class LogMovedOn(Exception):
    """Another process has written to this session's log; what this one holds of it is out of date."""


@dataclass(frozen=True, slots=True)
class DjangoEventStore:
    """Appends to one session's log while this process holds the session's lease."""

    session: uuid.UUID
    owner_id: int
    holder: str
    """The lease's owner: this process."""

    async def append(self, events: Sequence[Event]) -> None:
        """Writes all or nothing. Raises LogMovedOn when the lease is lost or the numbers don't follow."""
        if events:
            await in_database(append_events, self, tuple(events))


def append_events(store: DjangoEventStore, events: Sequence[Event]) -> None:
    """The one transaction of an append."""
    forms = [stored_form(event) for event in events]
    rows = [
        LoggedEvent(
            session_id=store.session,
            seq=event.seq,
            type=event.type,
            turn=event.turn,
            at=event.at,
            payload=form,
        )
        for event, form in zip(events, forms, strict=True)
    ]
    texts = [
        SegmentText(owner_id=store.owner_id, hash=key, text=text) for key, text in texts_of(events).items()
    ]
    contents = [
        ArtifactText(session_id=store.session, hash=key, text=text)
        for key, text in contents_of(events).items()
    ]
    with transaction.atomic():
        _move_on(store, events)
        ArtifactText.objects.bulk_create(contents, ignore_conflicts=True)
        LoggedEvent.objects.bulk_create(rows)
        SegmentText.objects.bulk_create(texts, ignore_conflicts=True)
        for event in events:
            _write_call(store.session, event, [text.hash for text in texts])


def _move_on(store: DjangoEventStore, events: Sequence[Event]) -> None:
    current = StoredSession.objects.filter(
        pk=store.session, last_seq=events[0].seq - 1, lease_owner=store.holder
    )
    if not current.update(last_seq=events[-1].seq, updated_at=timezone.now(), **summary(events)):
        raise LogMovedOn(str(store.session))


def summary(events: Iterable[Event]) -> dict[str, Any]:
    """What of the session's row changes with these events."""
    changed: dict[str, Any] = {}
    for event in events:
        match event:
            case SessionStarted():
                changed["status"] = "idle"
            case TurnStarted():
                changed |= {"status": "running", "turns": event.turn}
            case TurnComplete() | TurnInterrupted() | TurnFailed():
                changed |= {"status": "idle", "running": None}
            case SessionComplete():
                changed["status"] = "complete"
            case StageEntered():
                changed["stage"] = event.stage
    return changed


def stored_form(event: Event) -> dict[str, Any]:
    """The event as JSON, its segments without their texts, artifacts without their contents: what is stored
    and what goes over the socket."""
    apart = {"content"} if isinstance(event, ArtifactSaved) else None
    payload: dict[str, Any] = event.model_dump(mode="json", exclude=apart)
    for segment in _segments(payload):
        segment["text"] = ""
    return payload


def texts_of(events: Iterable[Event]) -> dict[str, str]:
    """Texts of the segments that these events bring, by hash."""
    return {
        segment.hash: segment.text
        for event in events
        if isinstance(event, LLMCallStarted | WindowRewritten)
        for segment in (event.added if isinstance(event, LLMCallStarted) else event.replacement)
    }


def contents_of(events: Iterable[Event]) -> dict[str, str]:
    """Texts of the artifacts that these events save, by hash."""
    return {event.hash: text_of(event.content) for event in events if isinstance(event, ArtifactSaved)}


def _write_call(session: uuid.UUID, event: Event, texts: list[str]) -> None:
    calls = LLMCall.objects.filter(session_id=session)
    match event:
        case LLMCallStarted():
            LLMCall.objects.update_or_create(
                session_id=session, number=event.call, defaults=_started_fields(event) | {"texts": texts}
            )
        case LLMCallCompleted():
            calls.filter(number=event.call).update(
                status="complete",
                usage=event.usage.model_dump() if event.usage else None,
                cost=event.cost,
                first_token_ms=event.first_token_ms,
                duration_ms=event.duration_ms,
            )
        case LLMCallFailed():
            cut_off = event.code in CUT_OFF
            calls.filter(number=event.call).update(
                status="interrupted" if cut_off else "failed",
                usage=event.usage.model_dump() if event.usage else None,
                cost=event.cost,
            )
        case TurnInterrupted():
            calls.filter(status="running").update(status="interrupted")


def _started_fields(event: LLMCallStarted) -> dict[str, Any]:
    return {
        "turn": event.turn,
        "phase": event.phase,
        "stage": event.stage,
        "lane": event.lane,
        "provider": event.provider,
        "model": event.model,
        "status": "running",
        "cache_points": [point.model_dump(mode="json") for point in event.cache_points],
        "predicted": event.predicted.model_dump() if event.predicted else None,
        "request_digest": event.request_digest,
        "started_at": event.at,
    }


def load_events(
    session: uuid.UUID,
    *,
    upto: int | None = None,
    types: Collection[str] = (),
    texts: bool = True,
) -> Iterator[Event]:
    """The events in order: up to `upto`, of these types (of all when none is named), with the texts of their
    segments and the contents of artifacts unless those are not wanted. Not for the event loop."""
    owner_id = StoredSession.objects.values_list("owner_id", flat=True).get(pk=session)
    rows = LoggedEvent.objects.filter(session_id=session).order_by("seq")
    if upto is not None:
        rows = rows.filter(seq__lte=upto)
    if types:
        rows = rows.filter(type__in=types)
    # As text, most need no detour over dictionaries: half the time of opening a long session.
    stored = rows.annotate(form=Cast("payload", TextField())).values_list("type", "form")
    lines = stored.iterator(chunk_size=PAGE)
    while page := list(islice(lines, PAGE)):
        bare = {n: json.loads(form) for n, (kind, form) in enumerate(page) if texts and kind in _APART}
        _put_texts_back(owner_id, bare.values())
        _put_contents_back(session, [form for form in bare.values() if form["type"] == "artifact_saved"])
        for number, (_, form) in enumerate(page):
            yield EVENT.validate_python(bare[number]) if number in bare else EVENT.validate_json(form)


def _put_texts_back(owner_id: int, payloads: Collection[dict[str, Any]]) -> None:
    if not payloads:
        return
    bare = [segment for payload in payloads for segment in _segments(payload)]
    hashes = {segment["hash"] for segment in bare}
    texts = dict(SegmentText.objects.filter(owner_id=owner_id, hash__in=hashes).values_list("hash", "text"))
    for segment in bare:
        segment["text"] = texts.get(segment["hash"], "")


def _put_contents_back(session: uuid.UUID, saved: Collection[dict[str, Any]]) -> None:
    """Artifacts of one hash share one content."""
    if not saved:
        return
    rows = ArtifactText.objects.filter(session_id=session, hash__in={payload["hash"] for payload in saved})
    kinds = {payload["hash"]: payload["kind"] for payload in saved}
    contents = {key: content_of(kinds[key], text) for key, text in rows.values_list("hash", "text")}
    for payload in saved:
        payload["content"] = contents.get(payload["hash"])


def _segments(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return list(payload.get(_BARE.get(payload["type"], ""), ()))


@contextmanager
def without_collection() -> Iterator[None]:
    """Reading a long log makes hundreds of thousands of objects that all stay: looking for garbage among them
    again and again takes longer than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A session as its log says: all that is needed to go on."""

    row: StoredSession
    playbook: Playbook
    state: SessionState
    agents: Mapping[str, Playbook]
    """The playbooks it may call, by playbook id."""
    call_events: tuple[Event, ...]
    """The events that the inspector's view of the calls is read from."""


def load_session(session: uuid.UUID) -> LoadedSession:
    """Reads the log. Not for the event loop. Raises StoredSession.DoesNotExist."""
    row = StoredSession.objects.get(pk=session)
    with without_collection():
        events = list(load_events(session, upto=row.last_seq, types=FOLDED))
        state = fold_without(str(session), events, row.last_seq)
    calls = [event for event in events if event.type in CALL_EVENTS]
    agents = {name: Playbook.model_validate(document) for name, document in row.agents.items()}
    return LoadedSession(row, Playbook.model_validate(row.document), state, agents, tuple(calls))


def load_state(session: uuid.UUID) -> tuple[Playbook, SessionState]:
    """The frozen playbook and the state that the whole log folds into. Not for the event loop. Raises
    StoredSession.DoesNotExist."""
    loaded = load_session(session)
    return loaded.playbook, loaded.state
