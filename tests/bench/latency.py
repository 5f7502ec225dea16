"""What the studio adds between a provider's first text and the browser's: `python -m tests.bench.latency`.

A real server process with SQLite; in this process simulated providers (in a thread) and the socket's
clients. Measured is from the moment that the provider hands the first piece of text to its connection until a
client of the session socket has the frame with it: two ways over the loopback, the vendor’s SDK, the runner
and the channel group in between. Then many sessions stream at once, and every client must have every event
once, in order, and each piece of text where the one before it ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect

from tests.simulator import say
from tests.support.people import Person
from tests.support.providers import Providers, providers
from tests.support.studio import StudioServer

GOAL_MS: Final = 10.0
WARM_UP: Final = 5
WORDS: Final = tuple(f"word{number} " for number in range(40))
CONNECTIONS: Final = {
    "anthropic": "anthropic/claude-sonnet-5",
    "responses": "openai/gpt-6.2-sol",
    "chat": "local/llama-local",
}
PLAYBOOK: Final = {
    "id": "latency",
    "name": "Latency",
    "initialStage": "talk",
    "stages": [{"id": "talk", "name": "Talk", "systemPrompt": "Answer."}],
}


@dataclass
class Timed(Providers):
    """Notes when the first text of each answer leaves, and paces what follows."""

    pace_s: float = 0.0
    left: list[float] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        first = True

        async def timed(message: Any) -> None:
            nonlocal first
            has_text = b"word" in message.get("body", b"")
            if has_text and first:
                first = False
                self.left.append(time.perf_counter())
            await send(message)
            if has_text:
                await asyncio.sleep(self.pace_s)

        await super().__call__(scope, receive, timed)


@dataclass
class Client:
    """One session with its socket; checks what it hears."""

    socket: ClientConnection
    seq: int = 0
    text: str = ""
    first_text: float = 0.0

    async def ask(self, number: int) -> None:
        """Says something and hears the whole turn. Raises AssertionError for what is lost or out of order."""
        self.text, self.first_text = "", 0.0
        await self.say(type="message", clientId=f"m{number}", text=f"Question {number}")
        await self.until("turn_complete")
        assert self.text == "".join(WORDS), f"the reply came as {self.text!r}"

    async def say(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def until(self, kind: str) -> None:
        frame: dict[str, Any] = {}
        while frame.get("type") != kind:
            frame = json.loads(await self.socket.recv())
            self.take(frame)

    def take(self, frame: dict[str, Any]) -> None:
        assert frame["type"] not in ("turn_failed", "error"), frame
        if "seq" in frame:
            assert frame["seq"] == self.seq + 1, f"event {frame['seq']} after {self.seq}"
            self.seq = frame["seq"]
        if frame["type"] == "text_delta":
            self.first_text = self.first_text or time.perf_counter()
            assert frame["offset"] == len(self.text), "a piece of text is missing, or came twice"
            self.text += frame["text"]


@contextmanager
def studio(app: Timed) -> Iterator[Person]:
    """A server on these providers, and somebody who is signed in there."""
    with tempfile.TemporaryDirectory() as name, providers(app):
        file = Path(name) / "connections.toml"
        file.write_text(
            f'[connections.local]\nurl = "{app.url}/v1"\n[connections.openai]\napi = "responses"\n', "utf-8"
        )
        server = StudioServer(
            Path(name),
            STUDIO_CONNECTIONS_FILE=str(file),
            ANTHROPIC_API_KEY="k",
            ANTHROPIC_BASE_URL=app.url,
            OPENAI_API_KEY="k",
            OPENAI_BASE_URL=f"{app.url}/v1",
        )
        server.start()
        try:
            yield Person(server)
        finally:
            server.stop()


async def open_session(person: Person, model: str) -> Client:
    session = await asyncio.to_thread(person.start, PLAYBOOK, model=model)
    address = person.studio.address.replace("http", "ws", 1) + f"/ws/sessions/{session}/"
    cookie = {"Cookie": "; ".join(f"{each.name}={each.value}" for each in person.jar)}
    client = Client(
        await connect(address, additional_headers=cookie, origin=person.studio.address, max_size=None)  # type: ignore[arg-type]
    )
    await client.say(type="hello", afterSeq=0)
    await client.until("ready")
    return client


async def one_after_the_other(person: Person, app: Timed, model: str, turns: int) -> list[float]:
    """Milliseconds of each turn, the first ones left out."""
    client = await open_session(person, model)
    added = []
    for number in range(turns + WARM_UP):
        app.left.clear()
        await client.ask(number)
        added.append((client.first_text - app.left[0]) * 1000)
    await client.socket.close()
    return added[WARM_UP:]


async def side_by_side(person: Person, model: str, streams: int) -> float:
    """Seconds that so many sessions took for a turn each, all at once."""
    clients = [await open_session(person, model) for _ in range(streams)]
    began = time.perf_counter()
    await asyncio.gather(*(client.ask(1) for client in clients))
    took = time.perf_counter() - began
    await asyncio.gather(*(client.socket.close() for client in clients))
    return took


def shown(figures: Sequence[float]) -> str:
    late = sorted(figures)[int(len(figures) * 0.95)]
    return f"median {median(figures):5.1f} ms   95 % within {late:5.1f} ms   least {min(figures):5.1f} ms"


def report(turns: int, streams: int) -> bool:
    """Prints the figures; whether the goal is met."""
    app = Timed(pace_s=0.005)
    app.simulator.choose(lambda body: say(*WORDS))
    met = True
    with studio(app) as person:
        for name, model in CONNECTIONS.items():
            added = asyncio.run(one_after_the_other(person, app, model, turns))
            met = met and median(added) <= GOAL_MS
            print(f"{name:10} {shown(added)}   ({turns} turns; goal: median {GOAL_MS:g} ms)")
        app.pace_s = 0.05
        took = asyncio.run(side_by_side(person, CONNECTIONS["anthropic"], streams))
        print(f"{streams} streams at once: {took:.1f} s, no event lost or out of order")
    return met


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.latency", description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--streams", type=int, default=200)
    options = parser.parse_args()
    raise SystemExit(0 if report(options.turns, options.streams) else 1)
