"""The playbooks that a document calls as agents, found among its owner's: what a session of it is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from builder.api import rows
from builder.api.routing import routes
from builder.api.schemas import AgentDocuments, ToValidate
from builder.models import SavedPlaybook

router = routes("playbooks")


@router.post("/agents", response=AgentDocuments, operation_id="findAgents")
def find_agents(request: HttpRequest, body: ToValidate) -> AgentDocuments:
    """The drafts that the document's agents name, by `id` of the document or of the playbook, and those that
    they name in turn. Of several with one id the newest is meant; an id that nobody has is left out."""
    mine = rows.owned(request).filter(deleted_at__isnull=True)
    found: dict[str, dict[str, Any]] = {}
    wanted = _named_in(body.document.raw)
    while wanted:
        known = _documents(mine, wanted)
        found |= known
        wanted = {name for document in known.values() for name in _named_in(document)} - found.keys()
    return AgentDocuments(agents=found)


def _named_in(document: Mapping[str, Any]) -> set[str]:
    return {agent["playbook"] for agent in document.get("agents") or ()}


def _documents(mine: QuerySet[SavedPlaybook], wanted: Iterable[str]) -> dict[str, dict[str, Any]]:
    names = set(wanted)
    keys = {key for name in names if (key := _uuid(name)) is not None}
    found = mine.filter(Q(document__id__in=names) | Q(pk__in=keys)).order_by("updated_at")
    by_name: dict[str, dict[str, Any]] = {}
    for row in found:
        by_name |= {name: row.document for name in names if name in (str(row.pk), row.document.get("id"))}
    return by_name


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
