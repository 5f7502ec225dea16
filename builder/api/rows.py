"""Rows of the signed-in person, and what the API shows of them. The only place that queries by owner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpRequest

from builder.api.errors import not_found
from builder.api.schemas import (
    CompanionSummary,
    CreatedPlaybook,
    PlaybookDetail,
    PlaybookSummary,
    ProblemCounts,
    Thumbnail,
    ThumbnailStage,
    VersionDetail,
    VersionSummary,
)
from builder.companions import Companion
from builder.models import PlaybookVersion, SavedPlaybook
from builder.validation import Diagnostic, check_document


def owned(request: HttpRequest) -> QuerySet[SavedPlaybook]:
    """All playbooks of the person who asks, deleted ones included; nobody else's, by construction."""
    return SavedPlaybook.objects.filter(owner=signed_in(request).pk)


def signed_in(request: HttpRequest) -> User:
    """The person who asks; the API's auth has let nobody else through."""
    return cast(User, request.user)


def find(request: HttpRequest, playbook_id: str, *, deleted: bool = False) -> SavedPlaybook:
    """The playbook of that id. Raises not-found for unknown, malformed and other people's ids alike."""
    row = owned(request).filter(pk=_uuid(playbook_id), deleted_at__isnull=not deleted).first()
    if row is None:
        raise not_found("playbook")
    return row


def find_version(request: HttpRequest, playbook_id: str, number: int) -> PlaybookVersion:
    """A version of a playbook that is not deleted."""
    row = find(request, playbook_id).versions.select_related("author").filter(number=number).first()
    if row is None:
        raise not_found("version")
    return row


def document(request: HttpRequest, playbook_id: str, number: int | None) -> dict[str, Any]:
    """The document of that version; without a number, the draft's."""
    row = find(request, playbook_id) if number is None else find_version(request, playbook_id, number)
    found: dict[str, Any] = row.document
    return found


def detail(row: SavedPlaybook, diagnostics: tuple[Diagnostic, ...] | None = None) -> PlaybookDetail:
    """The playbook with its draft; `diagnostics` if they were computed already."""
    versions = row.versions.select_related("author").defer("document")
    return PlaybookDetail(
        id=row.pk,
        name=row.name,
        description=row.description,
        revision=row.revision,
        updated_at=row.updated_at,
        document=row.document,
        diagnostics=check_document(row.document) if diagnostics is None else diagnostics,
        versions=tuple(version_summary(version) for version in versions),
    )


def created(row: SavedPlaybook, companions: Iterable[Companion]) -> CreatedPlaybook:
    """The new playbook, and those that came with it."""
    came = (CompanionSummary(id=one.row.pk, name=one.row.name, created=one.created) for one in companions)
    return CreatedPlaybook(**dict(detail(row)), companions=tuple(came))


def summary(row: SavedPlaybook) -> PlaybookSummary:
    """The playbook as the gallery shows it."""
    return PlaybookSummary(
        id=row.pk,
        name=row.name,
        description=row.description,
        revision=row.revision,
        updated_at=row.updated_at,
        stage_count=len(row.document.get("stages", ())),
        transition_count=len(row.document.get("transitions", ())),
        problems=_counts(row),
        thumbnail=thumbnail(row.document),
    )


def version_summary(row: PlaybookVersion) -> VersionSummary:
    """The version without its document."""
    return VersionSummary(
        number=row.number,
        note=row.note,
        created_at=row.created_at,
        author=row.author.get_username() if row.author else None,
    )


def version_detail(row: PlaybookVersion) -> VersionDetail:
    """The version with its document."""
    return VersionDetail(**version_summary(row).model_dump(), document=row.document)


def thumbnail(document: dict[str, Any]) -> Thumbnail:
    """Places from `metadata.studio.layout`; anything odd there counts as no place."""
    layout = _layout(document)
    stages = [_thumbnail_stage(stage, layout.get(stage["id"])) for stage in document.get("stages", ())]
    edges = [
        (rule["from"], rule["action"]["targetStage"])
        for rule in document.get("transitions", ())
        if isinstance(rule["action"].get("targetStage"), str) and not rule.get("disabled")
    ]
    return Thumbnail(stages=tuple(stages), edges=tuple(edges))


def _layout(document: dict[str, Any]) -> dict[str, Any]:
    value: Any = document
    for key in ("metadata", "studio", "layout"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _thumbnail_stage(stage: dict[str, Any], position: Any) -> ThumbnailStage:
    x, y = (
        (_number(position.get(axis)) for axis in ("x", "y")) if isinstance(position, dict) else (None, None)
    )
    return ThumbnailStage(id=stage["id"], x=x, y=y, kind=stage.get("kind", "chat"))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else None


def _counts(row: SavedPlaybook) -> ProblemCounts:
    """Remembered per revision: the list would otherwise check every playbook at each look."""
    key = f"problems:{row.pk}:{row.revision}"
    known: ProblemCounts | None = cache.get(key)
    if known is None:
        known = _count(row.document)
        cache.set(key, known)
    return known


def _count(document: dict[str, Any]) -> ProblemCounts:
    found = [diagnostic.severity for diagnostic in check_document(document)]
    return ProblemCounts(errors=found.count("error"), warnings=found.count("warning"))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise not_found("playbook") from None
