"""Which pages may open a socket: the site's own, and those of origins that the operator trusts.

The same rule as for requests that change something (Django's CSRF check): the port counts. Cookies are shared
by all ports of a host, so another program's page on this machine would otherwise speak in its visitor's name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Application = Callable[[Any, Any, Any], Awaitable[Any]]


class OwnOriginsOnly:
    """Refuses handshakes of other pages with a 403."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        application = self.application if may_open(scope) else WebsocketDenier()
        return await application(scope, receive, send)


def may_open(scope: Any) -> bool:
    """Whether the handshake's `Origin` is one that may."""
    headers = {name.lower(): value.decode("latin1") for name, value in scope.get("headers", ())}
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    try:
        page = urlsplit(origin)
    except ValueError:
        return False
    return page.scheme in ("http", "https") and page.netloc.lower() == host.lower()
