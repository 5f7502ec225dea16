"""Every error of the API in one shape: a code for programs, a sentence for people, a place for editors."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ninja.errors
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from ninja import NinjaAPI
from pydantic import Field

from builder.transfer.reading import UnreadableJson, read_json
from builder.validation.pointers import place, problem_at
from runtime.conversation.base import Value
from runtime.playbook.errors import InvalidPlaybook, Problem

logger = logging.getLogger(__name__)


class ErrorDetail(Value):
    """One of several problems."""

    path: str
    message: str
    code: str


class ErrorInfo(Value):
    """What went wrong."""

    code: str
    message: str
    """A sentence for a person."""
    path: str | None = None
    """JSON pointer into the document that was sent; null when it is not about a place of one."""
    details: tuple[ErrorDetail, ...] = ()


class ErrorBody(Value):
    """The body of every 4xx and 5xx answer."""

    error: ErrorInfo = Field(description="What went wrong")


class ApiError(Exception):
    """An answer that is an error. `more` stands beside `error` in the body."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        path: str | None = None,
        details: Iterable[Problem] = (),
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.more = dict(more or {})
        shown = tuple(ErrorDetail(path=d.path, message=d.message, code=d.code) for d in details)
        self.info = ErrorInfo(code=code, message=message, path=path, details=shown)

    def body(self) -> dict[str, Any]:
        """The JSON of the answer."""
        return {"error": self.info.model_dump(mode="json"), **self.more}


def not_found(what: str) -> ApiError:
    """Also for what belongs to somebody else: whether it exists is nobody's business."""
    return ApiError(404, "not-found", f"There is no such {what}, or it is not yours.")


def too_large() -> ApiError:
    """The limit is `settings.MAX_BODY_BYTES`."""
    return ApiError(413, "too-large", "The request is larger than 5 MB.")


def invalid_document(found: Sequence[Problem], **more: Any) -> ApiError:
    """The document has not the format's shape; all places are named at once."""
    first = found[0]
    others = f" ({len(found) - 1} more problems)" if len(found) > 1 else ""
    return ApiError(
        422, "invalid-document", first.message + others, path=first.path, details=found, more=more
    )


def as_api_error(failure: Exception, request: HttpRequest) -> ApiError:
    """What to answer for an exception that a view or ninja raised."""
    match failure:
        case ApiError():
            return failure
        case ninja.errors.ValidationError():
            return _invalid_request(failure, request)
        case ninja.errors.HttpError():
            return _refused(failure)
        case Http404():
            return not_found("address" if not failure.args else "item")
        case InvalidPlaybook():
            return invalid_document(failure.problems)
        case UnreadableJson():
            return ApiError(400, "bad-json", str(failure))
        case RequestDataTooBig():
            return too_large()
        case RawPostDataException():
            return ApiError(415, "unsupported-type", "Send the document itself as the body, not a form.")
        case SuspiciousOperation() | BadRequest() | MultiPartParserError() | UnreadablePostError():
            return ApiError(400, "bad-request", "The request could not be read.")
    return _unexpected(failure)


def _refused(failure: ninja.errors.HttpError) -> ApiError:
    if isinstance(failure.__cause__, UnreadableJson):
        return ApiError(400, "bad-json", str(failure.__cause__))
    if isinstance(failure.__cause__, RequestDataTooBig):
        return too_large()
    if failure.status_code == 401:
        return ApiError(401, "not-signed-in", "Sign in first: open the link that the server printed.")
    if failure.status_code == 403:
        return ApiError(403, "csrf", "The request lacks the page's token. Reload the page and try again.")
    return ApiError(failure.status_code, "refused", str(failure) or "The request was refused.")


def _invalid_request(failure: ninja.errors.ValidationError, request: HttpRequest) -> ApiError:
    """Ninja's paths read `body, <parameter>, …`; what follows is a place in the body, or in its document."""
    body = _body_again(request)
    found = [_problem(item, body) for item in failure.errors]
    in_document = _first_per_place(problem for inside, problem in found if inside)
    if in_document:
        return invalid_document(in_document)
    problems = _first_per_place(problem for _, problem in found)
    return ApiError(
        422, "invalid-request", problems[0].message, path=problems[0].path or None, details=problems
    )


def _body_again(request: HttpRequest) -> Any:
    """The body as it was sent: ninja's errors don't carry it, and the unions' tags can't be told without."""
    return read_json(request.body) if request.body else None


def _problem(item: Mapping[str, Any], body: Any) -> tuple[bool, Problem]:
    source, location = item["loc"][0], tuple(item["loc"][1:])
    missing = item["type"] in ("missing", "extra_forbidden")
    parts = place(location[1:], body, missing) if source == "body" else location
    inside = parts[:1] == ("document",) and not (missing and len(parts) == 1)
    if inside:
        parts = parts[1:]
    return inside, problem_at(item, parts)


def _first_per_place(found: Iterable[Problem]) -> list[Problem]:
    first: dict[str, Problem] = {}
    for problem in found:
        first.setdefault(problem.path, problem)
    return list(first.values())


def _unexpected(failure: Exception) -> ApiError:
    """Never the exception's own words: they may hold paths or secrets. The log has them under the number."""
    number = uuid.uuid4().hex[:8]
    logger.error("API error %s", number, exc_info=failure)
    return ApiError(
        500, "internal", f"Something in the studio failed. Nothing was changed. (log entry {number})"
    )


def answer_errors(api: NinjaAPI) -> None:
    """Makes the API answer every exception in the one shape."""

    def handle(request: HttpRequest, failure: Exception | type[Exception]) -> HttpResponse:
        error = as_api_error(failure if isinstance(failure, Exception) else failure(), request)
        return api.create_response(request, error.body(), status=error.status)

    api.add_exception_handler(Exception, handle)
    for known in (ninja.errors.ValidationError, ninja.errors.HttpError, Http404):
        api.add_exception_handler(known, handle)
