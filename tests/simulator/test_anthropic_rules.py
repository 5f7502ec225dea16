"""The Messages API refuses what the real one refuses: one table for the rules A01 to A20."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator import Simulator
from tests.simulator.asking import (
    CLAUDE,
    OLD_VERSION,
    Json,
    assistant,
    marked,
    message_request,
    post,
    result,
    text,
    tool,
    use,
    user,
    words,
)

HAIKU = "claude-haiku-4-5"
"""Old enough for prefill and `enabled` thinking."""
HOUR = {"type": "ephemeral", "ttl": "1h"}
BOUND = "claude-opus-5-5"
"""New enough to think always, to bind its thinking and to refuse a forced choice."""
ENABLED = {"type": "enabled", "budget_tokens": 1024}
OLD = {"anthropic-version": OLD_VERSION}
SYSTEM = {"role": "system", "content": "Be short."}
BINDING = {"prefix_mismatch_behavior": "drop_block"}
TALK = (user("hi"), assistant(use("c1")))


def _short(value: object) -> str:
    return str(value)[:40]


Case = tuple[str, int, str, Json, dict[str, str]]


def case(
    rule: str, fragment: str, *messages: Json, headers: dict[str, str] | None = None, **more: Any
) -> Case:
    return rule, 400, fragment, message_request(*messages, **more), headers or {}


REFUSED: list[Case] = [
    ("A01", 401, "missing credentials", message_request(), {"authorization": ""}),
    ("A01", 401, "missing credentials", message_request(), {"authorization": "Basic k"}),
    case("A03", "anthropic-version", headers={"anthropic-version": ""}),
    case("A03", "anthropic-version", headers={"anthropic-version": "2020-01-01"}),
    case("A04", "surprise: Extra inputs are not permitted", surprise=1),
    case("A04", "surprise: Extra inputs are not permitted", user(text("x", surprise=1))),
    case("A04", "surprise: Extra inputs are not permitted", tools=[tool(surprise=1)]),
    case("A04", "surprise: Extra inputs are not permitted", {"role": "user", "content": "x", "surprise": 1}),
    case("A04", "Extra inputs are not permitted", tools=[tool()], tool_choice={"type": "auto", "x": 1}),
    case("A04", "Extra inputs are not permitted", context_management={}),
    case("A04", "block_binding", thinking={"type": "adaptive", "block_binding": BINDING}),
    case("A04", "max_tokens: Input should be a valid integer", max_tokens="many"),
    case("A04", "model: Field required", model=None),
    case("A04", "messages.0.content.0", user({"type": "novelty"})),
    case("A04", "document", user("x"), assistant({"type": "document", "source": {}}), user("y")),
    case("A04", "citations", user(text("x", citations=[{}]))),
    case("A05", "temperature: Extra inputs are not permitted", temperature=1),
    case("A05", "top_k: Extra inputs are not permitted", top_k=3, model=HAIKU),
    case("A05", "temperature", temperature=0.2, headers=OLD),
    case("A05", "cannot both be specified", temperature=0.2, top_p=0.9, model=HAIKU, headers=OLD),
    ("A06", 404, "model: claude-novel", message_request(model="claude-novel"), {}),
    ("A06", 404, "model: gpt-6.2-sol", message_request(model="gpt-6.2-sol"), {}),
    case("A07", "max_tokens: Field required", max_tokens=None),
    case("A07", "greater than or equal to 0", max_tokens=-1),
    case("A07", "maximum allowed", max_tokens=128_001),
    case("A07", "cannot be combined with stream", max_tokens=0, stream=True),
    case("A07", "forced tool choice", max_tokens=0, tools=[tool()], tool_choice={"type": "any"}),
    case("A08", "at least one message", messages=[]),
    case("A08", 'must use the "user" role', assistant("x"), user("y")),
    case("A08", "messages.1.role", user("x"), {"role": "tool", "content": "x"}),
    case("A09", "not supported", user("x"), SYSTEM),
    case("A09", "first", SYSTEM, user("x"), model="claude-opus-5"),
    case("A09", "follow", user("x"), assistant("y"), SYSTEM, model="claude-opus-5"),
    case("A09", "precede", user("x"), SYSTEM, user("y"), model="claude-opus-5"),
    case("A09", "only contain text", user("x"), {**SYSTEM, "content": [use("c")]}, model="claude-opus-5"),
    case("A10", "all messages must have non-empty content", user("x"), assistant(), user("y")),
    case("A10", "all messages must have non-empty content", user("")),
    case("A10", "text content blocks must be non-empty", user(text(""))),
    case("A10", "must contain non-whitespace text", user("x"), assistant(" \n"), user("y")),
    case("A10", "must contain non-whitespace text", *TALK, user(result("c1", content=[text(" ")]))),
    case("A10", "system: text content blocks must be non-empty", system=""),
    case("A10", "system: text content blocks must contain", system=[text("  ")]),
    case("A11", "does not support assistant message prefill", user("x"), assistant("The")),
    case("A11", "cannot end with trailing whitespace", user("x"), assistant("The "), model=HAIKU),
    case(
        "A11",
        "thinking",
        user("x"),
        assistant("The"),
        model=HAIKU,
        max_tokens=2000,
        thinking=ENABLED,
    ),
    case("A12", "name", tools=[tool("sto.ck")]),
    case("A12", "name", tools=[tool("s" * 65)]),
    case("A12", "Tool names must be unique", tools=[tool(), tool()]),
    case("A12", "input_schema", tools=[tool(input_schema={"type": "string"})]),
    case("A12", "deferred", tools=[tool(defer_loading=True)]),
    case("A13", "only be specified while providing tools", tool_choice={"type": "auto"}),
    case("A13", "not found", tools=[tool()], tool_choice={"type": "tool", "name": "other"}),
    case(
        "A13",
        "not supported for this model",
        model="claude-opus-5-5",
        tools=[tool()],
        tool_choice={"type": "any"},
    ),
    case(
        "A13",
        "Thinking may not be enabled",
        model=HAIKU,
        max_tokens=2000,
        thinking=ENABLED,
        tools=[tool()],
        tool_choice={"type": "any"},
    ),
    case("A14", "pattern", user("x"), assistant(use("functions.x:0")), user(result("functions.x:0"))),
    case("A14", "must be unique", *TALK, user(result("c1")), assistant(use("c1")), user(result("c1"))),
    case("A14", "valid dictionary", user("x"), assistant(use("c1", input="{}")), user(result("c1"))),
    case("A15", "were found without `tool_result` blocks immediately after: c1", *TALK, user("and now?")),
    case("A15", "c2", user("x"), assistant(use("c1"), use("c2")), user(result("c1"))),
    case("A15", "c1", *TALK, user(text("first"), result("c1"))),
    case("A16", "unexpected `tool_use_id`", user(result("c9"))),
    case("A16", "unexpected `tool_use_id`", *TALK, user(result("c1"), result("c9"))),
    case("A16", "single result", *TALK, user(result("c1"), result("c1"))),
    case("A16", "must come before", *TALK, user(result("c1"), text("x"), result("c1", content="3"))),
    case(
        "A17", '"thinking.type.enabled" is not supported', thinking={"type": "enabled", "budget_tokens": 2000}
    ),
    case("A17", "adaptive thinking is not supported", model=HAIKU, thinking={"type": "adaptive"}),
    case("A17", "disabled", model=BOUND, thinking={"type": "disabled"}),
    case("A17", "1024", model=HAIKU, thinking={"type": "enabled", "budget_tokens": 100}),
    case("A17", "must be greater", model=HAIKU, thinking=ENABLED),
    case("A17", "effort", output_config={"effort": "enormous"}),
    case("A17", "effort", model=HAIKU, output_config={"effort": "low"}),
    case(
        "A17",
        "effort",
        model="claude-opus-5",
        thinking={"type": "disabled"},
        output_config={"effort": "max"},
    ),
    case(
        "A18",
        "Invalid `signature`",
        user("x"),
        assistant({"type": "thinking", "thinking": "t", "signature": "made up"}, text("y")),
        user("z"),
    ),
    case("A19", "maximum of 4 blocks", user(*[marked(text(str(n))) for n in range(5)])),
    case(
        "A19",
        "Found 5",
        user(*[marked(text(str(n))) for n in range(4)]),
        cache_control={"type": "ephemeral"},
    ),
    case("A19", "ttl='1h'", user(marked(text("x"), None), marked(text("y"), "1h"))),
    case(
        "A19",
        "ttl='1h'",
        user("x"),
        system=[marked(text("s"))],
        cache_control={"type": "ephemeral", "ttl": "1h"},
    ),
    case("A19", "another ttl", user(marked(text("x"))), cache_control=HOUR),
    case("A19", "ttl", user(marked(text("x"), "2h"))),
    case("A20", "prompt is too long", user(words(200_000)), model="claude-opus-4-8"),
]


@pytest.mark.parametrize(("rule", "status", "fragment", "body", "headers"), REFUSED, ids=_short)
async def test_a_request_that_breaks_a_rule_is_refused_in_the_provider_s_words(
    rule: str, status: int, fragment: str, body: Json, headers: dict[str, str]
) -> None:
    simulator = Simulator()
    answer = await post(simulator, "/v1/messages", body, headers)
    error = answer.json()["error"]
    assert (answer.status_code, simulator.exchanges[0].rule) == (status, rule), error
    assert fragment in error["message"]
    assert answer.json()["type"] == "error"
    assert answer.headers["request-id"]
    assert simulator.exchanges[0].usage is None


ACCEPTED: list[tuple[str, Json, dict[str, str]]] = [
    ("x-api-key instead of a bearer", message_request(), {"authorization": "", "x-api-key": "k"}),
    ("the old version", message_request(), OLD),
    ("old sampling", message_request(model=HAIKU, temperature=0.2), OLD),
    ("default sampling on a new model", message_request(temperature=1), OLD),
    (
        "neighbours of one role",
        message_request(user("x"), user("y"), assistant("a"), assistant("b"), user("z")),
        {},
    ),
    ("prefill", message_request(user("x"), assistant("The"), model=HAIKU), {}),
    ("an empty final prefill", message_request(user("x"), assistant(), model=HAIKU), {}),
    ("a system message at the end", message_request(user("x"), SYSTEM, model="claude-opus-5"), {}),
    (
        "a system message before the assistant",
        message_request(*TALK, user(result("c1")), SYSTEM, assistant("y"), user("z"), model="claude-opus-5"),
        {},
    ),
    ("results, then text", message_request(*TALK, user(result("c1"), text("and?")), tools=[tool()]), {}),
    (
        "results in two messages",
        message_request(user("x"), assistant(use("c1"), use("c2")), user(result("c1")), user(result("c2"))),
        {},
    ),
    ("an empty result", message_request(*TALK, user(result("c1", content=""))), {}),
    ("long before short", message_request(user(marked(text("x"), "1h"), marked(text("y"), "5m"))), {}),
    ("a forced choice", message_request(tools=[tool()], tool_choice={"type": "tool", "name": "stock"}), {}),
    ("a pre-warming", message_request(max_tokens=0), {}),
    ("a beta field with its header", message_request(context_management={}), {"anthropic-beta": "context-x"}),
    (
        "a provider's own tool",
        message_request(tools=[tool(), {"type": "web_search_1", "name": "web_search"}]),
        {},
    ),
    ("an effort", message_request(output_config={"effort": "low"}), {}),
]


@pytest.mark.parametrize(("name", "body", "headers"), ACCEPTED, ids=[name for name, _, _ in ACCEPTED])
async def test_a_request_that_keeps_the_rules_is_answered(
    name: str, body: Json, headers: dict[str, str]
) -> None:
    answer = await post(Simulator(), "/v1/messages", body, headers)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "\\ud83d"}', b"\xff"])
async def test_a_body_that_is_no_json_object_or_no_unicode_is_refused(body: bytes) -> None:
    simulator = Simulator()
    answer = await post(simulator, "/v1/messages", body)
    assert (answer.status_code, simulator.exchanges[0].rule) == (400, "A03")


async def test_a_body_of_more_than_32_megabytes_is_too_large() -> None:
    simulator = Simulator()
    answer = await post(simulator, "/v1/messages", b" " * (32 * 1024 * 1024 + 1))
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "request_too_large")
    assert simulator.exchanges[0].rule == "A02"


async def test_a_wrong_key_and_a_retired_model_are_told_apart() -> None:
    simulator = Simulator()
    simulator.profiles.keys = {"good": "team"}
    assert (await post(simulator, "/v1/messages", message_request())).status_code == 401
    simulator.profiles.retired.add(CLAUDE)
    good = {"authorization": "Bearer good"}
    answer = await post(simulator, "/v1/messages", message_request(), good)
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")


async def test_a_rule_can_be_switched_off_for_one_model() -> None:
    simulator = Simulator()
    simulator.profiles.switch_off("A11", CLAUDE)
    body = message_request(user("x"), assistant("The"))
    assert (await post(simulator, "/v1/messages", body)).status_code == 200
    body = message_request(user("x"), assistant("The"), model="claude-opus-5")
    assert (await post(simulator, "/v1/messages", body)).status_code == 400


async def test_tokens_are_counted_without_an_answer_and_as_they_are_billed() -> None:
    simulator = Simulator()
    body = message_request(system="Be kind.", tools=[tool()], max_tokens=None)
    counted = await post(simulator, "/v1/messages/count_tokens", body)
    answer = await post(simulator, "/v1/messages", {**body, "max_tokens": 10})
    assert counted.json() == {"input_tokens": answer.json()["usage"]["input_tokens"]}
    assert counted.json()["input_tokens"] > 354
    refused = await post(simulator, "/v1/messages/count_tokens", {**body, "max_tokens": 10})
    assert refused.status_code == 400
