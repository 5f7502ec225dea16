"""Playbooks with tools whose results are long, and ways to look at what a session's windows have of them."""

from __future__ import annotations

from typing import Any

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.conversation.segments import Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.playbook import Playbook
from tests.runtime.desk import DECISION, playbook, rule, stage
from tests.runtime.llm.valid import problems
from tests.runtime.runner.play import OneModel, Play, calls

MOVE = "playbook_transition"
ROWS = [{"row": number, "city": "Pune"} for number in range(200)]


def tool(name: str, result: Any = None, **more: Any) -> dict[str, Any]:
    """A tool that takes anything and answers with `result`, or as `more` says."""
    response = {"error": more.pop("error")} if "error" in more else {"result": result}
    implementation = {"type": "mock", "responses": [response]}
    return {"name": name, "parameters": {"type": "object"}, "implementation": implementation, **more}


def desk(*tools: dict[str, Any], **more: Any) -> Playbook:
    """One stage with these tools."""
    options = {name: more.pop(name) for name in list(more) if name in ("variables", "context", "agents")}
    return playbook([stage("desk", tools=list(tools), **more)], **options)


def called(*tools: dict[str, Any], back: str | None = None, **more: Any) -> Playbook:
    """A stage that can call another one, which has these tools."""
    stages = [stage("desk", tools=[tool("note", "noted")], **more), stage("search", tools=list(tools))]
    return playbook(
        stages,
        [
            rule("t-call", "desk", "search", DECISION, mode="call"),
            rule("t-back", "search", None, DECISION, mode="return"),
        ],
    )


def reply(text: str = "Fine.") -> dict[str, Any]:
    return {"text": text}


def use(tool_name: str, call_id: str = "c1", /, **arguments: Any) -> dict[str, Any]:
    """As `calls`, for arguments that have names of its own."""
    return {"tool_calls": [{"id": call_id, "name": tool_name, "args": arguments}]}


def go(target: str, call_id: str = "m1", **more: Any) -> dict[str, Any]:
    return calls(MOVE, call_id, targetStage=target, **more)


async def played(book: Playbook, outputs: list[dict[str, Any]], *texts: str, **more: Any) -> Play:
    """The session after these messages, checked for what must hold for any."""
    play = Play(book, outputs, **more)
    await play.talk(*texts)
    check(play)
    return play


def check(play: Play) -> None:
    assert play.session.state == fold("s", play.memory.events)
    for request in play.llm.requests:
        _, record = OneModel(play.llm).get(request.config, request.model)
        assert problems(render_anthropic(request, record)) == []


def window(play: Play, number: int = -1) -> tuple[Segment, ...]:
    return play.llm.requests[number].window.segments


def of_kind(play: Play, kind: str, number: int = -1) -> list[str]:
    return [segment.text for segment in window(play, number) if segment.kind == kind]


def whole(play: Play, number: int = -1) -> str:
    return "\n".join(segment.text for segment in window(play, number))


def loads(play: Play) -> list[tuple[str, str]]:
    return [(event.name, event.frame) for event in play.of(ev.ArtifactLoaded)]


def result_of(play: Play, call_id: str) -> ev.ToolCallComplete:
    return next(event for event in play.of(ev.ToolCallComplete) if event.call_id == call_id)
