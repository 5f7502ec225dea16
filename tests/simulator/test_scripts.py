"""What a script says is what the models say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator import Call, Fault, Reply, Say, Think, calls, say
from tests.simulator.asking import (
    Json,
    ask,
    assistant,
    message_request,
    tool,
    user,
)
from tests.simulator.reading import (
    MESSAGES,
    simulator,
    streamed,
)
from tests.simulator.script import output_of

# -- scripts ------------------------------------------------------------------------------------------------


async def test_figures_of_a_script_replace_the_real_ones() -> None:
    asked = simulator()
    asked.script({"text": "x", "usage": {"input_tokens": 7, "output_tokens": 400}})
    usage = (await ask(asked, message_request()))["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (7, 400)
    assert asked.exchanges[0].usage is not None
    assert asked.exchanges[0].usage.output < 10


async def test_arguments_are_sent_as_written_if_they_are_no_json() -> None:
    asked = simulator()
    asked.script({"tool_calls": [{"id": "c1", "name": "stock", "raw_args": '{"ki'}]})
    events = await streamed(asked, MESSAGES, message_request(stream=True, tools=[tool()]))
    raw = "".join(d["delta"].get("partial_json", "") for _, d in events if d["type"] == "content_block_delta")
    assert raw == '{"ki'


async def test_a_chooser_answers_by_the_request_when_the_queue_is_empty() -> None:
    asked = simulator()
    asked.choose(lambda body: say("two") if len(body["messages"]) > 1 else None)
    asked.script(say("first"))
    assert (await ask(asked, message_request()))["content"][0]["text"] == "first"
    assert (await ask(asked, message_request()))["content"][0]["text"] == "ok"
    longer = message_request(user("a"), assistant("b"), user("c"))
    assert (await ask(asked, longer))["content"][0]["text"] == "two"


SCRIPTED: list[tuple[Json, Any]] = [
    ({"text": "x"}, say("x")),
    ({"text": ""}, Reply()),
    ({"chunks": ["a", "b"]}, say("a", "b")),
    (
        {"thinking": "t", "text": "x", "stop": "end_turn"},
        Reply(parts=(Think("t"), Say(("x",))), stop="end_turn"),
    ),
    ({"tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}}]}, calls(Call("f", {"a": 1}, "c"))),
    (
        {"parts": [{"text": "x"}, {"name": "f"}, {"text": "y"}]},
        Reply(parts=(Say(("x",)), Call("f"), Say(("y",)))),
    ),
    ({"error": {"status": 429, "type": "rate_limit_error"}}, Fault(status=429, type="rate_limit_error")),
    ({"error": {"message": "gone"}}, Fault(message="gone", then="cut")),
    (
        {"error": {"type": "overloaded_error", "status": 200}},
        Fault(status=200, type="overloaded_error", then="error"),
    ),
    ({"text": "x", "hang": True}, say("x", fault=Fault(then="stall", after=1_000_000))),
]


@pytest.mark.parametrize(("data", "output"), SCRIPTED, ids=str)
def test_outputs_of_replay_scripts_mean_here_what_they_mean_there(data: Json, output: Any) -> None:
    assert output_of(data) == output
