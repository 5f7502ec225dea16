"""Playbooks and versions in Django's admin: to look at, not to edit past the editor's checks."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from builder.models import PlaybookVersion, SavedPlaybook


@admin.register(SavedPlaybook)
class SavedPlaybookAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    list_display = ("name", "owner", "revision", "updated_at", "deleted_at")
    list_filter = ("deleted_at",)
    search_fields = ("name", "description")
    readonly_fields = ("id", "document", "revision", "template", "created_at", "updated_at")


@admin.register(PlaybookVersion)
class PlaybookVersionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("playbook", "number", "note", "author", "created_at")
    list_select_related = ("playbook", "author")
    search_fields = ("playbook__name", "note")
    readonly_fields = ("playbook", "number", "document", "author", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: PlaybookVersion | None = None) -> bool:
        """A version is never changed."""
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A version is made from a draft, in the editor."""
        return False
