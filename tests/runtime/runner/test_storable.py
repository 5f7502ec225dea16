"""What no store can keep (U+0000, halves of surrogate pairs) is replaced where it comes in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from runtime.conversation.messages import ToolCall, ToolMessage
from runtime.playbook import Playbook, ToolDefinition
from runtime.runner.ports import Delta
from tests.runtime.desk import playbook, stage
from tests.runtime.runner.play import CountingTools, Play, calls, in_virtual_time

BAD, GOOD = "a\x00b\ud800c", "a\ufffdb\ufffdc"


class BadTools(CountingTools):
    """Somebody's tool, which gives what it has."""

    async def run(self, tool: ToolDefinition, call: ToolCall, roots: Mapping[str, Any]) -> ToolMessage:
        """The bad text, as a name and as a value."""
        return ToolMessage(call_id=call.call_id, tool_name=call.name, success=True, result={BAD: [BAD]})


def clerk() -> Playbook:
    look = {"name": "look", "saveAs": "found"}
    return playbook([stage("a", tools=[look], onEnter=[{"set": {"made": r"'\u0000'"}}])])


@in_virtual_time
async def test_what_users_models_tools_and_expressions_say_is_stored_without_what_cannot_be() -> None:
    play = Play(clerk(), [calls("look", q=BAD), {"chunks": [BAD, BAD]}], tools=BadTools())
    await play.session.start({"key": BAD})
    await play.session.set("mood", [BAD])
    await play.session.send(BAD)
    log = json.dumps([event.model_dump(mode="json") for event in play.memory.events], ensure_ascii=False)
    assert "\\u0000" not in log
    assert log.encode()
    assert play.session.state.variables == {"made": "\ufffd", "mood": [GOOD], "found": {GOOD: [GOOD]}}
    assert play.replies == [GOOD + GOOD]


@in_virtual_time
async def test_what_is_shown_is_what_is_stored() -> None:
    play = Play(playbook([stage("a")]), [{"chunks": [BAD, BAD]}])
    await play.talk("hello")
    shown = [item for item in play.heard if isinstance(item, Delta)]
    assert [(delta.offset, delta.text) for delta in shown] == [(0, GOOD), (5, GOOD)]
    assert play.replies == [GOOD + GOOD]
