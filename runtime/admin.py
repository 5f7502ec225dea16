"""Sessions and jobs for the operator: to look at and to delete. Nothing in a log can be edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from runtime.models import Job, LLMCall, LoggedEvent, StoredSession


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic at run time
    """No adding, no changing."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(StoredSession)
class StoredSessionAdmin(ReadOnly):
    list_display = ("__str__", "owner", "status", "stage", "turns", "last_seq", "lease_owner", "updated_at")
    list_filter = ("status",)
    search_fields = ("id", "title", "playbook_ref", "owner__username")
    list_select_related = ("owner",)
    date_hierarchy = "updated_at"


@admin.register(LoggedEvent)
class LoggedEventAdmin(ReadOnly):
    list_display = ("session_id", "seq", "type", "turn", "at")
    list_filter = ("type",)
    search_fields = ("session__id",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a log without gaps is what a session is; delete the session


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnly):
    list_display = (
        "session_id",
        "number",
        "turn",
        "stage",
        "model",
        "status",
        "cost",
        "duration_ms",
        "started_at",
    )
    list_filter = ("status", "provider", "model")
    search_fields = ("session__id",)


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ("kind", "key", "state", "attempts", "due_at", "lease_owner", "finished_at")
    list_filter = ("state", "kind")
    search_fields = ("key",)
