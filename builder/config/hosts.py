"""A request for a host that is not ours: 400 with a sentence, and one line in the log.

Django itself writes a traceback for each, and anybody can send them.
"""

import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from builder.api.errors import ApiError
from builder.api.one_shape import PREFIX

logger = logging.getLogger(__name__)

SHOWN = 100
"""Characters of a stranger's text that are worth a log line."""
SENTENCE = (
    "This studio does not answer to that host name; the setting STUDIO_ALLOWED_HOSTS lists those it has."
)

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase] | HttpResponseBase]


class KnownHostsOnly:
    """Middleware for both worlds, before the first one that asks for the host."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Awaitable[HttpResponseBase] | HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost:
            answer = refused(request)
            return later(answer) if self.is_async else answer
        return self.get_response(request)


async def later(answer: HttpResponse) -> HttpResponseBase:
    return answer


def refused(request: HttpRequest) -> HttpResponse:
    host = ascii(request.META.get("HTTP_HOST", ""))[:SHOWN]
    logger.warning(
        "Refused a request for the host %s: if this studio has that name, add it to STUDIO_ALLOWED_HOSTS.",
        host,
    )
    if request.path.startswith(PREFIX):
        error = ApiError(400, "unknown-host", SENTENCE)
        return JsonResponse(error.body(), status=error.status)
    return HttpResponse(SENTENCE, status=400, content_type="text/plain; charset=utf-8")
