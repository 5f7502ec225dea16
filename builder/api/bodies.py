"""How bodies come in and answers go out: strict JSON of at most 5 MB."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from ninja.parser import Parser

from builder.transfer.reading import read_json


def raw_body(request: HttpRequest) -> bytes:
    """The body's bytes. Raises RequestDataTooBig over the limit, whatever its headers say of its length."""
    body = request.body
    if len(body) > settings.MAX_BODY_BYTES:
        raise RequestDataTooBig
    return body


class StrictParser(Parser):
    """Reads what `read_json` reads. Ninja wraps what it raises; the error handler looks inside."""

    def parse_body(self, request: HttpRequest) -> Any:
        return read_json(raw_body(request))
