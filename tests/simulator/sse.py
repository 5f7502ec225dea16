"""Plays the events of a stream: pace, pings, comments, and the ways in which a stream breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

from tests.simulator.answers import Api, Dropped, Event, Refusal, compact
from tests.simulator.clock import Clock
from tests.simulator.script import STALLS, Fault, Reply

PING_S: Final = 10.0
SPLIT: Final = 7
"""Bytes of a body piece under the quirk `split_bytes`: odd, so that it cuts characters of any length."""


def encode(event: Event) -> bytes:
    """The bytes of one event."""
    data = event.data if isinstance(event.data, str) else compact(event.data)
    name = f"event: {event.name}\n" if event.name else ""
    if event.data == "":
        return b": ping\n\n"
    return f"{name}data: {data}\n\n".encode()


async def play(
    events: Iterable[Event],
    reply: Reply,
    api: Api,
    clock: Clock,
    sent: Callable[[Event], None],
    refusal: Callable[[Fault], Refusal],
) -> AsyncIterator[bytes]:
    """The bytes of the stream, in their time. `sent` hears of each event that goes out.

    Raises Dropped where the plan breaks the connection.
    """
    fault, deltas, begun = reply.fault, 0, False
    for event in events:
        if fault is not None and fault.then and (event.final or (event.delta and deltas >= fault.after)):
            async for data in _break(fault, api, clock, refusal):
                yield data
            return
        if event.delta and not begun:
            begun = True
            async for data in _wait(fault.first_token_s if fault else 0.0, api, clock):
                yield data
        if event.delta and deltas and reply.pace_s:
            await clock.sleep(reply.pace_s)
        deltas += event.delta
        if event.delta and "comments" in reply.quirks:
            yield b": processing\n\n"
        sent(event)
        for data in _cut(encode(event), reply):
            yield data


def _cut(data: bytes, reply: Reply) -> Iterable[bytes]:
    if "split_bytes" not in reply.quirks:
        return (data,)
    return (data[i : i + SPLIT] for i in range(0, len(data), SPLIT))


async def _wait(seconds: float, api: Api, clock: Clock) -> AsyncIterator[bytes]:
    """Lets time pass, with a ping every ten seconds."""
    while seconds > PING_S:
        await clock.sleep(PING_S)
        seconds -= PING_S
        yield encode(api.ping)
    if seconds:
        await clock.sleep(seconds)


async def _break(
    fault: Fault, api: Api, clock: Clock, refusal: Callable[[Fault], Refusal]
) -> AsyncIterator[bytes]:
    if fault.then == "error":
        yield encode(api.error_event(refusal(fault)))
    elif fault.then in STALLS:
        async for data in _stall(api, clock, pings=fault.then == "pings"):
            yield data
    elif fault.then != "end":
        raise Dropped


async def _stall(api: Api, clock: Clock, *, pings: bool) -> AsyncIterator[bytes]:
    """Never ends by itself: the client has to leave."""
    while pings:
        await clock.sleep(PING_S)
        yield encode(api.ping)
    await asyncio.Event().wait()
