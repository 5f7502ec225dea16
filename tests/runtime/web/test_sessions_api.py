"""Sessions over HTTP: their owner's only, with errors that name the place."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from runtime import live
from runtime.conversation.messages import Usage
from runtime.inspector.frames import SendMessage
from runtime.models import LoggedEvent, SegmentText, StoredSession
from runtime.sockets import in_database
from tests.runtime.web.conftest import PLAYBOOK, STAGE
from tests.runtime.web.doubles import Model


@pytest.fixture
async def client(ana: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(ana)
    return client


async def post(client: AsyncClient, body: Any) -> Any:
    return await client.post("/api/sessions", body, content_type="application/json")


async def talk(hub: live.Hub, session: uuid.UUID, client_id: str = "m1") -> None:
    assert await hub.do(session, SendMessage(type="message", client_id=client_id, text="Hi")) is None


async def test_a_new_session_has_entered_its_first_stage(client: AsyncClient, hub: live.Hub) -> None:
    document = {**PLAYBOOK, "x-note": "kept"}
    answer = await post(client, {"document": document, "playbookRef": "p1", "playbookVersion": "draft@3"})
    assert answer.status_code == 201
    detail = answer.json()
    assert (detail["status"], detail["stage"], detail["lastSeq"]) == ("idle", "greeting", 2)
    assert (detail["title"], detail["playbookRef"], detail["playbookVersion"]) == ("Pretend", "p1", "draft@3")
    assert detail["document"] == document
    assert (await client.get(f"/api/sessions/{detail['id']}")).json()["document"] == document


def rule(from_stage: str, **action: str) -> dict[str, Any]:
    condition = {"type": "max_turns", "count": 1}
    return {"transitions": [{"id": "t", "from": from_stage, "condition": condition, "action": action}]}


TARGET = "/transitions/0/action/targetStage"


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"initialStage": "nowhere"}, "/initialStage", "unknown-stage"),
        ({"stages": []}, "/stages", "too-short"),
        ({"stages": [STAGE, STAGE]}, "/stages/1/id", "duplicate-stage"),
        (rule("gone", targetStage="greeting"), "/transitions/0/from", "unknown-stage"),
        (rule("*", targetStage="gone"), TARGET, "unknown-stage"),
        (rule("*"), TARGET, "missing-target"),
        (rule("*", mode="call", targetStage="agent:x"), TARGET, "unknown-agent"),
        ({"globalTools": [{"name": "check stock"}]}, "/globalTools/0/name", "bad-tool-name"),
        ({"stages": [{**STAGE, "tools": [{"name": ""}]}]}, "/stages/0/tools/0/name", "bad-tool-name"),
    ],
)
async def test_a_playbook_that_cannot_be_run_is_refused_with_the_place(
    client: AsyncClient, hub: live.Hub, change: dict[str, Any], path: str, code: str
) -> None:
    answer = await post(client, {"document": {**PLAYBOOK, **change}})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["path"], error["details"][0]["code"]) == ("invalid-document", path, code)
    assert not await in_database(StoredSession.objects.exists)


async def test_a_disabled_transition_does_not_keep_a_playbook_from_running(
    client: AsyncClient, hub: live.Hub
) -> None:
    disabled = rule("gone", targetStage="gone")
    disabled["transitions"][0]["disabled"] = True
    assert (await post(client, {"document": {**PLAYBOOK, **disabled}})).status_code == 201


async def test_the_log_comes_in_pages(client: AsyncClient, hub: live.Hub, session: uuid.UUID) -> None:
    await talk(hub, session)
    page = (await client.get(f"/api/sessions/{session}/events?after=1&limit=3")).json()
    assert [event["seq"] for event in page["events"]] == [2, 3, 4]
    assert page["lastSeq"] == 8


async def test_a_call_is_shown_with_its_window_and_texts_by_hash(
    client: AsyncClient, hub: live.Hub, session: uuid.UUID, model: Model
) -> None:
    model.usage = Usage(fresh=12, output=3)
    await talk(hub, session)
    (summary,) = (await client.get(f"/api/sessions/{session}/calls")).json()
    assert (summary["call"], summary["status"], summary["usage"]["fresh"]) == (1, "complete", 12)
    assert "segments" not in summary
    view = (await client.get(f"/api/sessions/{session}/calls/1")).json()
    assert view["shares"] == [{"segment": "s1", "read": 0, "written": 0, "fresh": 12}]
    key = view["segments"][0]["hash"]
    text = (await client.get(f"/api/sessions/{session}/segments/{key}")).json()
    assert text == {"hash": key, "text": "text of call 1"}
    assert (await client.get(f"/api/sessions/{session}/calls/2")).status_code == 404
    assert (await client.get(f"/api/sessions/{session}/segments/unknown")).status_code == 404


async def test_turns_costs_and_state_are_read_from_the_log(
    client: AsyncClient, hub: live.Hub, session: uuid.UUID
) -> None:
    await talk(hub, session)
    turns = (await client.get(f"/api/sessions/{session}/turns")).json()
    assert [(turn["turn"], turn["status"], turn["reply"]) for turn in turns][-1] == (
        1,
        "complete",
        "Hello there",
    )
    assert (await client.get(f"/api/sessions/{session}/costs")).json()["calls"] == 1
    before = (await client.get(f"/api/sessions/{session}/state?seq=2")).json()
    assert (before["turn"], [frame["stage"] for frame in before["callStack"]]) == (0, ["greeting"])
    assert (await client.get(f"/api/sessions/{session}/state")).json()["turn"] == 1


async def test_sessions_are_listed_newest_first_and_by_playbook(
    client: AsyncClient, hub: live.Hub, session: uuid.UUID
) -> None:
    newer = (await post(client, {"document": PLAYBOOK, "playbookRef": "p1"})).json()["id"]
    listed = (await client.get("/api/sessions")).json()
    assert [entry["id"] for entry in listed] == [newer, str(session)]
    assert "document" not in listed[0]
    assert [entry["id"] for entry in (await client.get("/api/sessions?playbook=p1")).json()] == [newer]
    older = (await client.get("/api/sessions", {"before": listed[0]["updatedAt"]})).json()
    assert [entry["id"] for entry in older] == [str(session)]


async def test_deleting_a_session_takes_its_log_and_the_texts_only_it_has(
    client: AsyncClient, hub: live.Hub, session: uuid.UUID, ana: User
) -> None:
    other = uuid.UUID((await post(client, {"document": PLAYBOOK})).json()["id"])
    await talk(hub, session)
    await talk(hub, session, "m2")
    await talk(hub, other)  # its first call sends the same text as the first session's
    assert (await client.delete(f"/api/sessions/{session}")).status_code == 204
    assert (await client.get(f"/api/sessions/{session}")).status_code == 404
    assert not await in_database(LoggedEvent.objects.filter(session_id=session).exists)
    texts = await in_database(lambda: list(SegmentText.objects.values_list("text", flat=True)))
    assert texts == ["text of call 1"]


@pytest.mark.parametrize(
    "path",
    ["", "/events", "/turns", "/costs", "/state", "/calls", "/calls/1", "/calls/1/request", "/segments/x"],
)
async def test_nobody_else_learns_whether_a_session_exists(
    hub: live.Hub, session: uuid.UUID, path: str
) -> None:
    ben = AsyncClient()
    await ben.aforce_login(await in_database(User.objects.create_user, "ben"))
    others, unknown, malformed = [
        await ben.get(f"/api/sessions/{name}{path}") for name in (session, uuid.uuid4(), "1")
    ]
    assert [answer.status_code for answer in (others, unknown, malformed)] == [404, 404, 404]
    assert others.json() == unknown.json() == malformed.json()
    assert (await AsyncClient().get(f"/api/sessions/{session}{path}")).status_code == 401
    assert (await ben.delete(f"/api/sessions/{session}")).status_code == 404


@pytest.mark.parametrize(
    ("before", "found"),
    [("0001-01-01T00:00:00%2B14:00", 0), ("9999-12-31T23:59:59-12:00", 1), ("9999-12-31T00:00:00", 1)],
)
async def test_the_list_takes_any_moment_of_the_calendar(
    client: AsyncClient, hub: live.Hub, before: str, found: int
) -> None:
    assert (await post(client, {"document": PLAYBOOK})).status_code == 201
    answer = await client.get(f"/api/sessions?before={before}")
    assert (answer.status_code, len(answer.json())) == (200, found)
