"""For each code a document that has the finding, and one that nearly has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from builder.validation import ServerFacts
from builder.validation.server import NOTHING_KNOWN
from tests.builder.documents import Json, document, end, rule, stage, tool


@dataclass(frozen=True)
class Case:
    """`clean` differs from `fires` in what the check is about, and in as little else as can be."""

    fires: Json
    clean: Json
    server: ServerFacts = NOTHING_KNOWN


def to_bye(**condition: Any) -> Json:
    """A rule from greet to bye."""
    return rule("t", "greet", "bye", condition=condition)


def rules(*given: Json, **fields: Any) -> Json:
    """greet, work and bye with these rules."""
    return document([stage("greet"), stage("work"), end()], list(given), **fields)


def says(*words: str, **more: Any) -> Json:
    return {"type": "keyword", "keywords": list(words), "source": "user", **more}


def calls(name: str, **more: Any) -> Json:
    return {"type": "tool_call", "toolName": name, **more}


def custom(expression: str, **more: Any) -> Json:
    return {"type": "custom", "expression": expression, **more}


def intent(name: str, *examples: str, **more: Any) -> Json:
    return {"type": "intent", "intent": name, "description": name, "examples": list(examples), **more}


DECIDED: Json = {"type": "llm_decision"}
REFUND = intent("refund", "money back", "refund me", "pay it back")
STOP = intent("stop", "end the talk", "leave me alone", "that is enough")
WORDS = " ".join(f"word{number}" for number in range(40))
LONG_RULES = "Follow each of these rules to the letter, whatever happens. " * 12
HTTP: Json = {
    "type": "http",
    "url": "https://shop.example",
    "headers": {"Authorization": "Bearer {{secret.SHOP}}"},
}


def with_tools(*tools: Json, condition: Json = DECIDED, **fields: Any) -> Json:
    return document(
        [stage("greet", tools=list(tools), **fields), end()], [rule("t", "greet", "bye", condition=condition)]
    )


def limited(field: str, limit: int, **condition: Any) -> Json:
    return document([stage("greet", **{field: limit}), end()], [to_bye(**condition)])


def two_rules(one: Json, two: Json, *, priority: int = 0, same_target: bool = False) -> Json:
    """`a` and then `b` out of greet; b with that priority."""
    return rules(
        rule("a", "greet", "work", condition=one),
        rule("b", "greet", "work" if same_target else "bye", condition=two, priority=priority),
        rule("done", "work", "bye"),
    )


def trap(way_out: bool) -> Json:
    there_and_back = [rule("a", "greet", "work"), rule("b", "work", "greet", condition=calls("x"))]
    out = [rule("c", "work", "bye", condition=says("bye"))] if way_out else []
    return rules(*there_and_back, *out, globalTools=[tool("x")])


def called(comes_back: bool) -> Json:
    back = rule("back", "work", None, action={"mode": "return"})
    again = rule("again", "work", "work")
    call = rule("in", "greet", None, action={"targetStage": "work", "mode": "call"})
    return rules(call, back if comes_back else again, rule("done", "greet", "bye"))


def silent_circle(*, listens: bool) -> Json:
    """Two stages that speak by themselves, each left after its first turn."""
    first = {"type": "max_turns", "count": 1}
    second = first if not listens else {"type": "max_turns", "count": 2}
    stages = [stage("greet", speakOnEnter=True), stage("work", speakOnEnter=True), end()]
    return document(
        stages,
        [
            rule("a", "greet", "work", condition=first),
            rule("b", "work", "greet", condition=second),
            rule("c", "work", "bye", condition=says("bye")),
        ],
    )


def prompts(one: str, two: str, **fields: Any) -> Json:
    """Two stages with a tool each, so that only their prompts can be alike."""
    stages = [
        stage("greet", systemPrompt=one, tools=[tool("x")]),
        stage("work", systemPrompt=two, tools=[tool("y")]),
        end(),
    ]
    return document(stages, [rule("a", "greet", "work"), rule("b", "work", "bye")], **fields)


def chain(**second: Any) -> Json:
    stages = [stage("greet"), stage("work", **second), end()]
    return document(stages, [rule("a", "greet", "work"), rule("b", "work", "bye")])


def handing_over(**back: Any) -> Json:
    return rules(
        rule("a", "greet", "work"), rule("b", "work", "greet", **back), rule("c", "greet", "bye"),
        globalTools=[tool("x")],
    )  # fmt: skip


def agents(*targets: str, mode: str = "call") -> Json:
    called = [
        rule(f"c{i}", "greet", None, action={"targetStage": target, "mode": mode})
        for i, target in enumerate(targets)
    ]
    return rules(*called, rule("t", "greet", "work"), rule("u", "work", "bye", condition=says("bye")),
                 agents=[{"name": "helper", "playbook": "help"}])  # fmt: skip


def prompted(text: str, **fields: Any) -> Json:
    return document([stage("greet", systemPrompt=text), end()], **fields)


def set_on_enter(expression: str, **fields: Any) -> Json:
    return document([stage("greet", onEnter=[{"set": {"total": expression}}]), end()], **fields)


def intents(one: Json, two: Json) -> Json:
    return rules(
        rule("a", "greet", "work", condition=one),
        rule("b", "greet", "bye", condition=two),
        rule("done", "work", "bye"),
    )


CALLED: Callable[..., Json] = with_tools
CASES: dict[str, Case] = {
    "newer-format": Case(document(formatVersion=2), document(formatVersion=1)),
    "bad-playbook-id": Case(document(id="my desk"), document(id="my-desk")),
    "missing-name": Case(
        document(variables=[{"name": " ", "default": 1}]), document(variables=[{"name": "n", "default": 1}])
    ),
    "duplicate-id": Case(
        document(rules=[to_bye(**DECIDED), rule("t", "greet", "bye", condition=says("bye"))]),
        document(rules=[to_bye(**DECIDED), rule("u", "greet", "bye", condition=says("bye"))]),
    ),
    "unknown-field": Case(
        document([stage("greet", speakOnEntry=True), end()]),
        document([stage("greet", speakOnEnter=True), end()]),
    ),
    "unknown-initial-stage": Case(document(initialStage="gret"), document(initialStage="greet")),
    "reserved-stage-id": Case(
        document([stage("return"), end()], [rule("t", "return", "bye")]),
        document([stage("returns"), end()], [rule("t", "returns", "bye")]),
    ),
    "blank-in-id": Case(
        document([stage("greet "), end()], [rule("t", "greet ", "bye")]),
        document([stage("gre et"), end()], [rule("t", "gre et", "bye")]),
    ),
    "similar-id": Case(
        document([stage("a"), end("A")], [rule("t", "a", "A")]),
        document([stage("a"), end("b")], [rule("t", "a", "b")]),
    ),
    "unknown-stage": Case(
        document(rules=[rule("t", "greet", "by")]), document(rules=[rule("t", "greet", "bye")])
    ),
    "missing-target": Case(
        document(rules=[rule("t", "greet", None)]),
        document(rules=[rule("t", "greet", None, action={"mode": "return"})]),
    ),
    "unknown-agent": Case(agents("agent:helpr", "agent:helper"), agents("agent:helper")),
    "agent-not-called": Case(agents("agent:helper", mode="goto"), agents("agent:helper")),
    "unused-agent": Case(agents(), agents("agent:helper")),
    "unreachable-stage": Case(
        rules(rule("t", "greet", "bye"), rule("u", "work", "bye")),
        rules(
            rule("t", "greet", "bye"),
            rule("u", "work", "bye"),
            rule("v", "*", "work", condition=says("work")),
        ),
    ),
    "dead-end": Case(
        rules(rule("t", "greet", "bye"), rule("u", "greet", "work")),
        rules(
            rule("t", "greet", "bye"),
            rule("u", "greet", "work"),
            rule("v", "*", "bye", condition=says("bye")),
        ),
    ),
    "no-way-to-end": Case(trap(way_out=False), trap(way_out=True)),
    "call-never-returns": Case(called(comes_back=False), called(comes_back=True)),
    "automatic-cycle": Case(silent_circle(listens=False), silent_circle(listens=True)),
    "max-turns-without-way-out": Case(
        limited("maxTurns", 3, **DECIDED), limited("maxTurns", 3, type="max_turns", count=3)
    ),
    "timeout-without-way-out": Case(
        limited("timeoutMs", 9000, **DECIDED), limited("timeoutMs", 9000, type="timeout", durationMs=9000)
    ),
    "shadowed-transition": Case(
        two_rules(says("refund"), says("refund", "my refund")), two_rules(says("refund"), says("refunded"))
    ),
    "covered-keyword": Case(
        two_rules(says("refund"), says("a refund", "money")),
        two_rules(says("refund"), says("refunds", "money")),
    ),
    "limit-comes-first": Case(
        limited("maxTurns", 3, type="max_turns", count=5), limited("maxTurns", 3, type="max_turns", count=2)
    ),
    "rule-from-end": Case(
        rules(
            rule("t", "greet", "work"),
            rule("u", "work", "bye", condition=says("x")),
            rule("v", "bye", "greet"),
        ),
        rules(rule("t", "greet", "work"), rule("u", "work", "bye", condition=says("x"))),
    ),
    "equal-priority": Case(
        two_rules(custom("vars.a == 1"), custom("data.b == 1")),
        two_rules(custom("vars.a == 1"), custom("vars.a == 2")),
    ),
    "message-has-keyword": Case(
        rules(
            rule(
                "t",
                "greet",
                None,
                action={"targetStage": "work", "transitionMessage": "Talk about the refund now."},
            ),
            rule("u", "work", "bye", condition={"type": "keyword", "keywords": ["refund"]}),
        ),
        rules(
            rule(
                "t",
                "greet",
                None,
                action={"targetStage": "work", "transitionMessage": "Talk about the refund now."},
            ),
            rule("u", "work", "bye", condition=says("refund")),
        ),
    ),
    "disabled-custom": Case(
        document(rules=[to_bye(**DECIDED), rule("u", "greet", "bye", condition=custom(""), disabled=True)]),
        document(
            rules=[
                to_bye(**DECIDED),
                rule("u", "greet", "bye", condition=custom("turn.count > 1"), disabled=True),
            ]
        ),
    ),
    "keyword-empty": Case(
        document(rules=[to_bye(**says("hi", " "))]), document(rules=[to_bye(**says("hi", "ho"))])
    ),
    "bad-regex": Case(
        document(rules=[to_bye(**says("(", match="regex"))]),
        document(rules=[to_bye(**says("(", match="word"))]),
    ),
    "bad-expression": Case(
        document(rules=[to_bye(**custom("turn.count >"))]),
        document(rules=[to_bye(**custom("turn.count > 1"))]),
    ),
    "undeclared-variable": Case(set_on_enter("vars.sum + 1"), set_on_enter("has(vars.sum) ? vars.sum : 1")),
    "unknown-variable": Case(
        prompted("Greet {$name}."), prompted("Greet {$name}.", variables=[{"name": "name"}])
    ),
    "bad-placeholder": Case(prompted('Answer as {"a": b}.'), prompted('Answer as {{"a": b}}.')),
    "unused-variable": Case(
        document(variables=[{"name": "sum"}]), document(variables=[{"name": "sum", "default": 0}])
    ),
    "unnamed-intent": Case(
        document(rules=[to_bye(**REFUND | {"intent": " "})]), document(rules=[to_bye(**REFUND)])
    ),
    "few-examples": Case(
        document(rules=[to_bye(**REFUND | {"examples": ["a", "b"]})]),
        document(rules=[to_bye(**REFUND | {"examples": ["a", "b", "c"]})]),
    ),
    "no-intent-description": Case(
        document(rules=[to_bye(**REFUND | {"description": " "})]), document(rules=[to_bye(**REFUND)])
    ),
    "shared-example": Case(
        intents(REFUND, STOP | {"examples": [*STOP["examples"], "Refund me"]}),
        intents(REFUND, STOP | {"examples": [*STOP["examples"], "Refuse me"]}),
    ),
    "overlapping-intents": Case(
        intents(
            intent("change", "move the delivery", "another address", "please cancel my order today"),
            intent("cancel", "cancel my order", "please cancel my order", "cancel the order today"),
        ),
        intents(REFUND, STOP),
    ),
    "unused-intent": Case(
        rules(
            rule("t", "greet", "work"),
            rule("u", "work", "bye", condition=REFUND, disabled=True),
            rule("v", "work", "bye", condition=says("x")),
        ),
        rules(
            rule("t", "greet", "work"),
            rule("u", "work", "bye", condition=REFUND),
            rule("v", "work", "bye", condition=says("x")),
        ),
    ),
    "reserved-tool-name": Case(with_tools(tool("SaveArtifact")), with_tools(tool("SaveArtifacts"))),
    "bad-tool-name": Case(with_tools(tool("check stock")), with_tools(tool("check_stock"))),
    "tool-name-conflict": Case(
        document([stage("greet", tools=[tool("x")]), end(tools=[tool("x", description="Other")])]),
        document([stage("greet", tools=[tool("x")]), end(tools=[tool("x")])]),
    ),
    "tool-not-implemented": Case(with_tools({"name": "x"}), with_tools(tool("x"))),
    "missing-tool": Case(
        with_tools(tool("x"), condition=calls("")), with_tools(tool("x"), condition=calls("x"))
    ),
    "unknown-tool": Case(
        with_tools(tool("stock"), condition=calls("stok")),
        with_tools(tool("stock"), condition=calls("stock")),
    ),
    "tool-not-offered": Case(
        prompted("If they want to change it, call `revise_booking`."),
        prompted("If they want to change it, say `revise_booking`."),
    ),
    "unused-tool": Case(
        with_tools(tool("x"), toolChoice="none"),
        with_tools(tool("x"), toolChoice="none", onEnter=[{"call": "x"}]),
    ),
    "bad-schema": Case(
        with_tools(tool("x", parameters={"type": "objekt"})),
        with_tools(tool("x", parameters={"type": "object"})),
    ),
    "loose-schema": Case(
        with_tools(tool("x", parameters={"type": "object", "required": ["b"], "properties": {}})),
        with_tools(
            tool(
                "x", parameters={"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}
            )
        ),
    ),
    "secret-in-document": Case(
        with_tools(tool("x", implementation=HTTP | {"headers": {"Authorization": "Bearer demo-not-real"}})),
        with_tools(tool("x", implementation=HTTP)),
    ),
    "undefined-secret": Case(
        with_tools(tool("x", implementation=HTTP)),
        with_tools(tool("x", implementation={**HTTP, "headers": {"Authorization": "{{secret.DESK}}"}})),
        ServerFacts(secrets=frozenset({"DESK"})),
    ),
    "empty-prompt": Case(prompted(" \n"), prompted("Hi.")),
    "long-prompt": Case(prompted("four " * 4000), prompted("four " * 3000)),
    "volatile-prompt": Case(
        prompted(f"It is {{now}}. {LONG_RULES}"), prompted(f"{LONG_RULES} It is {{now}}.")
    ),
    "similar-prompts": Case(
        prompts(f"{WORDS} one", f"{WORDS} two"), prompts(f"{WORDS} one", WORDS.upper()[:200])
    ),
    "one-stage-would-do": Case(chain(), chain(tools=[tool("x")])),
    "ping-pong": Case(handing_over(), handing_over(condition=calls("x"))),
}
