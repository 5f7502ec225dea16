"""The OpenAI APIs refuse what the real ones refuse: tables for the rules O01 to O13."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.context.models import record
from tests.simulator import Simulator
from tests.simulator.asking import (
    GPT,
    LOCAL,
    Json,
    answered,
    assistant,
    calling,
    chat_request,
    chat_tool,
    function_call,
    function_tool,
    output,
    post,
    responses_request,
    user,
    words,
)

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
MAY_REST = "gpt-6-sol"
"""Takes the effort `none`, unlike the 6.2 models."""
OPEN_SCHEMA = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
OPTIONAL_FIELD = {"type": "object", "properties": {"kind": {"type": "string"}}, "additionalProperties": False}
CACHED_PART = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}

Case = tuple[str, str, int, str | None, str | None, Json]


def simulator() -> Simulator:
    made = Simulator()
    made.profiles.add_local(LOCAL)
    made.profiles.add(record(GPT).model_copy(update={"id": MAY_REST}))
    return made


def chat(rule: str, code: str | None, param: str | None, *messages: Json, **more: Any) -> Case:
    return rule, CHAT, 400, code, param, chat_request(*messages, **more)


def responses(rule: str, code: str | None, param: str | None, *items: Json, **more: Any) -> Case:
    return rule, RESPONSES, 400, code, param, responses_request(*items, **more)


REFUSED: list[Case] = [
    ("O02", CHAT, 404, "model_not_found", None, chat_request(model="gpt-novel")),
    ("O02", RESPONSES, 404, "model_not_found", None, responses_request(model="claude-sonnet-5")),
    ("O02", RESPONSES, 404, "model_not_found", None, responses_request(model=LOCAL)),
    chat("O03", "unknown_parameter", "surprise", surprise=1),
    chat("O03", "unknown_parameter", "messages[0].surprise", {**user("x"), "surprise": 1}),
    chat("O03", "unknown_parameter", "tools[0].name", tools=[{**chat_tool(), "name": "x"}]),
    chat("O03", "missing_required_parameter", "messages", messages=None),
    chat("O03", "missing_required_parameter", "model", model=None),
    chat("O03", "invalid_type", "max_completion_tokens", max_completion_tokens="many"),
    chat(
        "O03",
        "invalid_type",
        "messages[0].tool_calls[0].function.arguments",
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}],
        },
    ),
    responses("O03", "unknown_parameter", "surprise", surprise=1),
    responses("O03", "unknown_parameter", "max_tokens", max_tokens=5),
    responses("O03", "unknown_parameter", "input[0].surprise", {**user("x"), "surprise": 1}),
    responses("O03", "invalid_value", "input[0].content[0]", user({"type": "text", "text": "x"})),
    chat("O04", "unsupported_parameter", "max_tokens", max_tokens=5),
    chat("O04", "unsupported_value", "temperature", temperature=0.2),
    chat("O04", "unsupported_value", "top_p", top_p=0.2, reasoning_effort="low"),
    chat("O04", "unsupported_value", "reasoning_effort", reasoning_effort="none"),
    chat("O04", "unsupported_value", "reasoning_effort", reasoning_effort="enormous"),
    responses("O04", "unsupported_value", "temperature", temperature=0.2),
    responses("O04", "unsupported_value", "reasoning.effort", reasoning={"effort": "none"}),
    chat("O05", None, "reasoning_effort", tools=[chat_tool()]),
    chat("O05", None, "reasoning_effort", tools=[chat_tool()], model=MAY_REST, reasoning_effort="low"),
    chat("O06", None, "messages.[2].role", user("x"), calling("c1"), user("y")),
    chat("O06", None, "messages.[3].role", user("x"), calling("c1", "c2"), answered("c1")),
    chat("O07", None, "messages.[1].role", user("x"), answered("c1")),
    chat("O07", None, "messages.[3].tool_call_id", user("x"), calling("c1"), answered("c1"), answered("c1")),
    chat("O07", None, "messages.[2].tool_call_id", user("x"), calling("c1"), answered("c9")),
    chat("O08", None, "messages.[1].content", user("x"), {"role": "assistant", "content": None}, user("y")),
    chat("O08", "empty_array", "messages", messages=[]),
    chat("O08", "empty_array", "tools", tools=[], model=LOCAL),
    chat("O08", "invalid_value", "tools[0].function.name", tools=[chat_tool("sto.ck")], model=LOCAL),
    chat("O08", "invalid_value", "tools[1].function.name", tools=[chat_tool(), chat_tool()], model=LOCAL),
    chat("O08", "invalid_value", "tool_choice", tool_choice="required", model=LOCAL),
    responses("O08", "empty_array", "tools", tools=[]),
    responses("O08", "invalid_value", "tools[1].name", tools=[function_tool(), function_tool()]),
    responses(
        "O08",
        "invalid_value",
        "tool_choice",
        tools=[function_tool()],
        tool_choice={"type": "function", "name": "other"},
    ),
    responses(
        "O08",
        "invalid_value",
        "tool_choice",
        tools=[function_tool()],
        tool_choice={
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "function", "name": "other"}],
        },
    ),
    responses(
        "O08",
        "invalid_function_parameters",
        "tools[0].parameters",
        tools=[function_tool(strict=True, parameters=OPEN_SCHEMA)],
    ),
    responses(
        "O08",
        "invalid_function_parameters",
        "tools[0].parameters",
        tools=[function_tool(strict=True, parameters=OPTIONAL_FIELD)],
    ),
    responses("O09", None, "input", user("x"), function_call("c1")),
    responses("O09", None, "input[1]", user("x"), output("c1")),
    responses("O09", None, "input[3]", user("x"), function_call("c1"), output("c1"), output("c1")),
    responses("O09", None, "input", user("x"), {"type": "reasoning", "id": "rs_1", "summary": []}, user("y")),
    responses(
        "O09",
        "invalid_encrypted_content",
        "input",
        user("x"),
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "made up"},
        assistant("y"),
        user("z"),
    ),
    (
        "O09",
        RESPONSES,
        404,
        "model_not_found",
        "input",
        responses_request(
            user("x"), {"type": "reasoning", "id": "rs_1", "summary": []}, assistant("y"), user("z")
        ),
    ),
    (
        "O10",
        RESPONSES,
        404,
        "previous_response_not_found",
        "previous_response_id",
        responses_request(previous_response_id="resp_0"),
    ),
    responses(
        "O11",
        "unknown_parameter",
        "tools[0].prompt_cache_breakpoint",
        tools=[function_tool(prompt_cache_breakpoint={"mode": "explicit"})],
    ),
    chat("O12", "context_length_exceeded", "input", user(words(40_000)), model=LOCAL),
    chat("O12", "context_length_exceeded", "input", user("x"), model=LOCAL, max_tokens=40_000),
]


def _short(value: object) -> str:
    return str(value)[:40]


@pytest.mark.parametrize(("rule", "path", "status", "code", "param", "body"), REFUSED, ids=_short)
async def test_a_request_that_breaks_a_rule_is_refused_with_code_and_param(
    rule: str, path: str, status: int, code: str | None, param: str | None, body: Json
) -> None:
    asked = simulator()
    answer = await post(asked, path, body)
    error = answer.json()["error"]
    assert (answer.status_code, asked.exchanges[0].rule) == (status, rule), error
    assert (error["code"], error["param"]) == (code, param), error
    assert error["message"]
    assert answer.headers["x-request-id"]
    assert asked.exchanges[0].usage is None


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
@pytest.mark.parametrize("key", ["", "k", "Basic k"])
async def test_without_a_bearer_there_is_no_answer(path: str, key: str) -> None:
    asked = simulator()
    answer = await post(asked, path, responses_request(), {"authorization": key, "x-api-key": "k"})
    assert (answer.status_code, asked.exchanges[0].rule) == (401, "O01")
    assert answer.json()["error"]["code"] == "invalid_api_key"


async def test_a_wrong_key_is_refused() -> None:
    asked = simulator()
    asked.profiles.keys = {"good": "team"}
    assert (await post(asked, CHAT, chat_request())).status_code == 401
    assert (await post(asked, CHAT, chat_request(), {"authorization": "Bearer good"})).status_code == 200


async def test_the_refusal_of_an_unanswered_call_names_it() -> None:
    asked = simulator()
    body = chat_request(user("x"), calling("c1", "c2"), answered("c1"), user("y"))
    message = (await post(asked, CHAT, body)).json()["error"]["message"]
    assert "must be followed by tool messages responding to each 'tool_call_id'" in message
    assert message.endswith("c2")
    body = responses_request(user("x"), function_call("c1"), function_call("c2"), output("c1"))
    message = (await post(asked, RESPONSES, body)).json()["error"]["message"]
    assert message == "No tool output found for function call c2."


ACCEPTED: list[tuple[str, str, Json]] = [
    (
        "tools without reasoning",
        CHAT,
        chat_request(tools=[chat_tool()], model=MAY_REST, reasoning_effort="none"),
    ),
    (
        "a temperature without reasoning",
        CHAT,
        chat_request(temperature=0.2, model=MAY_REST, reasoning_effort="none"),
    ),
    ("the new limit", CHAT, chat_request(max_completion_tokens=50)),
    ("calls and answers", CHAT, chat_request(user("x"), calling("c1", "c2"), answered("c2"), answered("c1"))),
    ("fields unknown to OpenAI, at a local server", CHAT, chat_request(model=LOCAL, top_k=4)),
    (
        "the old limit and a temperature, at a local server",
        CHAT,
        chat_request(model=LOCAL, max_tokens=50, temperature=0.2, tools=[chat_tool()]),
    ),
    (
        "allowed tools",
        RESPONSES,
        responses_request(
            tools=[function_tool()],
            tool_choice={
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "stock"}],
            },
        ),
    ),
    (
        "calls and outputs",
        RESPONSES,
        responses_request(user("x"), function_call("c1"), function_call("c2"), output("c1"), output("c2")),
    ),
    (
        "a developer message",
        RESPONSES,
        responses_request({"role": "developer", "content": "Be kind."}, user("x")),
    ),
    (
        "a strict tool",
        RESPONSES,
        responses_request(
            tools=[function_tool(strict=True, parameters={**OPEN_SCHEMA, "additionalProperties": False})]
        ),
    ),
    (
        "a mark on an assistant's part",
        RESPONSES,
        responses_request(
            user("x"),
            assistant({"type": "output_text", "text": "y", "prompt_cache_breakpoint": {"mode": "explicit"}}),
            user("z"),
        ),
    ),
    ("a mark on a user's part", CHAT, chat_request(user(CACHED_PART))),
]


@pytest.mark.parametrize(("name", "path", "body"), ACCEPTED, ids=[name for name, _, _ in ACCEPTED])
async def test_a_request_that_keeps_the_rules_is_answered(name: str, path: str, body: Json) -> None:
    answer = await post(simulator(), path, body)
    assert answer.status_code == 200, answer.text


async def test_a_stored_response_is_gone_on_from_and_one_that_was_not_stored_is_not() -> None:
    asked = simulator()
    asked.script({"tool_calls": [{"id": "c1", "name": "stock"}]})
    first = (await post(asked, RESPONSES, responses_request(store=True))).json()
    body = responses_request(output("c1"), previous_response_id=first["id"])
    second = await post(asked, RESPONSES, body)
    assert second.status_code == 200, second.text
    assert second.json()["usage"]["input_tokens"] > first["usage"]["input_tokens"]
    refused = await post(asked, RESPONSES, responses_request(previous_response_id=second.json()["id"]))
    assert (refused.status_code, asked.exchanges[-1].rule) == (400, "O10")


async def test_a_rule_can_be_switched_off() -> None:
    asked = simulator()
    asked.profiles.switch_off("O05")
    assert (await post(asked, CHAT, chat_request(tools=[chat_tool()]))).status_code == 200


async def test_input_tokens_are_counted_as_they_are_billed() -> None:
    asked = simulator()
    body = responses_request(user("how many"), instructions="Be kind.", tools=[function_tool()])
    counted = (await post(asked, RESPONSES + "/input_tokens", body)).json()
    billed = (await post(asked, RESPONSES, body)).json()["usage"]["input_tokens"]
    assert counted == {"object": "response.input_tokens", "input_tokens": billed}
