"""Signed thinking and encrypted reasoning: an illegal change of what stands before fails here too."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.context.models import record
from tests.simulator import Simulator, Think
from tests.simulator.asking import (
    BINDING,
    CLAUDE,
    GPT,
    Json,
    ask,
    assistant,
    message_request,
    output,
    post,
    responses_request,
    result,
    text,
    tool,
    user,
)
from tests.simulator.script import Call, Reply, Say

BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
SHOWN = {"type": "adaptive", "display": "summarized"}
OLD = "claude-haiku-4-5"


def thinking(*more: Any) -> Reply:
    return Reply(parts=(Think("Let me see. "), *(more or (Say(("Blue.",)),))))


async def first_turn(asked: Simulator, **settings: Any) -> tuple[Json, list[Json]]:
    """A request that was answered with thinking, and the conversation that goes on from it."""
    asked.script(thinking())
    body = message_request(user("which?"), model=BINDING, system="Be kind.", tools=[tool()], **settings)
    answer = await ask(asked, body)
    return body, [user("which?"), {"role": "assistant", "content": answer["content"]}, user("why?")]


async def status(asked: Simulator, body: Json, headers: dict[str, str] | None = None) -> tuple[int, str]:
    answer = await post(asked, "/v1/messages", body, headers)
    return answer.status_code, answer.json().get("error", {}).get("message", "")


async def test_thinking_that_comes_back_as_it_was_is_good() -> None:
    asked = Simulator()
    body, turns = await first_turn(asked, thinking=SHOWN)
    assert turns[1]["content"][0]["thinking"] == "Let me see. "
    asked.script(thinking())
    answer = await ask(asked, {**body, "messages": turns})
    longer = [*turns, {"role": "assistant", "content": answer["content"]}, user("really?")]
    assert await status(asked, {**body, "messages": longer}) == (200, "")


REWRITES: list[tuple[str, Json]] = [
    ("the system prompt", {"system": "Be rude."}),
    ("a tool", {"tools": [tool(description="another")]}),
    ("one tool more", {"tools": [tool(), tool("other")]}),
    ("an earlier message", {"messages": 0}),
    ("a message more", {"messages": 1}),
]


def rewritten(body: Json, turns: list[Json], change: Json) -> Json:
    changed: Json = {**body, "messages": turns, **change}
    if change.get("messages") == 0:
        changed["messages"] = [user("what?"), *turns[1:]]
    elif change.get("messages") == 1:
        changed["messages"] = [user("before"), assistant("yes"), *turns]
    return changed


@pytest.mark.parametrize("change", [change for _, change in REWRITES], ids=[name for name, _ in REWRITES])
async def test_on_a_binding_model_whatever_changes_before_a_thinking_block_is_an_error(change: Json) -> None:
    asked = Simulator()
    body, turns = await first_turn(asked)
    code, message = await status(asked, rewritten(body, turns, change))
    assert (code, asked.exchanges[-1].rule) == (400, "A18")
    assert "bound to a different conversation" in message


@pytest.mark.parametrize("change", [change for _, change in REWRITES], ids=[name for name, _ in REWRITES])
async def test_with_the_drop_option_the_block_is_left_out_and_listed(change: Json) -> None:
    asked = Simulator()
    body, turns = await first_turn(asked)
    changed = {**rewritten(body, turns, change), "thinking": DROP}
    answer = await ask(asked, changed, BETA)
    assert [entry["reason"] for entry in answer["input_transformations"]] == ["prefix_mismatch"]


async def test_what_comes_after_a_block_and_where_marks_stand_does_not_matter() -> None:
    asked = Simulator()
    body, turns = await first_turn(asked)
    control = {"cache_control": {"type": "ephemeral"}}
    changed = {**body, "messages": [user(text("which?", **control)), turns[1], user("else?")]}
    assert await status(asked, changed) == (200, "")


async def test_without_any_thinking_a_rewrite_is_legal() -> None:
    asked = Simulator()
    body, turns = await first_turn(asked)
    kept = [block for block in turns[1]["content"] if block["type"] != "thinking"]
    changed = {**body, "system": "Be rude.", "messages": [turns[0], assistant(*kept), turns[2]]}
    assert await status(asked, changed) == (200, "")


async def test_an_edited_block_is_an_error_on_every_model() -> None:
    for model in (BINDING, CLAUDE):
        asked = Simulator()
        body, turns = await first_turn(asked, thinking=SHOWN)
        turns[1]["content"][0]["thinking"] = "Let me see! "
        code, message = await status(asked, {**body, "model": model, "messages": turns})
        assert code == 400
        assert "cannot be modified" in message


async def test_another_model_s_block_is_left_out_silently_and_another_account_s_is_an_error() -> None:
    asked = Simulator()
    body, turns = await first_turn(asked)
    other = {**body, "messages": turns, "model": "claude-fable-5-2", "system": "Be rude."}
    assert await status(asked, other) == (200, "")
    code, _ = await status(asked, {**body, "messages": turns}, {"authorization": "Bearer another"})
    assert code == 400


async def test_a_model_that_does_not_bind_takes_its_thinking_under_another_prefix() -> None:
    asked = Simulator()
    asked.script(thinking())
    assert not record(CLAUDE).binds_thinking
    answer = await ask(asked, message_request(user("which?"), system="Be kind."))
    turns = [user("what?"), {"role": "assistant", "content": answer["content"]}, user("why?")]
    assert await status(asked, message_request(*turns, system="Be rude.")) == (200, "")


async def test_binding_models_omit_the_text_of_thinking_unless_asked() -> None:
    asked = Simulator()
    _, turns = await first_turn(asked)
    block = turns[1]["content"][0]
    assert (block["type"], block["thinking"]) == ("thinking", "")
    assert block["signature"]
    assert asked.exchanges[0].usage is not None
    assert asked.exchanges[0].usage.output > 3


async def test_redacted_thinking_comes_back_by_its_data() -> None:
    asked = Simulator()
    asked.script(Reply(parts=(Think("x", redacted=True), Say(("Blue.",)))))
    body = message_request(user("which?"), model=BINDING)
    answer = await ask(asked, body)
    assert answer["content"][0]["type"] == "redacted_thinking"
    turns = [user("which?"), {"role": "assistant", "content": answer["content"]}, user("why?")]
    assert await status(asked, {**body, "messages": turns}) == (200, "")
    assert (await status(asked, {**body, "messages": [user("what?"), *turns[1:]]}))[0] == 400


async def test_thinking_before_a_call_is_good_with_the_result_behind_it() -> None:
    asked = Simulator()
    asked.script(thinking(Call("stock", id="c1"), Call("stock", id="c2")))
    body = message_request(user("which?"), model=BINDING, tools=[tool()])
    answer = await ask(asked, body)
    assert [block["type"] for block in answer["content"]] == ["thinking", "tool_use", "tool_use"]
    said = {"role": "assistant", "content": answer["content"]}
    turns = [user("which?"), said, user(result("c1"), result("c2"))]
    assert await status(asked, {**body, "messages": turns}) == (200, "")


async def test_an_older_model_thinks_only_when_asked_and_forgets_the_thinking_of_earlier_turns() -> None:
    asked = Simulator()
    enabled = {"type": "enabled", "budget_tokens": 1024}
    asked.script(thinking(), thinking(), thinking())
    assert (await ask(asked, message_request(model=OLD)))["content"][0]["type"] == "text"
    body = message_request(user("which?"), model=OLD, max_tokens=2000, thinking=enabled)
    answer = await ask(asked, body)
    assert answer["content"][0]["type"] == "thinking"
    counting = {key: value for key, value in body.items() if key != "max_tokens"}
    turns = [user("which?"), {"role": "assistant", "content": answer["content"]}, user("why?")]
    counted = [
        (await post(asked, "/v1/messages/count_tokens", {**counting, "messages": messages})).json()
        for messages in (turns, [turns[0], assistant("Blue."), turns[2]])
    ]
    assert counted[0] == counted[1]


# -- OpenAI -------------------------------------------------------------------------------------------------

SEALED = {"include": ["reasoning.encrypted_content"]}


async def reasoned(asked: Simulator, body: Json) -> list[Json]:
    asked.script(thinking(Call("stock", id="c1")))
    answer = await post(asked, "/v1/responses", body)
    assert answer.status_code == 200, answer.text
    items: list[Json] = answer.json()["output"]
    return items


async def test_encrypted_reasoning_that_comes_back_is_read() -> None:
    asked = Simulator()
    items = await reasoned(asked, responses_request(user("which?"), **SEALED))
    assert [item["type"] for item in items] == ["reasoning", "function_call"]
    assert items[0]["encrypted_content"]
    again = responses_request(user("which?"), *items, output("c1"), **SEALED)
    answer = (await post(asked, "/v1/responses", again)).json()
    assert answer["input_transformations"] == []


async def test_reasoning_under_another_prefix_or_model_is_removed_and_listed() -> None:
    asked = Simulator()
    asked.profiles.add(record(GPT).model_copy(update={"id": "gpt-6-sol"}))
    items = await reasoned(asked, responses_request(user("which?"), **SEALED))
    for change, reason in (
        ({"instructions": "Be rude."}, "prefix_mismatch"),
        ({"model": "gpt-6-sol"}, "model_mismatch"),
    ):
        body = {**responses_request(user("which?"), *items, output("c1"), **SEALED), **change}
        answer = (await post(asked, "/v1/responses", body)).json()
        removed = {"type": "reasoning", "id": items[0]["id"], "action": "removed", "reason": reason}
        assert answer["input_transformations"] == [removed]


async def test_reasoning_is_sealed_only_on_request_and_absent_without_effort() -> None:
    asked = Simulator()
    asked.profiles.add(record(GPT).model_copy(update={"id": "gpt-6-sol"}))
    items = await reasoned(asked, responses_request(user("which?")))
    assert "encrypted_content" not in items[0]
    rested = responses_request(user("which?"), model="gpt-6-sol", reasoning={"effort": "none"})
    assert [item["type"] for item in await reasoned(asked, rested)] == ["function_call"]
