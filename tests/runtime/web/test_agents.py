"""A stored session that calls an agent: its documents are frozen with it, and it goes on after a restart."""

from __future__ import annotations

from typing import Any

from django.test import AsyncClient
from django.utils import timezone

from runtime import live
from tests.runtime.travel import TAKING_PART, pay_desk, travel
from tests.runtime.web import test_real_sessions as real
from tests.runtime.web.test_real_sessions import Models, Start

hub, models, client, start = real.hub, real.models, real.client, real.start

TRAVEL: dict[str, Any] = travel().model_dump(mode="json", by_alias=True, exclude_none=True)
AGENTS = {"pay-desk": pay_desk(agents=[]).model_dump(mode="json", by_alias=True, exclude_none=True)}
AGENTS["pay-desk"]["transitions"] = AGENTS["pay-desk"]["transitions"][:2]


def asks_for(target: str, **more: Any) -> dict[str, Any]:
    arguments = {"targetStage": target, **more}
    return {"tool_calls": [{"id": f"c-{target}", "name": "playbook_transition", "args": arguments}]}


async def test_an_agent_is_open_over_a_restart_and_its_lane_is_shown(
    start: Start, models: Models, hub: live.Hub, client: AsyncClient
) -> None:
    back = asks_for("return", data={"receipt": 7}, summary="Paid.")
    models.says(asks_for("agent:Payer"), {"text": "Which card?"}, back, {"text": "All set."})
    socket = await start(TRAVEL, agents=AGENTS)
    await socket.say(type="message", clientId="m1", text="I buy it")
    assert (await socket.until("turn_complete"))["text"] == "Which card?"
    session = f"/api/sessions/{socket.session}"
    state = (await client.get(f"{session}/state")).json()
    assert state["agents"] == [*TAKING_PART, "Payer(agent 1000)"]
    assert state["variables"] == {"receipt": None, "fee": 2}
    assert [frame["agent"] for frame in state["callStack"]] == [None, "Payer(agent 1000)"]
    await hub.close()
    live.Current.hub = live.Hub(models.build, live.send_to_group, process="a new one", now=timezone.now)
    await socket.say(type="message", clientId="m2", text="The blue one")
    assert (await socket.until("turn_complete"))["text"] == "All set."
    calls = (await client.get(f"{session}/calls")).json()
    assert [call["lane"].split("|")[0] for call in calls] == ["", *["Payer(agent 1000)"] * 2, ""]
    assert [call["previousCall"] for call in calls] == [None, None, 2, 1]
    for call in calls:
        answer = await client.get(f"{session}/calls/{call['call']}/request")
        assert answer.status_code == 200
    turns = (await client.get(f"{session}/turns")).json()
    assert [move["mode"] for turn in turns for move in turn["moves"]] == ["call", "return"]
    await live.Current.hub.close()


async def test_a_session_without_its_agents_document_is_not_started(
    client: AsyncClient, hub: live.Hub
) -> None:
    answer = await client.post("/api/sessions", {"document": TRAVEL}, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["error"]["details"][0]["code"] == "missing-agent-document"
