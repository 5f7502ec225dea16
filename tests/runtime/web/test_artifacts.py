"""Artifacts on the server: their contents are kept apart from the log, once, and read in parts."""

from __future__ import annotations

import json
from typing import Any

from django.test import AsyncClient
from django.utils import timezone

from runtime import live
from runtime.models import ArtifactText, LoggedEvent, SegmentText, StoredSession
from runtime.sockets import in_database
from runtime.storage import load_state
from tests.runtime.desk import stage
from tests.runtime.long_values import tool, use
from tests.runtime.runner.play import calls
from tests.runtime.web.test_real_sessions import Models, Start, client, hub, models, start

__all__ = ["client", "hub", "models", "start"]

ROWS = [{"row": number, "name": "große Stadt"} for number in range(100)]
TEXT = "secret of the archive " * 1500


def document(**more: Any) -> dict[str, Any]:
    tools = [tool("rows", ROWS, saveAs="rows"), tool("read", TEXT), tool("again", TEXT)]
    return {
        "id": "archive",
        "name": "Archive",
        "initialStage": "desk",
        "stages": [stage("desk", tools=tools)],
        "transitions": [],
        **more,
    }


async def test_contents_are_stored_once_and_never_in_an_event(start: Start, models: Models) -> None:
    models.says(calls("rows"), calls("read", "c2"), calls("again", "c3"), {"text": "Done."})
    socket = await start(document(), playbookRef="p")
    await socket.say(type="message", clientId="m1", text="Look.")
    await socket.until("turn_complete")
    payloads = await in_database(
        lambda: list(LoggedEvent.objects.filter(session_id=socket.session).values_list("payload", flat=True))
    )
    stored = await in_database(lambda: {row.hash: row.text for row in ArtifactText.objects.all()})
    saved = [payload for payload in payloads if payload["type"] == "artifact_saved"]
    assert len(saved) == len(stored) == 2
    assert sorted(stored.values(), key=len)[1] == TEXT
    everything = json.dumps(payloads, ensure_ascii=False)
    assert TEXT not in everything
    assert 'große Stadt"}, {' not in everything
    assert all("content" not in payload for payload in saved)
    heard = [frame for frame in socket.heard if frame["type"] == "artifact_saved"]
    assert [frame["name"] for frame in heard] == [payload["name"] for payload in saved]
    assert all("content" not in frame for frame in heard)


async def test_a_session_with_artifacts_goes_on_after_a_restart(
    start: Start, models: Models, hub: live.Hub
) -> None:
    models.says(calls("rows"), {"text": "One."})
    socket = await start(document(variables=[{"name": "manual", "default": TEXT}]))
    await socket.say(type="message", clientId="m1", text="first")
    await socket.until("turn_complete")
    running = hub._rooms[socket.session].loaded
    assert running is not None
    _, state = await in_database(load_state, socket.session)
    assert state == running.session.state
    assert state.artifacts["manual"].content == TEXT
    assert [ref.content for ref in state.artifacts.values()][1] == ROWS
    await hub.close()
    live.Current.hub = live.Hub(models.build, live.send_to_group, process="a new one", now=timezone.now)
    models.says(use("LoadArtifact", "l1", name="manual", offset=10, length=5), {"text": "Two."})
    await socket.say(type="message", clientId="m2", text="second")
    assert (await socket.until("turn_complete"))["text"] == "Two."
    texts = await in_database(lambda: list(SegmentText.objects.values_list("text", flat=True)))
    assert any(text.endswith(f"\n{TEXT[10:15]}") for text in texts)
    await live.Current.hub.close()


async def test_the_text_of_an_artifact_is_read_in_parts_by_its_owner(
    start: Start, models: Models, client: AsyncClient
) -> None:
    models.says(calls("read"), {"text": "Done."})
    socket = await start(document())
    await socket.say(type="message", clientId="m1", text="Look.")
    await socket.until("turn_complete")
    state = (await client.get(f"/api/sessions/{socket.session}/state")).json()
    (artifact,) = state["artifacts"]
    assert (artifact["kind"], artifact["length"], artifact["loaded"]) == ("text", len(TEXT), True)
    path = f"/api/sessions/{socket.session}/artifacts/{artifact['hash']}"
    whole = (await client.get(path)).json()
    assert (whole["text"], whole["length"]) == (TEXT, len(TEXT))
    part = (await client.get(path, {"offset": 7, "length": 6})).json()
    assert (part["text"], part["offset"], part["length"]) == (TEXT[7:13], 7, len(TEXT))
    assert (await client.get(path, {"offset": len(TEXT)})).json()["text"] == ""
    assert (await client.get(f"/api/sessions/{socket.session}/artifacts/nothing")).status_code == 404
    assert (await client.get(path, {"length": 100_001})).status_code == 422
    assert (await AsyncClient().get(path)).status_code == 401


async def test_contents_go_with_their_session(start: Start, models: Models, client: AsyncClient) -> None:
    models.says(calls("read"), {"text": "Done."})
    socket = await start(document())
    await socket.say(type="message", clientId="m1", text="Look.")
    await socket.until("turn_complete")
    assert (await client.delete(f"/api/sessions/{socket.session}")).status_code == 204
    left = await in_database(
        lambda: (ArtifactText.objects.count(), StoredSession.objects.count(), SegmentText.objects.count())
    )
    assert left == (0, 0, 0)
