"""What a new owner finds: the first playbook of the gallery, put there once and never again."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from builder import drafts
from builder.models import SavedPlaybook
from builder.transfer.templates import FIRST, template_document


def seed_gallery(owner: User) -> SavedPlaybook | None:
    """Gives the owner “Customer support” if they never had it, and respects its deletion."""
    document = template_document(FIRST)
    if document is None:
        raise FileNotFoundError(f"The gallery's {FIRST}.json is missing or broken.")
    with transaction.atomic():
        # The lock keeps two processes that start together from seeding twice.
        User.objects.select_for_update().get(pk=owner.pk)
        if SavedPlaybook.objects.filter(owner=owner.pk, template=FIRST).exists():
            return None
        return drafts.create(owner, document, template=FIRST)
