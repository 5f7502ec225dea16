"""Versions: states of a playbook that are kept for good."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Query, Status
from pydantic import ValidationError

from builder import drafts
from builder.api import rows
from builder.api.errors import invalid_document
from builder.api.playbooks import stale
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import (
    Conflict,
    MergedDraft,
    NewVersion,
    PlaybookDetail,
    RestoreVersion,
    ToMerge,
    VersionDetail,
    VersionSummary,
)
from builder.changes import Comparison, compare, merge
from builder.validation.pointers import problems
from runtime.playbook import Playbook

router = routes("versions")
Side = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
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


@router.get("/{id}/diff", response=Comparison, operation_id="compareVersions")
def compare_versions(
    request: HttpRequest, playbook_id: PlaybookId, before: Side = None, after: Side = None
) -> Comparison:
    """What differs between two versions; one that is not given is the draft."""
    old, new = (_playbook(rows.document(request, playbook_id, number)) for number in (before, after))
    return compare(old, new)


@router.post("/{id}/merge", response=MergedDraft, operation_id="mergeDraft")
def merge_draft(request: HttpRequest, playbook_id: PlaybookId, given: ToMerge) -> MergedDraft:
    """My edits and those that the draft got in the meantime, in one document; nothing is saved."""
    row = rows.find(request, playbook_id)
    base = None if given.base is None else given.base.raw
    merged = merge(base, given.mine.raw, row.document, given.choices)
    return MergedDraft(
        revision=row.revision,
        updated_at=row.updated_at,
        theirs=row.document,
        document=merged.document,
        conflicts=merged.conflicts,
        taken=compare(given.mine.playbook, _playbook(merged.document)),
    )


def _playbook(document: dict[str, Any]) -> Playbook:
    try:
        return Playbook.model_validate(document)
    except ValidationError as failure:
        raise invalid_document(problems(failure, document)) from None
