"""Files in and out, and the check of a document that is not saved."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from ninja import Query

from builder import drafts
from builder.api import rows
from builder.api.bodies import raw_body
from builder.api.errors import ApiError, ErrorBody, invalid_document, not_found
from builder.api.playbooks import stale
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import Conflict, ExportFormat, Imported, Revision, Template, ToValidate, Validated
from builder.models import SavedPlaybook
from builder.transfer import Loaded, load
from builder.transfer.exporters import BY_KEY, FORMATS, write
from builder.transfer.templates import templates
from builder.validation import check_document
from runtime.playbook.errors import Problem

router = routes("files")
VersionNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1)]

_RAW_BODY = {
    "requestBody": {
        "required": True,
        "description": "The file as it is.",
        "content": {"application/json": {"schema": {}}},
    }
}
_FILE = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Playbook"}}},
        }
    }
}


@router.post("/validate", response=Validated, operation_id="validateDocument")
def validate_document(request: HttpRequest, given: ToValidate) -> Validated:
    """Everything that can be said about the document; nothing is saved."""
    return Validated(diagnostics=check_document(given.document.raw, given.document.playbook))


@router.post(
    "/import",
    response={200: Imported, 409: Conflict, 422: ErrorBody},
    operation_id="importFile",
    openapi_extra=_RAW_BODY,
)
def import_file(
    request: HttpRequest, save: bool = False, into: str | None = None, revision: Revision | None = None
) -> Imported:
    """Reads a playbook file, ours or another's. With `save` it becomes a new playbook, or, with `into`, the
    draft of that one if it is at `revision`; the draft there was is kept as a version."""
    loaded = load(raw_body(request))
    if loaded.document is None:
        raise invalid_document(_errors(loaded), **_refused(loaded))
    row = _saved(request, loaded.document, into, revision) if save else None
    return Imported(
        report=loaded.report, document=loaded.document, playbook=rows.detail(row) if row is not None else None
    )


@router.get(
    "/playbooks/{id}/export",
    response={200: None},
    operation_id="exportPlaybook",
    openapi_extra=_FILE,
)
def export_playbook(
    request: HttpRequest,
    playbook_id: PlaybookId,
    version: VersionNumber = None,
    key: Annotated[str, Query(alias="format")] = "json",
) -> HttpResponse:
    """The draft, or one version, as a file: the same document always gives the same bytes."""
    kind = BY_KEY.get(key)
    if kind is None:
        raise not_found("format")
    document = rows.document(request, playbook_id, version)
    answer = HttpResponse(write(document, key).data, content_type=f"{kind.media_type}; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(True, kind.file_name(document))
    return answer


@router.get("/playbooks/{id}/exports", response=list[ExportFormat], operation_id="listExports")
def list_exports(
    request: HttpRequest, playbook_id: PlaybookId, version: VersionNumber = None
) -> list[ExportFormat]:
    """What the draft, or one version, can be written as, and what each of them cannot carry."""
    document = rows.document(request, playbook_id, version)
    return [
        ExportFormat(
            format=kind.key,
            title=kind.title,
            file_name=kind.file_name(document),
            report=write(document, kind.key).report,
        )
        for kind in FORMATS
    ]


def _saved(
    request: HttpRequest, document: dict[str, Any], into: str | None, revision: int | None
) -> SavedPlaybook:
    if into is None:
        return drafts.create(rows.signed_in(request), document)
    row = rows.find(request, into)
    if revision is None:
        raise ApiError(422, "invalid-request", "Name the revision that is to be replaced.", path="/revision")
    try:
        drafts.replace(row, revision, document, "Before an import", rows.signed_in(request))
    except drafts.Stale:
        raise stale(request, into) from None
    return row


@router.get("/templates", response=list[Template], operation_id="listTemplates")
def list_templates(request: HttpRequest) -> list[Template]:
    """The gallery's playbooks."""
    return [Template(slug=slug, name=name, description=text) for slug, name, text in templates()]


def _errors(loaded: Loaded) -> list[Problem]:
    return [Problem(e.path, e.message, e.code) for e in loaded.report if e.level == "error"]


def _refused(loaded: Loaded) -> dict[str, object]:
    report = [entry.model_dump(mode="json") for entry in loaded.report]
    return {"report": report, "document": None, "playbook": None}
