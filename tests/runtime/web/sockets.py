"""A client of the session socket, for tests."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from runtime.routing import websocket_urlpatterns

application = URLRouter(websocket_urlpatterns)

Frame = dict[str, Any]
NO_SESSION = uuid.UUID(int=0)


class Socket:
    """Keeps every frame it heard, in order."""

    def __init__(self, communicator: WebsocketCommunicator, session: uuid.UUID = NO_SESSION) -> None:
        self._communicator = communicator
        self.session = session
        self.heard: list[Frame] = []
        self.closed_with: int | None = None
        self._gone = False

    async def open(self) -> None:
        await self._communicator.connect()

    async def say(self, **frame: Any) -> None:
        await self.say_text(json.dumps(frame))

    async def say_text(self, text: str) -> None:
        await self._communicator.send_to(text_data=text)

    async def hello(self, after: int = 0) -> Frame:
        """Says hello and hears everything up to `ready`, which it returns."""
        await self.say(type="hello", afterSeq=after)
        return await self.until("ready")

    async def until(self, kind: str) -> Frame:
        """Hears frames up to the first of that type, which it returns."""
        while True:
            frame = await self.hear()
            if frame["type"] == kind:
                return frame

    async def hear(self) -> Frame:
        message = await self._communicator.receive_output(timeout=30)
        if message["type"] == "websocket.close":
            self.closed_with = message.get("code", 1000)
            return {"type": "closed", "code": self.closed_with}
        frame: Frame = json.loads(message["text"])
        self.heard.append(frame)
        return frame

    async def quiet(self) -> bool:
        """Whether nothing comes for a while."""
        return bool(await self._communicator.receive_nothing(timeout=0.15))

    async def close(self) -> None:
        """Goes away; the second time nothing."""
        if not self._gone:
            self._gone = True
            await self._communicator.disconnect()

    @property
    def events(self) -> list[Frame]:
        return [frame for frame in self.heard if "seq" in frame]

    @property
    def seqs(self) -> list[int]:
        return [frame["seq"] for frame in self.events]

    def text(self, call: int = 1) -> str:
        """The call's reply as a client puts it together from `ready` and the pieces that follow."""
        text = ""
        for frame in self.heard:
            if frame["type"] == "ready" and frame["running"] and frame["running"]["call"] == call:
                text = frame["running"]["text"]
            if frame["type"] == "text_delta" and frame["call"] == call:
                assert frame["offset"] == len(text), "a piece is missing, or came twice"
                text += frame["text"]
        return text


async def settle() -> None:
    """Lets everything happen that is about to."""
    await asyncio.sleep(0.12)
