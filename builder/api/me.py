"""Who is signed in, and what this server offers."""

from __future__ import annotations

from django.http import HttpRequest
from django.middleware.csrf import get_token

from builder import __version__
from builder.api.connections import offered_models
from builder.api.routing import routes
from builder.api.rows import signed_in
from builder.api.schemas import Me, UserInfo

router = routes("me")


@router.get("", response=Me, operation_id="me")
def me(request: HttpRequest) -> Me:
    """The first question of every page: also sets the CSRF cookie."""
    return Me(
        user=UserInfo(name=signed_in(request).get_username()),
        csrf_token=get_token(request),
        version=__version__,
        models=offered_models(),
    )
