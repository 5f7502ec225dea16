"""A hub with a pretended model, and sockets on it without a server."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from runtime import live
from runtime.models import StoredSession
from runtime.sockets import in_database
from tests.runtime.web.doubles import Model
from tests.runtime.web.sockets import Socket, application

STAGE = {"id": "greeting", "name": "Greeting", "systemPrompt": "Greet."}
PLAYBOOK = {
    "id": "pretend",
    "name": "Pretend",
    "stages": [STAGE],
    "initialStage": "greeting",
}

Connect = Callable[..., Awaitable[Socket]]


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
async def hub(transactional_db: None, model: Model) -> AsyncIterator[live.Hub]:
    hub = live.Hub(model.build, live.send_to_group, process="this process", now=timezone.now)
    live.Current.hub = hub
    yield hub
    for gate in model.gates.values():
        gate.set()
    await hub.close()
    live.Current.hub = None


@pytest.fixture
async def ana(transactional_db: None) -> User:
    return await in_database(User.objects.create_user, "ana")


@pytest.fixture
async def session(ana: User, hub: live.Hub) -> uuid.UUID:
    """A session of Ana's that has started."""
    row = await in_database(StoredSession.objects.create, owner=ana, document=PLAYBOOK)
    assert await hub.start(row.pk) is None
    return row.pk


@pytest.fixture
async def connect(session: uuid.UUID, ana: User) -> AsyncIterator[Connect]:
    """Opens a socket on the session, as Ana when nobody else is named."""
    opened: list[Socket] = []

    async def open_socket(
        user: User | AnonymousUser | None = ana, at: uuid.UUID | str | None = None
    ) -> Socket:
        communicator: Any = WebsocketCommunicator(application, f"/ws/sessions/{at or session}/")
        communicator.scope["user"] = user
        socket = Socket(communicator)
        opened.append(socket)
        await socket.open()
        return socket

    yield open_socket
    for socket in opened:
        await socket.close()
