"""Playbooks that call others as agents: the others are found, and come along where such a one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from builder import drafts
from builder.models import SavedPlaybook
from builder.transfer import canonical
from builder.transfer.companions import Document, agents_named, packed, relinked


@dataclass(frozen=True, slots=True)
class Companion:
    """A playbook that another one calls; `created` or there already."""

    row: SavedPlaybook
    created: bool


def agents_of(mine: QuerySet[SavedPlaybook], document: Document) -> dict[str, SavedPlaybook]:
    """The playbooks that the document's agents name, by `id` of the document or of the playbook, and those
    that they name in turn. Of several with one id the newest is meant; an id that nobody has is left out."""
    found: dict[str, SavedPlaybook] = {}
    wanted = set(agents_named(document))
    while wanted:
        known = newest(mine, wanted)
        found |= known
        wanted = {name for row in known.values() for name in agents_named(row.document)} - found.keys()
    return found


def newest(mine: QuerySet[SavedPlaybook], names: Iterable[str]) -> dict[str, SavedPlaybook]:
    """The playbook that each name means."""
    wanted = set(names)
    keys = {key for name in wanted if (key := _uuid(name)) is not None}
    rows = mine.filter(Q(document__id__in=wanted) | Q(pk__in=keys), deleted_at__isnull=True)
    found: dict[str, SavedPlaybook] = {}
    for row in rows.order_by("updated_at"):
        found |= {name: row for name in wanted if name in (str(row.pk), row.document.get("id"))}
    return found


def with_agents(mine: QuerySet[SavedPlaybook], document: Document) -> Document:
    """The document and those that it calls, as one; each is named by the id that it has as a document."""
    found = agents_of(mine, document)
    names = {name: str(row.document["id"]) for name, row in found.items()}
    agents = {names[name]: canonical(relinked(row.document, names)) for name, row in found.items()}
    agents.pop(document["id"], None)
    return packed(relinked(document, names), agents)


def create_with(
    owner: User, document: Document, agents: Mapping[str, Document], *, template: str = ""
) -> tuple[SavedPlaybook, list[Companion]]:
    """A new playbook and the ones it calls. One that the owner has already, unchanged, is called as it is;
    any other comes anew, under an id that is free, and the callers name it by that."""
    with transaction.atomic():
        changed, came = _brought(owner, document, agents)
        row = drafts.create(owner, changed, template=template)
        for companion in came:
            if companion.created:
                _relink(companion.row, {document["id"]: row.document["id"]})
    return row, came


def replace_with(
    row: SavedPlaybook,
    revision: int,
    document: Document,
    agents: Mapping[str, Document],
    note: str,
    author: User,
) -> list[Companion]:
    """Another document as the draft, which is kept as a version, and the ones it calls. Raises Stale: then
    nothing has changed."""
    with transaction.atomic():
        changed, came = _brought(author, document, agents)
        drafts.replace(row, revision, changed, note, author)
    return came


def _brought(
    owner: User, document: Document, agents: Mapping[str, Document]
) -> tuple[Document, list[Companion]]:
    """The document, naming the owner's playbooks that are these agents; those that are missing are made."""
    kept = _kept(owner, agents)
    made = {name: drafts.create(owner, agents[name]) for name in agents if name not in kept}
    names = {name: str(row.document["id"]) for name, row in (kept | made).items()}
    for row in made.values():
        _relink(row, names)
    came = [Companion((kept | made)[name], created=name in made) for name in agents]
    return relinked(document, names), came


def _kept(owner: User, agents: Mapping[str, Document]) -> dict[str, SavedPlaybook]:
    """Those that the owner has as they are. One that calls a new one is new itself."""
    mine = SavedPlaybook.objects.filter(owner=owner.pk, deleted_at__isnull=True)
    kept = {
        name: row for name, document in agents.items() if (row := _same(mine, name, document)) is not None
    }
    while True:
        stale = [name for name in kept if not _calls_only(agents[name], agents, kept)]
        if not stale:
            return kept
        for name in stale:
            del kept[name]


def _same(mine: QuerySet[SavedPlaybook], name: str, document: Document) -> SavedPlaybook | None:
    """The owner's playbook that differs in nothing but the number at its id and name, if that id means it."""
    alike = mine.filter(document__id__startswith=name).order_by("-updated_at")
    ids = {row.document["id"] for row in alike if _plain(row.document) == _plain(document)}
    meant = newest(mine, ids)
    return next((meant[key] for key in sorted(ids) if _plain(meant[key].document) == _plain(document)), None)


def _plain(document: Document) -> Document:
    return {key: value for key, value in document.items() if key not in ("id", "name", "$schema")}


def _calls_only(document: Document, agents: Mapping[str, Any], kept: Mapping[str, SavedPlaybook]) -> bool:
    """Every playbook that it calls is kept under the id that it is called by."""
    called = [name for name in agents_named(document) if name in agents]
    return all(name in kept and kept[name].document["id"] == name for name in called)


def _relink(row: SavedPlaybook, names: Mapping[str, str]) -> None:
    changed = relinked(row.document, names)
    if changed is not row.document:
        row.document = changed
        row.save(update_fields=["document"])


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
