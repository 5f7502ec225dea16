"""Changes to playbooks: each one is a single statement or transaction, and a stale one changes nothing."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

from builder.models import PlaybookVersion, SavedPlaybook

NAME_LENGTH: Final = 200


class Stale(Exception):
    """The draft is not at the revision that the change started from."""


def create(
    owner: User, document: dict[str, Any], *, template: str = "", rename: bool = True
) -> SavedPlaybook:
    """A new playbook. With `rename`, an `id` or name that the owner has already gets a number."""
    if rename:
        document = _distinct(owner, document)
    return SavedPlaybook.objects.create(
        owner=owner, template=template, document=document, **_columns(document)
    )


def save(rows: QuerySet[SavedPlaybook], revision: int, document: dict[str, Any]) -> None:
    """Replaces the draft of the one playbook in `rows` if it is at that revision. Raises Stale."""
    changed = rows.filter(revision=revision).update(
        document=document, revision=F("revision") + 1, updated_at=timezone.now(), **_columns(document)
    )
    if not changed:
        raise Stale


def keep_version(row: SavedPlaybook, revision: int, note: str, author: User) -> PlaybookVersion:
    """Keeps the draft of that revision for good. Raises Stale."""
    with transaction.atomic():
        # The lock makes the numbers of two simultaneous versions differ.
        current = SavedPlaybook.objects.select_for_update().get(pk=row.pk)
        if current.revision != revision:
            raise Stale
        last = current.versions.aggregate(last=Max("number"))["last"] or 0
        return PlaybookVersion.objects.create(
            playbook=current, number=last + 1, document=current.document, note=note, author_id=author.pk
        )


def replace(
    row: SavedPlaybook, revision: int, document: dict[str, Any], note: str, author: User
) -> PlaybookVersion:
    """Another document as the draft; the draft there was is kept as a version. Raises Stale."""
    with transaction.atomic():
        kept = keep_version(row, revision, note, author)
        save(SavedPlaybook.objects.filter(pk=row.pk), revision, document)
    row.refresh_from_db()
    return kept


def copy_of(row: SavedPlaybook) -> dict[str, Any]:
    """The draft as the document of a new playbook."""
    return {**row.document, "name": f"{row.document.get('name', row.name)} copy"[:NAME_LENGTH]}


def _columns(document: dict[str, Any]) -> dict[str, str]:
    return {
        "name": str(document["name"])[:NAME_LENGTH],
        "description": str(document.get("description") or ""),
    }


def _distinct(owner: User, document: dict[str, Any]) -> dict[str, Any]:
    taken = SavedPlaybook.objects.filter(owner=owner.pk, deleted_at__isnull=True)
    ids, names = set(taken.values_list("document__id", flat=True)), set(taken.values_list("name", flat=True))
    if document["id"] not in ids:
        return document
    changed = {**document, "id": _free(document["id"], ids, "{}-{}", 64)}
    if document["name"] in names:
        changed["name"] = _free(document["name"], names, "{} {}", NAME_LENGTH)
    return changed


def _free(wanted: str, taken: set[str], form: str, length: int) -> str:
    number = 2
    while True:
        candidate = form.format(wanted[: length - 6], number)
        if candidate not in taken:
            return candidate
        number += 1
