"""Files in and out, and the check of a document that is not saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from ninja import Query

from builder.api import rows
from builder.api.bodies import raw_body
from builder.api.errors import ApiError, ErrorBody, invalid_document
from builder.api.routing import PlaybookId, routes
from builder.api.schemas import CreatedPlaybook, Imported, Template, ToValidate, Validated
from builder.companions import agents_of, create_with
from builder.transfer import ReportEntry, canonical, export, file_name, load
from builder.transfer.companions import Document, LoadedTogether, load_agents, packed, relinked
from builder.transfer.templates import template_agents, templates
from builder.validation import check_document
from runtime.playbook.errors import Problem

router = routes("files")

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
    "/import", response={200: Imported, 422: ErrorBody}, operation_id="importFile", openapi_extra=_RAW_BODY
)
def import_file(request: HttpRequest, save: bool = False) -> Imported:
    """Reads a playbook file, ours or another's. With `save` it becomes a new playbook, and so do those in it
    that it calls; none is replaced."""
    loaded = load(raw_body(request))
    if loaded.document is None:
        raise _refusal(loaded.report)
    together = load_agents(loaded.document)
    report = (*loaded.report, *together.report)
    if together.refused:
        raise _refusal(report)
    return Imported(
        report=report,
        document=together.document,
        agents=_names(together.agents),
        playbook=_saved(rows.signed_in(request), together) if save else None,
    )


def _saved(owner: User, together: LoadedTogether) -> CreatedPlaybook:
    return rows.created(*create_with(owner, together.document, together.agents))


def _names(agents: Mapping[str, Document]) -> tuple[str, ...]:
    return tuple(agent["name"] for agent in agents.values())


@router.get(
    "/playbooks/{id}/export",
    response={200: None},
    operation_id="exportPlaybook",
    openapi_extra=_FILE,
)
def export_playbook(
    request: HttpRequest,
    playbook_id: PlaybookId,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> HttpResponse:
    """The draft, or one version, as a file, with the drafts of the playbooks that it calls inside: the same
    documents always give the same bytes."""
    if version is None:
        document = rows.find(request, playbook_id).document
    else:
        document = rows.find_version(request, playbook_id, version).document
    answer = HttpResponse(
        export(_with_agents(request, document)), content_type="application/json; charset=utf-8"
    )
    answer["Content-Disposition"] = content_disposition_header(True, file_name(document))
    return answer


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


def _with_agents(request: HttpRequest, document: Document) -> Document:
    """The document and those that it calls, as one; each is named by the id that it has as a document."""
    found = agents_of(rows.owned(request), document)
    names = {name: str(row.document["id"]) for name, row in found.items()}
    agents = {names[name]: canonical(relinked(row.document, names)) for name, row in found.items()}
    agents.pop(document["id"], None)
    return packed(relinked(document, names), agents)


def _refusal(report: Sequence[ReportEntry]) -> ApiError:
    errors = [Problem(entry.path, entry.message, entry.code) for entry in report if entry.level == "error"]
    entries = [entry.model_dump(mode="json") for entry in report]
    return invalid_document(errors, report=entries, document=None, playbook=None)
