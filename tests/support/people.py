"""Somebody who is signed in at the real server, without a browser."""

from __future__ import annotations

import json
import urllib.request
from http.cookiejar import CookieJar
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.support.studio import StudioServer


class Person:
    """Signed in by a link; starts sessions and opens sockets."""

    def __init__(self, studio: StudioServer) -> None:
        self.studio = studio
        self.jar = CookieJar()
        self.http = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.http.open(studio.new_link())
        self.get("/api/me")

    def text(self, path: str, body: Any = None) -> str:
        """The answer to a GET, or to a POST of `body`, as it came."""
        cookies = {cookie.name: cookie.value or "" for cookie in self.jar}
        headers = {"Content-Type": "application/json", "X-CSRFToken": cookies.get("csrftoken", "")}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.studio.address + path, data, headers)
        answer: bytes = self.http.open(request).read()
        return answer.decode()

    def get(self, path: str) -> Any:
        return json.loads(self.text(path))

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self.text(path, body))

    def start(self, document: Any, **more: Any) -> str:
        """A new session of that playbook; its id."""
        session: str = self.post("/api/sessions", {"document": document, **more})["id"]
        return session

    def socket(self, session: str, origin: str | None = "") -> ClientConnection:
        cookie = {"Cookie": "; ".join(f"{each.name}={each.value}" for each in self.jar)}
        address = self.studio.address.replace("http", "ws", 1) + f"/ws/sessions/{session}/"
        own = self.studio.address if origin == "" else origin
        return connect(address, additional_headers=cookie, origin=own, max_size=None)  # type: ignore[arg-type]


def say(socket: ClientConnection, **frame: Any) -> None:
    socket.send(json.dumps(frame))


def until(socket: ClientConnection, *kinds: str) -> list[dict[str, Any]]:
    """Frames up to the first of one of these types."""
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1]["type"] not in kinds:
        heard.append(json.loads(socket.recv(timeout=20)))
    return heard
