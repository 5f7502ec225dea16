"""Versions: states of a playbook that are kept for good."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Status

from builder import drafts
from builder.api import rows
from builder.api.playbooks import stale
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import (
    Conflict,
    NewVersion,
    PlaybookDetail,
    RestoreVersion,
    VersionDetail,
    VersionSummary,
)

router = routes("versions")
Number = Annotated[int, Path(alias="n", ge=1, le=2**31 - 1)]


@router.get("/{id}/versions", response=list[VersionSummary], operation_id="listVersions")
def list_versions(request: HttpRequest, playbook_id: PlaybookId) -> list[VersionSummary]:
    """The newest first, without their documents."""
    found = rows.find(request, playbook_id).versions.select_related("author").defer("document")
    return [rows.version_summary(row) for row in found]


@router.post("/{id}/versions", response={201: VersionDetail, 409: Conflict}, operation_id="createVersion")
def create_version(
    request: HttpRequest, playbook_id: PlaybookId, version: NewVersion
) -> Status[VersionDetail]:
    """Keeps the draft as the next version."""
    playbook = rows.find(request, playbook_id)
    try:
        row = drafts.keep_version(playbook, version.revision, version.note, rows.signed_in(request))
    except drafts.Stale:
        raise stale(request, playbook_id) from None
    return Status(201, rows.version_detail(row))


@router.get("/{id}/versions/{n}", response=VersionDetail, operation_id="readVersion")
def read_version(request: HttpRequest, playbook_id: PlaybookId, number: Number) -> VersionDetail:
    """One version with its document."""
    return rows.version_detail(rows.find_version(request, playbook_id, number))


@router.post(
    "/{id}/versions/{n}/restore",
    response={200: PlaybookDetail, 409: Conflict},
    operation_id="restoreVersion",
)
def restore_version(
    request: HttpRequest, playbook_id: PlaybookId, number: Number, start: RestoreVersion
) -> PlaybookDetail:
    """Makes the version's document the draft; the versions stay as they are."""
    version = rows.find_version(request, playbook_id, number)
    try:
        drafts.save(rows.owned(request).filter(pk=version.playbook_id), start.revision, version.document)
    except drafts.Stale:
        raise stale(request, playbook_id) from None
    return rows.detail(rows.find(request, playbook_id))
