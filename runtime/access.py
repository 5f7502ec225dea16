"""Who may see a session: its owner, while the owner is signed in. Not for the event loop."""

from __future__ import annotations

import uuid
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY

from runtime.models import StoredSession


def may_use(session: uuid.UUID, user_id: int, login: str | None) -> bool:
    """Whether that user owns the session, is active, and (where a login is named) is still signed in by
    it."""
    owned = StoredSession.objects.filter(pk=session, owner_id=user_id, owner__is_active=True).exists()
    return owned and (login is None or _signed_in(login, user_id))


def _signed_in(login: str, user_id: int) -> bool:
    store: Any = import_module(settings.SESSION_ENGINE).SessionStore
    return str(store(login).load().get(SESSION_KEY)) == str(user_id)
