"""A connection put to the test: does the server answer, does it take the key, does it have the model?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, TypeVar

from runtime.llm.base import BadRequest, ConnectionLost, LLMError
from runtime.llm.connection import Connection

PATIENCE_S: Final = 20.0
"""Longest wait for one answer while a person looks on."""
MOST_MODELS: Final = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer:
    """The models that a server says it has; `problem` says in a sentence why there is no list."""

    models: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a test, in a sentence for a person."""

    ok: bool
    code: str
    """`ok`, `not_set_up`, or that of the LLMError: `not_allowed`, `bad_request`, `connection_lost`, …"""
    message: str
    model: str
    """The one that was asked for; empty: only the server was."""
    milliseconds: int = 0
    offer: Offer = field(default_factory=Offer)


async def offer_of(connection: Connection, patience_s: float = PATIENCE_S) -> Offer:
    """What the server lists. Never raises for what a server does."""
    if not connection.settings.usable:
        return Offer(problem=connection.settings.note)
    try:
        listed = await _in_time(connection.llm.list_models(), patience_s)
    except BadRequest:
        return Offer(problem="The server has no list of models at this address.")
    except LLMError as error:
        return Offer(problem=error.message)
    return Offer(models=tuple(listed[:MOST_MODELS]))


async def try_connection(
    connection: Connection, model: str | None = None, patience_s: float = PATIENCE_S
) -> Trial:
    """Asks the server for the model, or for the connection's own. Never raises for what a server does."""
    settings = connection.settings
    asked = model or settings.model
    if not settings.usable:
        return Trial(False, "not_set_up", settings.note, asked)
    began = perf_counter()
    failure: LLMError | None = None
    try:
        await _in_time(connection.llm.check(asked or None), patience_s)
    except LLMError as error:
        failure = error
    took = round((perf_counter() - began) * 1000)
    if failure is None:
        return Trial(True, "ok", _success(asked), asked, took, await offer_of(connection, patience_s))
    # Only a server that answered can say what it has instead.
    offer = await offer_of(connection, patience_s) if isinstance(failure, BadRequest) else Offer()
    return Trial(False, failure.code, failure.message, asked, took, offer)


def _success(model: str) -> str:
    return (
        f"It answers and has {model}." if model else "It answers. No model was asked for: none is named here."
    )


async def _in_time(asked: Awaitable[T], patience_s: float) -> T:
    try:
        return await asyncio.wait_for(asked, patience_s)
    except TimeoutError:
        raise ConnectionLost(f"The server did not answer within {patience_s:g} s.") from None
