"""The HTTP side of sessions: each view parses, calls one function, answers. Everything is the owner's
only."""

from __future__ import annotations

import uuid
from datetime import MINYEAR, UTC, datetime
from typing import Annotated, Any, Literal, cast

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Status
from pydantic import Field

from runtime import live, reading
from runtime.conversation.base import Value
from runtime.inspector.calls import CallSummary, CallView
from runtime.inspector.costs import CostReport, cost_report
from runtime.inspector.requests import RenderedRequest
from runtime.inspector.states import StateView, state_view
from runtime.inspector.timeline import TurnView, timeline
from runtime.models import StoredSession
from runtime.playbook import Playbook
from runtime.playbook.runnable import check_runnable
from runtime.sockets import in_database
from runtime.storage import load_events

SessionId = Annotated[str, Path(alias="id")]
"""Any text: a malformed id is unknown like any other."""

CallNumber = Annotated[int, Path(alias="n", ge=0, le=2**31 - 1)]
SegmentHash = Annotated[str, Path(alias="hash")]
ContentHash = Annotated[str, Path(alias="hash", max_length=64)]
MOST_CHARACTERS = 100_000
"""Of an artifact's text in one answer."""

router = Router(tags=["sessions"], by_alias=True)

PAGE = 50
MOST_EVENTS = 1000


class NewSession(Value):
    """A playbook to run, as it stands: it need not be saved."""

    document: Playbook
    agents: dict[str, Playbook] = Field(default_factory=dict)
    """The playbooks it may call, by playbook id."""
    playbook_ref: str = Field(default="", max_length=100)
    playbook_version: str = Field(default="", max_length=40)
    title: str = Field(default="", max_length=200)
    data: dict[str, Any] | None = None
    """Becomes the initial stage's data."""
    model: str | None = Field(default=None, max_length=100)
    """Instead of what the playbook names, for every stage: `CONNECTION/MODEL`, a model, or `rehearsal`."""


class SessionSummary(Value):
    """A session in a list."""

    id: uuid.UUID
    title: str
    playbook_ref: str
    playbook_version: str
    status: Literal["new", "idle", "running", "complete"]
    stage: str
    turns: int
    last_seq: int
    created_at: datetime
    updated_at: datetime


class SessionDetail(SessionSummary):
    """A session with the document that it runs."""

    document: dict[str, Any]


class EventPage(Value):
    """Events after a number, in order, as they go over the socket."""

    events: list[dict[str, Any]]
    last_seq: int
    """Of the session, not of this page."""


class SegmentTextOut(Value):
    """A segment's text."""

    hash: str
    text: str


class ArtifactTextOut(Value):
    """A part of an artifact's text."""

    hash: str
    offset: int
    text: str
    length: int
    """Characters (code points) of the whole text."""


@router.post("", response={201: SessionDetail})
async def create_session(request: HttpRequest, body: NewSession) -> Status[Any]:
    """Starts a session. A stage that speaks at once goes on speaking after the answer."""
    check_runnable(body.document, body.agents)
    row = await in_database(_store, signed_in(request), body)
    error = await live.hub().start(row.pk)
    if error is not None:
        await in_database(row.delete)
        raise RuntimeError(f"The session did not start: {error.message}")
    return Status(201, await in_database(_detail, signed_in(request), str(row.pk)))


@router.get("", response=list[SessionSummary])
def list_sessions(request: HttpRequest, playbook: str | None = None, before: datetime | None = None) -> Any:
    """The newest first, 50 at a time; `before` is the last one's `updatedAt`."""
    rows = StoredSession.objects.filter(owner_id=signed_in(request))
    if playbook is not None:
        rows = rows.filter(playbook_ref=playbook)
    if before is not None:
        rows = rows.filter(updated_at__lt=in_utc(before))
    return [_summary(row) for row in rows.defer("document", "agents")[:PAGE]]


@router.get("/{id}", response=SessionDetail)
def get_session(request: HttpRequest, session_id: SessionId) -> SessionDetail:
    """One session with its document."""
    return _detail(signed_in(request), session_id)


@router.delete("/{id}", response={204: None})
async def delete_session(request: HttpRequest, session_id: SessionId) -> Status[Any]:
    """Deletes the session, its log, and the texts that no other session of the owner has. A running turn
    ends."""
    row = await in_database(_own, signed_in(request), session_id)
    await live.hub().forget(row.pk)
    await in_database(reading.delete_session, row.pk)
    return Status(204, None)


@router.get("/{id}/events", response=EventPage)
def list_events(
    request: HttpRequest, session_id: SessionId, after: int = 0, limit: int = MOST_EVENTS
) -> EventPage:
    """The log, in order."""
    row = _own(signed_in(request), session_id)
    page = reading.logged_frames(row.pk, after, max(1, min(limit, MOST_EVENTS)))
    return EventPage(events=[payload for _, payload in page], last_seq=row.last_seq)


@router.get("/{id}/turns", response=list[TurnView])
def list_turns(request: HttpRequest, session_id: SessionId) -> list[TurnView]:
    """All turns: what was said, which rules were looked at, why it moved on."""
    row = _own(signed_in(request), session_id)
    return timeline(load_events(row.pk, texts=False))


@router.get("/{id}/costs", response=CostReport)
def get_costs(request: HttpRequest, session_id: SessionId) -> CostReport:
    """What all calls cost, and what they would have cost without caching."""
    row = _own(signed_in(request), session_id)
    return cost_report(reading.call_log(row.pk))


@router.get("/{id}/state", response=StateView)
def get_state(request: HttpRequest, session_id: SessionId, seq: int | None = None) -> StateView:
    """Variables, call stack, agents and artifacts after event `seq`; of now when none is named."""
    row = _own(signed_in(request), session_id)
    return state_view(reading.state_at(row.pk, seq))


@router.get("/{id}/calls", response=list[CallSummary])
def list_calls(request: HttpRequest, session_id: SessionId) -> list[CallSummary]:
    """All calls, without their windows."""
    row = _own(signed_in(request), session_id)
    return reading.call_log(row.pk).summaries()


@router.get("/{id}/calls/{n}", response=CallView)
def get_call(request: HttpRequest, session_id: SessionId, number: CallNumber) -> CallView:
    """One call with its window."""
    row = _own(signed_in(request), session_id)
    view = reading.call_log(row.pk).view(number)
    if view is None:
        raise Http404("call")
    return view


@router.get("/{id}/calls/{n}/request", response=RenderedRequest)
def get_request(request: HttpRequest, session_id: SessionId, number: CallNumber) -> RenderedRequest:
    """The request as it went over the wire, rendered anew from the log; secrets are masked."""
    row = _own(signed_in(request), session_id)
    rendered = reading.rendered_request(row.pk, number)
    if rendered is None:
        raise Http404("call")
    return rendered


@router.get("/{id}/segments/{hash}", response=SegmentTextOut)
def get_segment(request: HttpRequest, session_id: SessionId, key: SegmentHash) -> SegmentTextOut:
    """The text of the segment with that hash."""
    row = _own(signed_in(request), session_id)
    text = reading.segment_text(row.owner_id, key)
    if text is None:
        raise Http404("segment")
    return SegmentTextOut(hash=key, text=text)


@router.get("/{id}/artifacts/{hash}", response=ArtifactTextOut)
def get_artifact(
    request: HttpRequest,
    session_id: SessionId,
    key: ContentHash,
    offset: Annotated[int, Query(ge=0)] = 0,
    length: Annotated[int, Query(ge=1, le=MOST_CHARACTERS)] = MOST_CHARACTERS,
) -> ArtifactTextOut:
    """The text of the artifact with that content, from character `offset` on."""
    row = _own(signed_in(request), session_id)
    text = reading.artifact_text(row.pk, key)
    if text is None:
        raise Http404("artifact")
    return ArtifactTextOut(hash=key, offset=offset, text=text[offset : offset + length], length=len(text))


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC; a moment without a zone is UTC's. What lies beyond the calendar's ends there is
    the end."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return (datetime.min if moment.year == MINYEAR else datetime.max).replace(tzinfo=UTC)


def signed_in(request: HttpRequest) -> int:
    """Who asks; the API's auth has let nobody else through."""
    return cast(int, request.user.pk)


def _own(user_id: int, session_id: str) -> StoredSession:
    try:
        return StoredSession.objects.get(pk=uuid.UUID(session_id), owner_id=user_id)
    except (ValueError, StoredSession.DoesNotExist):
        raise Http404("session") from None


def _store(user_id: int, body: NewSession) -> StoredSession:
    return StoredSession.objects.create(
        owner_id=user_id,
        playbook_ref=body.playbook_ref,
        playbook_version=body.playbook_version,
        title=body.title or body.document.name[:200],
        document=as_sent(body.document),
        agents={name: as_sent(agent) for name, agent in body.agents.items()},
        start_data=body.data,
        start_model=body.model or "",
    )


def as_sent(playbook: Playbook) -> dict[str, Any]:
    """The document with just the fields that it came with, unknown ones included."""
    return playbook.model_dump(mode="json", exclude_unset=True)


def _detail(user_id: int, session_id: str) -> SessionDetail:
    row = _own(user_id, session_id)
    return SessionDetail(**_summary(row).model_dump(by_alias=False), document=row.document)


def _summary(row: StoredSession) -> SessionSummary:
    shown = {name: getattr(row, name) for name in SessionSummary.model_fields}
    return SessionSummary(**shown)
