"""Rows of the running side: sessions, their logs, calls and texts, and the jobs. They hold no rule."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class StoredSession(models.Model):
    """One conversation with one version of a playbook. It carries the documents that it runs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="playbook_sessions"
    )
    playbook_ref = models.CharField(max_length=100, blank=True, db_index=True)
    """Who runs it: the id that the editing side gave. Opaque here."""
    playbook_version = models.CharField(max_length=40, blank=True)
    """`draft@REVISION` or a version number; for people."""
    title = models.CharField(max_length=200, blank=True)
    document = models.JSONField()
    agents = models.JSONField(default=dict)
    """Documents of the agents it may call, by playbook id."""
    start_data = models.JSONField(null=True, blank=True)
    """What the session was started with; becomes the initial stage's data."""
    start_model = models.CharField(max_length=100, blank=True)
    """Model for stages that name none, from the start; empty: as the playbook says."""
    status = models.CharField(max_length=20, default="new")
    stage = models.CharField(max_length=200, blank=True)
    turns = models.PositiveIntegerField(default=0)
    last_seq = models.PositiveBigIntegerField(default=0)
    lease_owner = models.CharField(max_length=80, blank=True)
    """The process that runs a turn now; empty when none does."""
    lease_until = models.DateTimeField(null=True, blank=True)
    running = models.JSONField(null=True, blank=True)
    """`{turn, call, text}`: the reply that is being streamed, as of about a second ago. Other processes
    show it to sockets of theirs, and it is what is known to have been shown when the process dies."""
    wake_at = models.DateTimeField(null=True, blank=True, db_index=True)
    """When the next timer of a stage is due; null while none runs."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at"]
        indexes = [models.Index(fields=["owner", "-updated_at"]), models.Index(fields=["lease_until"])]

    def __str__(self) -> str:
        return self.title or str(self.id)


class LoggedEvent(models.Model):
    """One event of a session's log. Segment texts in it are kept by hash."""

    session = models.ForeignKey(StoredSession, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    type = models.CharField(max_length=40)
    turn = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()
    payload = models.JSONField()

    class Meta:
        ordering = ["session", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="one_event_per_seq")]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"


class SegmentText(models.Model):
    """The text of a segment, once, by its hash within its owner's sessions."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    hash = models.CharField(max_length=64)
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "hash"], name="one_text_per_hash")]

    def __str__(self) -> str:
        return self.hash


class ArtifactText(models.Model):
    """The text of an artifact's content, once for its session, by its hash: what the log only refers to."""

    session = models.ForeignKey(StoredSession, on_delete=models.CASCADE, related_name="artifact_texts")
    hash = models.CharField(max_length=64)
    text = models.TextField()
    """As a model reads it: canonical JSON of everything that is no text."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "hash"], name="one_content_per_hash")]

    def __str__(self) -> str:
        return self.hash


class LLMCall(models.Model):
    """One request to a model: what it brought, the request's digest, usage, times."""

    session = models.ForeignKey(StoredSession, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveIntegerField()
    turn = models.PositiveIntegerField()
    phase = models.PositiveSmallIntegerField(default=1)
    stage = models.CharField(max_length=200)
    lane = models.CharField(max_length=200)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=100)
    status = models.CharField(max_length=20, default="running")
    """`running`, `complete`, `failed`, `interrupted`."""
    texts = models.JSONField(default=list)
    """Hashes of the texts that came with it: of the segments it added, and of rewritings just before it. What
    its whole window was stands in the log, as differences."""
    cache_points = models.JSONField(default=list)
    predicted = models.JSONField(null=True, blank=True)
    usage = models.JSONField(null=True, blank=True)
    cost = models.FloatField(null=True, blank=True)
    """US dollars; null is unknown."""
    request_digest = models.CharField(max_length=64, blank=True)
    started_at = models.DateTimeField()
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["session", "number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="one_call_per_number")]

    def __str__(self) -> str:
        return f"call {self.number}"


class Job(models.Model):
    """Work that must outlive a socket. The row is the truth; the broker carries ids only."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=60)
    key = models.CharField(max_length=200, unique=True)
    """Idempotency key: the same key is the same job."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    payload = models.JSONField(default=dict)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=5)
    due_at = models.DateTimeField()
    lease_owner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["due_at"]
        indexes = [models.Index(fields=["state", "due_at"]), models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
