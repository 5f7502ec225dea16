"""Files in and out, and the check of a document that is not saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from ninja import Query

from builder import drafts
from builder.api import rows
from builder.api.bodies import raw_body
from builder.api.errors import ApiError, ErrorBody, invalid_document, not_found
from builder.api.playbooks import stale
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import (
    Conflict,
    CreatedPlaybook,
    ExportFormat,
    Imported,
    Revision,
    Template,
    ToValidate,
    Validated,
)
from builder.companions import create_with, replace_with, with_agents
from builder.transfer import ReportEntry
from builder.transfer.companions import Document, load_together
from builder.transfer.exporters import BY_KEY, FORMATS, write
from builder.transfer.templates import template_agents, templates
from builder.validation import check_document
from builder.validation.report import GraphReport, report_of
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


@router.post("/report", response=GraphReport, operation_id="reportOnDocument")
def report_on_document(request: HttpRequest, given: ToValidate) -> GraphReport:
    """The graph in figures: ways to an end, gates, traps, and all findings; nothing is saved."""
    return report_of(given.document.playbook)


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
    draft of that one if it is at `revision`; the draft there was is kept as a version. Those in the file that
    it calls as agents become new playbooks, unless they are there already, unchanged."""
    together = load_together(raw_body(request))
    if together.document is None:
        raise _refusal(together.report)
    return Imported(
        report=together.report,
        document=together.document,
        agents=_names(together.agents),
        playbook=_saved(request, together.document, together.agents, into, revision) if save else None,
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
    """The draft, or one version, as a file: the same document always gives the same bytes. A playbook file
    has the drafts of those that it calls as agents inside."""
    kind = BY_KEY.get(key)
    if kind is None:
        raise not_found("format")
    document = rows.document(request, playbook_id, version)
    if key == "json":
        document = with_agents(rows.owned(request), document)
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
    request: HttpRequest,
    document: Document,
    agents: Mapping[str, Document],
    into: str | None,
    revision: int | None,
) -> CreatedPlaybook:
    owner = rows.signed_in(request)
    if into is None:
        return rows.created(*create_with(owner, document, agents))
    row = rows.find(request, into)
    if revision is None:
        raise ApiError(422, "invalid-request", "Name the revision that is to be replaced.", path="/revision")
    try:
        came = replace_with(row, revision, document, agents, "Before an import", owner)
    except drafts.Stale:
        raise stale(request, into) from None
    return rows.created(row, came)


@router.get("/templates", response=list[Template], operation_id="listTemplates")
def list_templates(request: HttpRequest) -> list[Template]:
    """The gallery's playbooks."""
    return [
        Template(
            slug=slug,
            name=document["name"],
            description=document.get("description", ""),
            agents=_names(template_agents(document)),
        )
        for slug, document in templates()
    ]


def _names(agents: Mapping[str, Document]) -> tuple[str, ...]:
    return tuple(agent["name"] for agent in agents.values())


def _refusal(report: Sequence[ReportEntry]) -> ApiError:
    errors = [Problem(entry.path, entry.message, entry.code) for entry in report if entry.level == "error"]
    entries = [entry.model_dump(mode="json") for entry in report]
    return invalid_document(errors, report=entries, document=None, playbook=None)
