"""The one place where routes get their common settings."""

from __future__ import annotations

from typing import Annotated

from ninja import Path, Router

PlaybookId = Annotated[str, Path(alias="id")]
"""`{id}` of an address: any text, so that a malformed id is unknown (404) like any other."""


def routes(tag: str) -> Router:
    """A router whose answers and schemas use the JSON names (`from`, not `from_stage`) in every operation."""
    return Router(tags=[tag], by_alias=True)
