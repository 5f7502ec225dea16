"""Whatever a document holds, as long as it has the format's shape: a check answers, and always the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from builder.validation import ServerFacts, apply_fix, check, check_document
from builder.validation.codes import CODES
from builder.validation.report import report_of
from runtime.playbook import Playbook

NAMES = [
    "a",
    "b",
    " b",
    "A",
    "*",
    "return",
    "agent:x",
    "gone",
    "__proto__",
    "d\u00e9j\u00e0",
    "\ud800",
    "0",
    "a/b~",
]
TEXTS = [
    "",
    " ",
    "hi",
    "go on",
    "{$a}",
    "{now}",
    "{",
    "{vars.b + 1}",
    "`a` {x",
    "call `b`",
    "{{secret.K}}",
    "\x00",
    "(" * 40,
]
SOURCES = [
    "",
    "true",
    "vars.a > 1",
    "vars['b'] == data.c",
    "has(vars.a)",
    "turn.count >",
    "1",
    "result.x",
    "'",
    "\ud800",
]
names, texts, sources = st.sampled_from(NAMES), st.sampled_from(TEXTS), st.sampled_from(SOURCES)
COUNTS = st.none() | st.integers(1, 3)

schemas = st.sampled_from(
    [{}, {"type": "object"}, {"type": "x"}, {"type": "object", "required": ["q", 3]}, {"$ref": "#"}]
)
implementations = (
    st.none()
    | st.fixed_dictionaries({"type": st.just("expression"), "expression": sources})
    | st.just(
        {"type": "http", "url": "{{secret.K}}", "headers": {"Authorization": "x", "a/b": "{{secret.K}}"}}
    )
    | st.fixed_dictionaries(
        {"type": st.just("mock"), "responses": st.lists(st.fixed_dictionaries({"when": sources}), max_size=2)}
    )
)
tools = st.lists(
    st.fixed_dictionaries(
        {"name": names, "implementation": implementations},
        optional={"parameters": schemas, "saveAs": names, "extra": st.just(1)},
    ),
    max_size=3,
)
conditions = st.one_of(
    st.fixed_dictionaries({"type": st.just("llm_decision")}),
    st.fixed_dictionaries(
        {
            "type": st.just("keyword"),
            "keywords": st.lists(texts, max_size=3),
            "match": st.sampled_from(["word", "substring", "regex"]),
            "source": st.sampled_from(["user", "assistant", "any"]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("tool_call"), "toolName": names, "where": st.none() | sources}),
    st.fixed_dictionaries(
        {"type": st.just("intent"), "intent": names, "examples": st.lists(texts, max_size=4)}
    ),
    st.fixed_dictionaries({"type": st.just("max_turns"), "count": st.integers(1, 3)}),
    st.fixed_dictionaries(
        {
            "type": st.just("timeout"),
            "durationMs": st.integers(1, 9),
            "since": st.sampled_from(["stage_entered", "last_activity"]),
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("custom"), "expression": sources, "when": st.sampled_from(["before", "after"])}
    ),
)
actions = st.lists(
    st.fixed_dictionaries({"set": st.dictionaries(names, sources, max_size=2)})
    | st.fixed_dictionaries({"call": names}),
    max_size=2,
)
stages = st.fixed_dictionaries(
    {"id": names, "name": texts, "systemPrompt": texts | st.text(max_size=30)},
    optional={
        "kind": st.sampled_from(["chat", "raw", "end"]),
        "maxTurns": COUNTS,
        "timeoutMs": COUNTS,
        "speakOnEnter": st.booleans(),
        "tools": tools,
        "toolChoice": st.sampled_from(["auto", "none"]) | st.fixed_dictionaries({"name": names}),
        "onEnter": actions,
        "onExit": actions,
        "maxTurn": st.just(3),
    },
)
transitions = st.fixed_dictionaries(
    {
        "id": names,
        "from": names,
        "condition": conditions,
        "action": st.fixed_dictionaries(
            {"targetStage": st.none() | names},
            optional={"mode": st.sampled_from(["goto", "call", "return"]), "transitionMessage": texts},
        ),
    },
    optional={"priority": st.integers(-1, 2), "disabled": st.booleans()},
)
documents = st.fixed_dictionaries(
    {
        "id": texts,
        "name": texts,
        "stages": st.lists(stages, min_size=1, max_size=6),
        "transitions": st.lists(transitions, max_size=10),
        "initialStage": names,
    },
    optional={
        "globalTools": tools,
        "globalSystemPrompt": texts,
        "variables": st.lists(
            st.fixed_dictionaries({"name": names}, optional={"schema": schemas}), max_size=3
        ),
        "agents": st.lists(st.fixed_dictionaries({"name": names, "playbook": names}), max_size=2),
        "context": st.just({"layout": "swap"}),
    },
)
SERVER = ServerFacts(secrets=frozenset())


def parsed(document: dict[str, Any]) -> Playbook | None:
    try:
        return Playbook.model_validate(document)
    except ValidationError:
        return None


@given(documents)
def test_a_check_answers_whatever_the_document_holds_and_always_the_same(document: dict[str, Any]) -> None:
    playbook = parsed(document)
    first = check_document(document, playbook, SERVER)
    assert first == check_document(json.loads(json.dumps(document)), server=SERVER)
    if playbook is not None:
        assert {(d.code, d.severity) for d in first} <= {
            (name, code.severity) for name, code in CODES.items()
        }
        assert report_of(playbook) == report_of(Playbook.model_validate(document))


@given(documents)
def test_every_repair_that_is_offered_gives_a_document_of_the_format(document: dict[str, Any]) -> None:
    playbook = parsed(document)
    if playbook is None:
        return
    kept = json.dumps(document)
    for diagnostic in check(playbook):
        if diagnostic.fix is not None:
            mended = apply_fix(document, diagnostic.fix)
            assert parsed(mended) is not None, diagnostic
    assert json.dumps(document) == kept


def test_half_of_a_surrogate_pair_that_the_format_lets_through_is_no_reason_to_fail() -> None:
    mock = {"type": "mock", "responses": [{"when": "\ud800", "result": "\ud800"}]}
    stages = [
        {"id": "a", "name": "A", "systemPrompt": "A.", "tools": [{"name": "x", "implementation": mock}]},
        {
            "id": "b",
            "name": "B",
            "systemPrompt": "B.",
            "tools": [{"name": "x", "implementation": {**mock, "note": 1}}],
        },
    ]
    document = {"id": "p", "name": "P", "stages": stages, "initialStage": "a"}
    codes = {diagnostic.code for diagnostic in check_document(document, server=SERVER)}
    assert {"tool-name-conflict", "bad-expression"} <= codes
