"""Reading files: ours, old ones, LLMRTC's and what is none."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.transfer import UnreadableJson, load
from builder.transfer.exporters import write
from builder.transfer.importers import importer_for
from builder.transfer.importers.llmrtc import SCHEMA_ID
from builder.transfer.loading import Loaded, load_value
from runtime.playbook.placeholders import resolve
from tests.builder.documents import Json, document, rule, stage, tool


def codes(loaded: Loaded, level: str | None = None) -> list[tuple[str, str]]:
    return [(e.code, e.path) for e in loaded.report if level in (None, e.level)]


def llmrtc() -> Json:
    return {
        "id": "shop",
        "name": "Shop",
        "initialStage": "hello",
        "stages": [
            {"id": "hello", "name": "Hello", "systemPrompt": "Hi.", "onEnter": "() => log()"},
            {"id": "bye", "name": "Bye", "systemPrompt": "Bye.", "llmConfig": {"temperature": 0.2}},
        ],
        "transitions": [
            {
                "id": "k",
                "from": "hello",
                "condition": {"type": "keyword", "keywords": ["order"]},
                "action": {"targetStage": "bye"},
            },
            {
                "id": "c",
                "from": "*",
                "condition": {"type": "custom", "evaluate": "ctx => ctx.done"},
                "action": {"targetStage": "bye"},
            },
        ],
    }


def test_our_own_file_comes_in_as_it_is() -> None:
    value = document()
    loaded = load(json.dumps({"$schema": "urn:playbook-studio:playbook:1", **value}).encode())
    assert (loaded.document, loaded.report) == (value, ())


def test_reading_leaves_the_value_alone() -> None:
    value = llmrtc()
    before = copy.deepcopy(value)
    load_value(value)
    assert value == before


def test_an_llmrtc_file_behaves_as_it_did_there() -> None:
    loaded = load_value(llmrtc())
    assert loaded.document is not None
    keyword, custom = loaded.document["transitions"]
    assert keyword["condition"]["match"] == "substring"
    assert (custom["disabled"], custom["condition"]["expression"]) == (True, "")
    assert custom["condition"]["evaluate"] == "ctx => ctx.done"
    assert loaded.document["stages"][0]["metadata"] == {"imported": {"onEnter": "() => log()"}}
    warnings = codes(loaded, "warning")
    assert ("custom-function", "/transitions/1/condition") in warnings
    assert ("hook-function", "/stages/0/onEnter") in warnings
    assert any("“c”" in entry.message for entry in loaded.report)


@pytest.mark.parametrize(
    "ours",
    [
        {"formatVersion": 1},
        {"variables": []},
        {"metadata": {"studio": {}}},
    ],
)
def test_keywords_of_our_own_files_stay_whole_words(ours: Json) -> None:
    loaded = load_value({**llmrtc(), **ours, "stages": [stage("hello"), stage("bye")]})
    assert loaded.document is not None
    assert "match" not in loaded.document["transitions"][0]["condition"]


def llmrtc_prompt(prompt: str) -> Json:
    return {**llmrtc(), "$schema": SCHEMA_ID, "stages": [stage("hello", systemPrompt=prompt), stage("bye")]}


@pytest.mark.parametrize(
    ("prompt", "here"),
    [
        ("Call me {{name}}.", "Call me {{{{name}}}}."),
        ("It is turn {turn.count}.", "It is turn {{turn.count}}."),
        ('Answer as {"days": 2}.', 'Answer as {"days": 2}.'),
        ("{% if %} and ${y} and {", "{% if %} and ${y} and {"),
    ],
)
def test_braces_of_an_llmrtc_prompt_reach_the_model_as_they_did_there(prompt: str, here: str) -> None:
    loaded = load_value(llmrtc_prompt(prompt))
    assert loaded.playbook is not None
    assert loaded.playbook.stages[0].system_prompt == here
    reported = ("literal-braces", "/stages/0/systemPrompt") in codes(loaded, "warning")
    assert reported == (prompt != here)


def test_descriptions_that_a_model_reads_keep_their_braces_too() -> None:
    theirs = {**llmrtc(), "$schema": SCHEMA_ID}
    theirs["stages"][1]["description"] = "Ends {{it}}."
    theirs["transitions"][0]["description"] = "After turn {turn.count}."
    loaded = load_value(theirs)
    assert loaded.document is not None
    assert loaded.document["stages"][1]["description"] == "Ends {{{{it}}}}."
    assert loaded.document["transitions"][0]["description"] == "After turn {{turn.count}}."
    back = json.loads(write(loaded.document, "llmrtc").data)
    assert back["stages"][1]["description"] == "Ends {{it}}."
    assert back["transitions"][0]["description"] == "After turn {turn.count}."


@given(
    st.text(st.sampled_from("{}$ax.1\"|'secret "), max_size=30)
    | st.sampled_from(["{secret.A}", "{{secret.A}}"])
)
def test_whatever_an_llmrtc_prompt_holds_is_sent_as_it_was(prompt: str) -> None:
    loaded = load_value(llmrtc_prompt(prompt))
    assert loaded.playbook is not None
    roots = {"vars": {"a": 1}, "turn": {"count": 2}}
    assert resolve(loaded.playbook.stages[0].system_prompt, roots).text == prompt


def test_an_expression_beside_a_function_is_the_rule() -> None:
    theirs = llmrtc()
    theirs["$schema"] = SCHEMA_ID
    theirs["transitions"][1]["condition"] = {
        "type": "custom",
        "evaluate": {"$ref": "c"},
        "expression": "turn.count > 2",
    }
    loaded = load_value(theirs)
    assert loaded.document is not None
    rule_of_c = loaded.document["transitions"][1]
    assert rule_of_c["condition"] == {"type": "custom", "expression": "turn.count > 2"}
    assert "disabled" not in rule_of_c


def test_the_report_says_whose_file_it_was_taken_for() -> None:
    assert codes(load_value(llmrtc()))[0] == ("foreign-product", "")
    plain = document([stage("greet"), stage("bye", kind="end")])
    del plain["formatVersion"]
    assert codes(load_value(plain)) == [("assumed-format", "")]


def test_a_prompt_with_a_variable_is_one_of_ours() -> None:
    assert importer_for({"stages": [stage("a", systemPrompt="Hello {$name}")]}) is None


def test_what_a_playbook_cannot_bring_along_is_listed_once() -> None:
    headers = {"Authorization": "Bearer {{secret.DESK}}", "X-Key": "{{secret.DESK}}"}
    value = document(
        globalTools=[
            tool("a", implementation={"type": "http", "url": "https://bikes.example", "headers": headers}),
            tool("b", implementation={"type": "mcp", "server": "north", "tool": "b"}),
            tool("c", implementation={"type": "python", "name": "count"}),
        ],
        agents=[{"name": "pay", "playbook": "payments"}],
    )
    loaded = load_value(value)
    assert codes(loaded) == [
        ("needs-secret", "/globalTools/0/implementation"),
        ("needs-server", "/globalTools/1/implementation"),
        ("needs-function", "/globalTools/2/implementation"),
        ("needs-playbook", "/agents/0/playbook"),
    ]
    assert "“DESK”" in loaded.report[0].message


def test_harmless_gaps_are_filled_and_listed() -> None:
    loaded = load_value({"formatVersion": 1, "stages": [{"id": "a"}, {"name": "Two words"}]})
    assert loaded.document is not None
    assert loaded.document["stages"] == [
        {"id": "a", "name": "a", "systemPrompt": ""},
        {"name": "Two words", "id": "two-words", "systemPrompt": ""},
    ]
    assert (loaded.document["id"], loaded.document["initialStage"]) == ("playbook", "a")
    assert {path for code, path in codes(loaded) if code == "filled-in"} == {
        "/id",
        "/name",
        "/initialStage",
        "/stages/0/name",
        "/stages/0/systemPrompt",
        "/stages/1/id",
        "/stages/1/systemPrompt",
    }


def test_transitions_without_an_id_get_one_that_is_free() -> None:
    rules = [rule("t2", "greet", "bye"), rule("x", "greet", "bye"), rule("x", "greet", "bye")]
    del rules[1]["id"], rules[2]["id"]
    loaded = load_value(document(rules=rules))
    assert loaded.document is not None
    ids = [entry["id"] for entry in loaded.document["transitions"]]
    assert len(set(ids)) == 3
    assert ids[0] == "t2"


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (99, "newer-format"),
        ("two", "bad-format-version"),
        (True, "bad-format-version"),
        (0, "unknown-format"),
    ],
)
def test_other_format_versions_are_refused_by_name(version: object, code: str) -> None:
    loaded = load_value(document(formatVersion=version))
    assert codes(loaded) == [(code, "/formatVersion")]
    assert loaded.document is None
    assert "1" in loaded.report[0].message


def test_a_file_of_a_newer_format_is_told_as_one_even_where_it_has_no_stages() -> None:
    loaded = load_value({"formatVersion": 99, "scenes": []})
    assert codes(loaded) == [("newer-format", "/formatVersion")]
    assert "format version 99" in loaded.report[0].message


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([document(), document()], "not-a-playbook"),
        ("text", "not-a-playbook"),
        ({}, "not-a-playbook"),
        ({"nodes": [], "edges": []}, "foreign-format"),
        ({"nodes": [], "connections": {}}, "foreign-format"),
    ],
)
def test_what_is_no_playbook_is_called_what_it_is(value: object, code: str) -> None:
    loaded = load_value(value)
    assert (loaded.document, [entry.code for entry in loaded.errors]) == (None, [code])


def test_unknown_fields_are_kept_and_reported() -> None:
    loaded = load_value(document(colour="teal"))
    assert loaded.document is not None
    assert loaded.document["colour"] == "teal"
    assert codes(loaded, "warning") == [("unknown-field", "/colour")]


def test_bytes_that_are_no_json_are_told_by_line_and_column() -> None:
    with pytest.raises(UnreadableJson, match="line 2, column 3"):
        load(b'{"a": 1,\n  b}')


def test_code_in_a_condition_is_text_and_never_runs() -> None:
    value = document(
        rules=[rule("t", "greet", "bye", condition={"type": "custom", "evaluate": "__import__('os')"})]
    )
    del value["formatVersion"]
    loaded = load_value(value)
    assert loaded.playbook is not None
    assert loaded.playbook.transitions[0].disabled
