"""The content security policy, on every answer."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "worker-src 'self'",
        "connect-src 'self'",
        # The component kit and the code editor write <style> elements as they render. Scripts stay strict.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase] | HttpResponseBase]


class ContentSecurityPolicy:
    """Middleware for both worlds: awaits where the next one is a coroutine function."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Awaitable[HttpResponseBase] | HttpResponseBase:
        answer = self.get_response(request)
        return with_policy(answer) if isinstance(answer, HttpResponseBase) else self.later(answer)

    async def later(self, answer: Awaitable[HttpResponseBase]) -> HttpResponseBase:
        return with_policy(await answer)


def with_policy(response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
    return response
