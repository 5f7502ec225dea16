"""Simulated providers in a thread, for tests that are no coroutines; other processes reach them, too."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.simulator import Simulator, serving

MODELS = ("llama-local", "qwen-local")


@dataclass
class Providers:
    """An ASGI app: the simulator with a list of models; on wish a server that repeats keys in its errors."""

    simulator: Simulator = field(default_factory=Simulator)
    url: str = ""
    keys: list[str] = field(default_factory=list)
    """What came as a key, request by request."""
    repeats_keys: bool = False
    good_key: str | None = None
    """None: every key is good."""

    def __post_init__(self) -> None:
        for model in MODELS:
            self.simulator.profiles.add_local(model)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        key = headers.get("authorization", headers.get("x-api-key", "")).removeprefix("Bearer ")
        self.keys.append(key)
        if self.repeats_keys:
            said = f"Incorrect API key provided: {key}. You sent {headers}"
            # Of a wrong request a provider is quoted; of a wrong key it is not.
            await _answer(send, 400, {"error": {"type": "invalid_request_error", "message": said}})
        elif self.good_key is not None and key != self.good_key:
            said = "This key is not known."
            await _answer(send, 401, {"error": {"type": "authentication_error", "message": said}})
        elif scope["path"].endswith("/models"):
            await _answer(send, 200, {"data": [{"id": model, "object": "model"} for model in MODELS]})
        else:
            await self.simulator(scope, receive, send)


async def _answer(send: Any, status: int, body: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@contextmanager
def providers(app: Providers | None = None) -> Iterator[Providers]:
    """Served at `url`, which has no slash at its end, until the block ends."""
    app = app or Providers()
    ready, loop = threading.Event(), asyncio.new_event_loop()
    done = asyncio.Event()

    async def serve() -> None:
        async with serving(app) as app.url:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    yield app
    loop.call_soon_threadsafe(done.set)
    thread.join(10)
