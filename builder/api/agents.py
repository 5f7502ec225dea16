"""The playbooks that a document calls as agents, found among its owner's: what a session of it is given."""

from __future__ import annotations

from django.http import HttpRequest

from builder.api import rows
from builder.api.routing import routes
from builder.api.schemas import AgentDocuments, NamedPlaybook, ToValidate
from builder.companions import agents_of

router = routes("playbooks")


@router.post("/agents", response=AgentDocuments, operation_id="findAgents")
def find_agents(request: HttpRequest, body: ToValidate) -> AgentDocuments:
    """The drafts that the document's agents name, by `id` of the document or of the playbook, and those that
    they name in turn. Of several with one id the newest is meant; an id that nobody has is left out."""
    found = agents_of(rows.owned(request), body.document.raw)
    return AgentDocuments(
        agents={name: row.document for name, row in found.items()},
        playbooks={name: NamedPlaybook(id=row.pk, name=row.name) for name, row in found.items()},
    )
