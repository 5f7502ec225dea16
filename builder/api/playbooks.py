"""Playbooks and their drafts."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils import timezone
from ninja import Status

from builder import drafts
from builder.api import rows
from builder.api.errors import ApiError, not_found
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import (
    Conflict,
    CreatedPlaybook,
    CurrentDraft,
    DraftSaved,
    NewPlaybook,
    PlaybookDetail,
    PlaybookSummary,
    SaveDraft,
)
from builder.companions import Companion, create_with
from builder.transfer.templates import blank_document, template_agents, template_document
from builder.validation import check_document

router = routes("playbooks")


@router.get("", response=list[PlaybookSummary], operation_id="listPlaybooks")
def list_playbooks(request: HttpRequest, deleted: bool = False) -> list[PlaybookSummary]:
    """The newest first; with `deleted`, those that can be restored."""
    found = rows.owned(request).filter(deleted_at__isnull=not deleted)
    return [rows.summary(row) for row in found]


@router.post("", response={201: CreatedPlaybook}, operation_id="createPlaybook")
def create_playbook(request: HttpRequest, start: NewPlaybook) -> Status[CreatedPlaybook]:
    """Starts from a document, a template with the playbooks that it calls, another playbook, or nothing."""
    if sum(given is not None for given in (start.document, start.template, start.copy_of)) > 1:
        raise ApiError(422, "invalid-request", "Give one of document, template and copyOf, not several.")
    owner = rows.signed_in(request)
    companions: list[Companion] = []
    if start.document is not None:
        row = drafts.create(owner, start.document.raw)
    elif start.copy_of is not None:
        row = drafts.create(owner, drafts.copy_of(rows.find(request, str(start.copy_of))))
    elif start.template is not None:
        document = template_document(start.template)
        if document is None:
            raise not_found("template")
        agents = template_agents(document)
        row, companions = create_with(owner, document, agents, template=start.template)
    else:
        row = drafts.create(owner, blank_document())
    return Status(201, rows.created(row, companions))


@router.get("/{id}", response=PlaybookDetail, operation_id="readPlaybook")
def read_playbook(request: HttpRequest, playbook_id: PlaybookId) -> PlaybookDetail:
    """The draft, what is wrong with it, and the list of its versions."""
    return rows.detail(rows.find(request, playbook_id))


@router.put("/{id}/draft", response={200: DraftSaved, 409: Conflict}, operation_id="saveDraft")
def save_draft(request: HttpRequest, playbook_id: PlaybookId, draft: SaveDraft) -> DraftSaved:
    """Saves if the draft is still at `revision`. Errors in it don't keep it from being saved."""
    row = rows.find(request, playbook_id)
    try:
        drafts.save(rows.owned(request).filter(pk=row.pk), draft.revision, draft.document.raw)
    except drafts.Stale:
        raise stale(request, playbook_id) from None
    row.refresh_from_db(fields=["revision", "updated_at"])
    return DraftSaved(
        revision=draft.revision + 1,
        updated_at=row.updated_at,
        diagnostics=check_document(draft.document.raw, draft.document.playbook),
    )


@router.delete("/{id}", response={204: None}, operation_id="deletePlaybook")
def delete_playbook(request: HttpRequest, playbook_id: PlaybookId) -> Status[None]:
    """Puts it aside; `restore` brings it back."""
    row = rows.find(request, playbook_id)
    row.deleted_at = timezone.now()
    row.save(update_fields=["deleted_at"])
    return Status(204, None)


@router.post("/{id}/restore", response=PlaybookDetail, operation_id="restorePlaybook")
def restore_playbook(request: HttpRequest, playbook_id: PlaybookId) -> PlaybookDetail:
    """Takes a deletion back."""
    row = rows.find(request, playbook_id, deleted=True)
    row.deleted_at = None
    row.save(update_fields=["deleted_at"])
    return rows.detail(row)


def stale(request: HttpRequest, playbook_id: str) -> ApiError:
    """The answer to a change that started from an older revision: what stands there now."""
    row = rows.find(request, playbook_id)
    current = CurrentDraft(revision=row.revision, document=row.document, updated_at=row.updated_at)
    return ApiError(
        409,
        "stale-revision",
        f"“{row.name}” was changed in the meantime (it is at revision {row.revision}). Nothing was saved.",
        more={"current": current.model_dump(mode="json")},
    )
