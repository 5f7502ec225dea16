"""Rows of the editing side: playbooks with their draft, and the immutable versions. They hold no rule."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class SavedPlaybook(models.Model):
    """A playbook of one owner: its draft (document + revision) and its versions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="playbooks")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    document = models.JSONField()
    """The draft, as it was typed: may be incomplete, is always valid JSON of the format."""
    revision = models.PositiveIntegerField(default=1)
    """Counts the draft's changes; a save names the revision it started from."""
    template = models.CharField(max_length=100, blank=True)
    """Slug of the gallery playbook it was made from."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    """Set instead of deleting, so that a deletion can be undone."""

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"])]

    def __str__(self) -> str:
        return self.name


class PlaybookVersion(models.Model):
    """A published state of a playbook; never changed."""

    playbook = models.ForeignKey(SavedPlaybook, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    document = models.JSONField()
    note = models.CharField(max_length=500, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["playbook", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"v{self.number}"
