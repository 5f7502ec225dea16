"""Each kind of finding: when it is reported, where, and when it is not."""

from __future__ import annotations

from typing import Any

import pytest

from builder.validation import Diagnostic, check, check_document
from runtime.playbook import Playbook
from tests.builder.documents import Json, document, end, rule, stage, tool


def found(value: Json) -> list[Diagnostic]:
    return check(Playbook.model_validate(value))


def places(value: Json, code: str) -> list[str]:
    return [diagnostic.path for diagnostic in found(value) if diagnostic.code == code]


def one(value: Json, code: str) -> Diagnostic:
    [diagnostic] = [diagnostic for diagnostic in found(value) if diagnostic.code == code]
    return diagnostic


def with_condition(**condition: Any) -> Json:
    return document(rules=[rule("t", "greet", "bye", condition=condition)])


def with_tool(definition: Json) -> Json:
    return document(stages=[stage("greet", tools=[definition]), end()])


def test_a_good_playbook_has_no_findings() -> None:
    assert found(document()) == []


def test_everything_wrong_is_said_at_once_in_document_order() -> None:
    loose = document(
        stages=[stage("a"), stage("a"), stage("A"), stage(" b"), stage("*")],
        rules=[
            rule("t", "a", "gone"),
            rule("t", "gone", "b", condition={"type": "tool_call", "toolName": "nope"}),
        ],
    )
    loose["initialStage"] = "start"
    errors = [(d.code, d.path) for d in found(loose) if d.severity == "error"]
    assert errors == [
        ("unknown-initial-stage", "/initialStage"),
        ("duplicate-id", "/stages/1/id"),
        ("blank-in-id", "/stages/3/id"),
        ("reserved-stage-id", "/stages/4/id"),
        ("unknown-stage", "/transitions/0/action/targetStage"),
        ("unknown-stage", "/transitions/1/action/targetStage"),
        ("unknown-stage", "/transitions/1/from"),
        ("duplicate-id", "/transitions/1/id"),
    ]
    assert places(loose, "similar-id") == ["/stages/2/id"]
    assert places(loose, "unknown-tool") == ["/transitions/1/condition/toolName"]
    assert "Did you mean “ b”?" in found(loose)[-4].message or any("“ b”" in d.message for d in found(loose))
    assert found(loose) == found(loose)


@pytest.mark.parametrize("name", ["return", "*", "agent:x"])
def test_ids_with_a_meaning_of_their_own_are_reserved(name: str) -> None:
    assert one(document(stages=[stage(name), end()], rules=[]), "reserved-stage-id").stage == name


def test_an_unknown_start_offers_the_first_stage() -> None:
    wrong = document(initialStage="gret")
    diagnostic = one(wrong, "unknown-initial-stage")
    assert "Did you mean “greet”?" in diagnostic.message
    assert diagnostic.fix is not None
    assert (diagnostic.fix.command, diagnostic.fix.args) == ("setInitialStage", {"id": "greet"})


def test_a_duplicate_points_to_the_other_one() -> None:
    twice = document(rules=[rule("t", "greet", "bye"), rule("t", "greet", "bye")])
    diagnostic = one(twice, "duplicate-id")
    assert (diagnostic.path, diagnostic.related) == ("/transitions/1/id", ("/transitions/0/id",))


def test_a_transition_without_a_target_is_an_error_unless_it_returns() -> None:
    nowhere = document(
        rules=[rule("t", "greet", None), rule("back", "greet", None, action={"mode": "return"})]
    )
    assert places(nowhere, "missing-target") == ["/transitions/0/action/targetStage"]


def test_an_agent_must_be_listed_and_called() -> None:
    called = {"targetStage": "agent:helper", "mode": "call"}
    rules = [rule("a", "greet", None, action=called), rule("b", "greet", "agent:helper")]
    agents = [{"name": "helper", "playbook": "help"}]
    assert places(document(rules=rules, agents=agents), "unknown-agent") == []
    assert places(document(rules=rules, agents=agents), "agent-not-called") == [
        "/transitions/1/action/targetStage"
    ]
    assert len(places(document(rules=rules), "unknown-agent")) == 2


def test_an_unreachable_stage_names_the_nearest_reachable_one() -> None:
    stages = [stage("greet"), stage("work"), end(), stage("attic")]
    rules = [rule("a", "greet", "work"), rule("b", "work", "bye"), rule("c", "attic", "work")]
    diagnostic = one(document(stages, rules), "unreachable-stage")
    assert (diagnostic.stage, diagnostic.path, diagnostic.related) == ("attic", "/stages/3", ("/stages/1",))
    assert "“Work”" in diagnostic.message
    assert diagnostic.fix is not None
    assert diagnostic.fix.args == {"from": "work", "target": "attic"}


def test_an_unreachable_stage_is_never_said_to_be_near_an_end() -> None:
    stages = [stage("greet"), end(), stage("attic")]
    rules = [rule("a", "greet", "bye"), rule("any", "*", "bye")]
    diagnostic = one(document(stages, rules), "unreachable-stage")
    assert diagnostic.fix is not None
    assert diagnostic.fix.args == {"from": "greet", "target": "attic"}


def test_connecting_an_unreachable_stage_makes_the_finding_go_away() -> None:
    stages = [stage("greet"), end(), stage("attic")]
    rules = [rule("a", "greet", "bye"), rule("out", "attic", "bye")]
    assert places(document(stages, rules), "unreachable-stage") == ["/stages/2"]
    assert places(document(stages, [*rules, rule("in", "greet", "attic")]), "unreachable-stage") == []


def test_a_rule_that_is_switched_off_leads_nowhere() -> None:
    assert places(document(rules=[rule("t", "greet", "bye", disabled=True)]), "unreachable-stage") == [
        "/stages/1"
    ]


def test_a_rule_from_any_stage_reaches_its_target_and_leads_out_of_every_other_stage() -> None:
    anywhere = document(stages=[stage("greet"), end("bye")], rules=[rule("t", "*", "bye")])
    assert found(anywhere) == []
    assert places(
        document(stages=[stage("greet"), stage("bye")], rules=[rule("t", "*", "bye")]), "dead-end"
    ) == ["/stages/1"]


def test_a_dead_end_offers_to_be_an_end() -> None:
    diagnostic = one(document(stages=[stage("greet")], rules=[]), "dead-end")
    assert diagnostic.fix is not None
    assert diagnostic.fix.args == {"id": "greet", "changes": {"kind": "end"}}


def test_a_loop_is_fine_as_long_as_a_path_leads_out() -> None:
    stages = [stage("calm"), stage("stern"), end()]
    loop = [rule("a", "calm", "stern"), rule("b", "stern", "calm")]
    assert places(document(stages, [*loop, rule("c", "stern", "bye")]), "no-way-to-end") == []
    diagnostic = one(document(stages, loop), "no-way-to-end")
    assert (diagnostic.path, diagnostic.related) == ("/stages/0", ("/stages/1",))


def test_a_called_stage_ends_its_visit_by_returning() -> None:
    stages = [stage("desk"), stage("lookup"), end()]
    call = rule("in", "desk", None, action={"targetStage": "lookup", "mode": "call"})
    back = rule("out", "lookup", None, action={"mode": "return"})
    assert found(document(stages, [call, back, rule("done", "desk", "bye")])) == []


def test_a_turn_limit_needs_a_rule_for_it() -> None:
    limited = document(stages=[stage("greet", maxTurns=3), end()])
    assert "to “Bye”" in one(limited, "max-turns-without-way-out").message
    limited["transitions"][0]["condition"] = {"type": "max_turns", "count": 3}
    assert places(limited, "max-turns-without-way-out") == []


def test_a_prompt_of_blanks_is_empty() -> None:
    assert one(document(stages=[stage("greet", systemPrompt=" \n"), end()]), "empty-prompt").stage == "greet"


@pytest.mark.parametrize("name", ["playbook_transition", "SaveArtifact", "LoadArtifact"])
def test_the_engine_s_tool_names_are_reserved(name: str) -> None:
    assert places(with_tool(tool(name)), "reserved-tool-name") == ["/stages/0/tools/0/name"]
    waiting = with_condition(type="tool_call", toolName=name)
    assert places(waiting, "unknown-tool") == ["/transitions/0/condition/toolName"]


def test_equal_tools_are_one_and_different_ones_are_a_conflict() -> None:
    def playbook(second: Json) -> Json:
        return document(stages=[stage("greet", tools=[tool("stock")]), end(tools=[second])])

    reordered = dict(reversed(tool("stock").items()))
    assert places(playbook(reordered), "tool-name-conflict") == []
    diagnostic = one(playbook(tool("stock", description="Another")), "tool-name-conflict")
    assert (diagnostic.path, diagnostic.related) == ("/stages/1/tools/0/name", ("/stages/0/tools/0/name",))


def test_two_tools_of_one_stage_may_not_share_a_name() -> None:
    twice = document(stages=[stage("greet", tools=[tool("stock"), tool("stock")]), end()])
    assert places(twice, "duplicate-id") == ["/stages/0/tools/1/name"]


def test_a_tool_that_nothing_answers_is_reported() -> None:
    assert places(with_tool({"name": "stock"}), "tool-not-implemented") == ["/stages/0/tools/0"]
    assert places(with_tool({"name": "stock", "implementation": {"type": "mock"}}), "tool-not-implemented")
    assert places(with_tool(tool("stock")), "tool-not-implemented") == []


def test_a_rule_may_wait_only_for_a_tool_of_its_own_stage() -> None:
    stages = [stage("greet"), end(tools=[tool("book")])]
    waits = rule("t", "greet", "bye", condition={"type": "tool_call", "toolName": "book"})
    assert places(document(stages, [waits]), "unknown-tool") == ["/transitions/0/condition/toolName"]
    assert places(document(stages, [waits], globalTools=[tool("book")]), "unknown-tool") == []
    anywhere = {**waits, "from": "*"}
    assert places(document([stage("greet", tools=[tool("book")]), end()], [anywhere]), "unknown-tool") == []


def test_actions_and_tool_choices_name_tools_of_their_stage() -> None:
    acting = stage("greet", onEnter=[{"call": "stok"}], toolChoice={"name": "nope"}, tools=[tool("stock")])
    paths = places(document(stages=[acting, end()]), "unknown-tool")
    assert paths == ["/stages/0/onEnter/0/call", "/stages/0/toolChoice/name"]


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"oneOf": [{"type": "object"}, {"type": "string"}]}, ""),
        ({"type": "string"}, ""),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}}, ""),
        ({"type": "objekt"}, "/type"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
            "/properties/a/pattern",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}, ""),
    ],
)
def test_parameters_must_be_a_schema_that_models_take(schema: Json, path: str) -> None:
    assert places(with_tool(tool("stock", parameters=schema)), "bad-schema") == [
        f"/stages/0/tools/0/parameters{path}"
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["b"], "properties": {}},
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a b": {"type": "string"}}},
    ],
)
def test_loose_parameters_are_a_warning(schema: Json) -> None:
    assert one(with_tool(tool("stock", parameters=schema)), "loose-schema").severity == "warning"


def test_an_empty_schema_is_a_tool_without_arguments() -> None:
    assert found(with_tool(tool("stock", parameters={}))) == []


def test_a_variable_s_schema_is_checked() -> None:
    wrong = document(variables=[{"name": "n", "schema": {"type": "nummer"}}])
    assert places(wrong, "bad-schema") == ["/variables/0/schema/type"]


@pytest.mark.parametrize("pattern", ["(", "(?!a)b", r"(a)\1"])
def test_patterns_are_those_of_re2(pattern: str) -> None:
    wrong = with_condition(type="keyword", keywords=["ok", pattern], match="regex")
    assert places(wrong, "bad-regex") == ["/transitions/0/condition/keywords/1"]
    assert places(with_condition(type="keyword", keywords=[pattern]), "bad-regex") == []


def test_a_pattern_that_would_be_slow_elsewhere_is_fine() -> None:
    assert found(with_condition(type="keyword", keywords=["(a+)+$"], match="regex")) == []


def test_keywords_that_never_occur_are_reported() -> None:
    assert places(with_condition(type="keyword"), "keyword-empty") == ["/transitions/0/condition/keywords"]
    assert places(with_condition(type="keyword", keywords=["hi", " "]), "keyword-empty") == [
        "/transitions/0/condition/keywords/1"
    ]


INTENT: Json = {
    "type": "intent",
    "intent": "refund",
    "description": "The customer wants their money back.",
    "examples": ["money back", "refund me", "pay it back"],
}


def test_an_intent_with_a_description_and_three_examples_is_fine() -> None:
    assert found(with_condition(**INTENT)) == []


@pytest.mark.parametrize(
    ("examples", "words"),
    [([], "no examples"), (["a", " ", "A "], "only 1 example:"), (["a", "b"], "only 2")],
)
def test_an_intent_with_fewer_examples_is_warned_about(examples: list[str], words: str) -> None:
    diagnostic = one(with_condition(**INTENT | {"examples": examples}), "few-examples")
    assert (diagnostic.severity, diagnostic.path) == ("warning", "/transitions/0/condition/examples")
    assert words in diagnostic.message


@pytest.mark.parametrize("description", [None, " "])
def test_an_intent_without_a_description_is_warned_about(description: str | None) -> None:
    assert places(with_condition(**INTENT | {"description": description}), "no-intent-description") == [
        "/transitions/0/condition/description"
    ]


def test_a_rule_that_names_no_intent_is_an_error() -> None:
    diagnostic = one(with_condition(**INTENT | {"intent": " "}), "unnamed-intent")
    assert (diagnostic.severity, diagnostic.path) == ("error", "/transitions/0/condition/intent")


def test_an_example_of_two_intents_of_a_stage_speaks_for_neither() -> None:
    other = INTENT | {"intent": "cancel", "examples": ["stop it", "call it off", "Refund me"]}
    rules = [rule("a", "greet", "bye", condition=INTENT), rule("b", "greet", "bye", condition=other)]
    assert places(document(rules=rules), "shared-example") == [
        "/transitions/0/condition/examples",
        "/transitions/1/condition/examples",
    ]
    same = [rules[0], rule("b", "greet", "bye", condition=other | {"intent": "refund"})]
    assert places(document(rules=same), "shared-example") == []


def test_expressions_are_compiled_wherever_they_stand() -> None:
    broken = "vars.total >"
    mock = {"type": "mock", "responses": [{"when": broken, "result": 1}]}
    acting = stage(
        "greet",
        tools=[
            tool("a", implementation=mock),
            tool("b", implementation={"type": "expression", "expression": broken}),
        ],
        onEnter=[{"set": {"total": broken}}],
    )
    rules = [
        rule("t", "greet", "bye", condition={"type": "custom", "expression": broken}),
        rule("u", "greet", "bye", condition={"type": "tool_call", "toolName": "a", "where": broken}),
    ]
    assert places(document([acting, end()], rules), "bad-expression") == [
        "/stages/0/onEnter/0/set/total",
        "/stages/0/tools/0/implementation/responses/0/when",
        "/stages/0/tools/1/implementation/expression",
        "/transitions/0/condition/expression",
        "/transitions/1/condition/where",
    ]


def test_a_bad_expression_says_where_it_breaks() -> None:
    message = one(with_condition(type="custom", expression="vars.total > > 3"), "bad-expression").message
    assert "line 1, column" in message


def test_expressions_know_the_names_of_their_place_only() -> None:
    where = "arguments.kind == 'red' && result.free > 0"
    stages = [stage("greet", tools=[tool("stock")]), end()]
    asked = rule("t", "greet", "bye", condition={"type": "tool_call", "toolName": "stock", "where": where})
    assert found(document(stages, [asked])) == []
    assert places(with_condition(type="custom", expression=where), "bad-expression")
    assert places(with_condition(type="custom", expression="__import__('os')"), "bad-expression")


def test_a_condition_must_be_true_or_false() -> None:
    assert places(with_condition(type="custom", expression="1 + 1"), "bad-expression")


def test_an_imported_rule_without_its_function_is_a_warning_while_it_is_off() -> None:
    off = document(rules=[rule("t", "greet", "bye", condition={"type": "custom"}, disabled=True)])
    assert one(off, "disabled-custom").severity == "warning"
    assert places(off, "bad-expression") == []
    assert places(with_condition(type="custom"), "bad-expression") == ["/transitions/0/condition/expression"]


def test_braces_in_prompts_are_only_warned_about() -> None:
    prompt = 'Reply as {"kind": 2}. {x} {$rider} {{ "a": 1 }} {vars.a} {{unclosed.'
    value = document(stages=[stage("greet", systemPrompt=prompt), end()])
    codes = sorted(d.code for d in found(value) if d.path == "/stages/0/systemPrompt")
    assert "unknown-variable" in codes
    assert set(codes) <= {"unknown-variable", "bad-placeholder"}
    value["variables"] = [{"name": "rider"}, {"name": "x"}, {"name": "a"}]
    assert places(value, "unknown-variable") == []


def test_braces_in_a_description_that_the_model_reads_are_warned_about_as_well() -> None:
    value = with_condition(type="llm_decision", description="Asks {for it} from {$nobody}")
    assert places(value, "bad-placeholder") == ["/transitions/0/condition/description"]
    assert places(value, "unknown-variable") == ["/transitions/0/condition/description"]


def test_a_variable_that_a_tool_or_an_action_sets_is_known() -> None:
    filled = stage("greet", systemPrompt="{$order} {$total}", tools=[tool("find", saveAs="order")])
    filled["onEnter"] = [{"set": {"total": "1 + 1"}}]
    assert found(document(stages=[filled, end()])) == []


def test_a_secret_in_a_header_is_reported_and_a_reference_is_not() -> None:
    def playbook(value: str) -> Json:
        http = {"type": "http", "url": "https://shop.example", "headers": {"Authorization": value}}
        return with_tool(tool("stock", implementation=http))

    paths = places(playbook("Bearer demo-not-real"), "secret-in-document")
    assert paths == ["/stages/0/tools/0/implementation/headers/Authorization"]
    assert places(playbook("Bearer {{secret.SHOP}}"), "secret-in-document") == []


def test_unknown_fields_are_found_everywhere_with_the_field_that_was_meant() -> None:
    value = {"$schema": "x", **document(colour=1)}
    value["stages"][0]["systemPromt"] = "x"
    value["transitions"][0]["condition"]["weight"] = 1
    value["transitions"][0]["action"]["mood"] = 1
    assert places(value, "unknown-field") == [
        "/stages/0/systemPromt",
        "/transitions/0/action/mood",
        "/transitions/0/condition/weight",
        "/colour",
    ]
    typo = next(d for d in found(value) if d.path == "/stages/0/systemPromt")
    assert "Did you mean “systemPrompt”?" in typo.message
    assert typo.stage == "greet"


def test_a_document_without_the_format_s_shape_gets_its_faults_of_shape() -> None:
    diagnostics = check_document({"id": "x", "name": "X", "stages": [], "initialStage": "a"})
    assert [(d.code, d.path) for d in diagnostics] == [("too-short", "/stages")]
