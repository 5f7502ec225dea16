"""Errors that are answered before or beside the views: they get the API's one shape, too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from builder.api.errors import ApiError, not_found

PREFIX = "/api/"

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase] | HttpResponseBase]


class ErrorsInOneShape:
    """Middleware for both worlds: an unknown address, a wrong method and what Django itself refuses are
    answered as pages, which a program cannot read."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Awaitable[HttpResponseBase] | HttpResponseBase:
        answer = self.get_response(request)
        return (
            in_shape(request, answer) if isinstance(answer, HttpResponseBase) else self.later(request, answer)
        )

    async def later(self, request: HttpRequest, answer: Awaitable[HttpResponseBase]) -> HttpResponseBase:
        return in_shape(request, await answer)


def in_shape(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """The response, or the same error as JSON."""
    is_page = not response.headers.get("Content-Type", "").startswith("application/json")
    if response.status_code < 400 or not is_page or not request.path.startswith(PREFIX):
        return response
    error = _error(request, response.status_code)
    shaped = JsonResponse(error.body(), status=error.status)
    if "Allow" in response.headers:
        shaped.headers["Allow"] = response.headers["Allow"]
    return shaped


def _error(request: HttpRequest, status: int) -> ApiError:
    if status == 404:
        return not_found("address")
    if status == 405:
        return ApiError(405, "wrong-method", f"{request.method} is not possible at this address.")
    if status >= 500:
        return ApiError(status, "internal", "Something in the studio failed; its log says what.")
    return ApiError(status, "bad-request", "The request could not be read.")
