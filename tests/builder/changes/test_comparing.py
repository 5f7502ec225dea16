"""What differs between two states of a playbook, as its author would say it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builder.changes import Change, Comparison, compare
from builder.changes.parts import moved
from builder.changes.wording import as_text
from runtime.playbook import Playbook
from tests.builder.documents import Json, document, end, rule, stage, tool


def compared(before: Json, after: Json) -> Comparison:
    return compare(Playbook.model_validate(before), Playbook.model_validate(after))


def brief(changes: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    return [(change.kind, change.what, change.id) for change in changes]


def three() -> Json:
    stages = [stage("greet", tools=[tool("stock"), tool("book")]), stage("pick"), end()]
    rules = [rule("a", "greet", "pick"), rule("b", "pick", "bye"), rule("c", "*", "bye")]
    return document(stages, rules, metadata={"studio": {"layout": {"greet": {"x": 0, "y": 0}}}})


def changed(*edits: tuple[list[str | int], Any]) -> Json:
    """`three()` with other values at those paths."""
    value = three()
    for path, new in edits:
        holder: Any = value
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = new
    return value


def test_a_document_does_not_differ_from_itself() -> None:
    assert compared(three(), three()).same
    assert as_text(compared(three(), three())) == "No difference.\n"


def test_a_default_that_is_written_out_is_no_difference() -> None:
    after = changed((["transitions", 0, "priority"], 0), (["stages", 0, "kind"], "chat"))
    after |= {"globalTools": [], "description": None}
    assert compared(three(), after).same


def test_a_changed_stage_names_each_field_with_both_values() -> None:
    after = changed((["stages", 1, "systemPrompt"], "Choose."), (["stages", 1, "maxTurns"], 4))
    (change,) = compared(three(), after).changes
    assert (change.kind, change.what, change.id, change.title) == ("changed", "stage", "pick", "Stage Pick")
    assert [(f.path, f.before, f.after) for f in change.fields] == [
        ("/systemPrompt", "You are in pick.", "Choose."),
        ("/maxTurns", None, 4),
    ]


def test_a_prompt_of_several_lines_is_compared_line_by_line() -> None:
    before = changed((["stages", 0, "systemPrompt"], "One\nTwo\nThree"))
    after = changed((["stages", 0, "systemPrompt"], "One\n2\nThree"))
    found = compared(before, after)
    (field,) = found.changes[0].fields
    assert [(line.sign, line.text) for line in field.lines] == [
        (" ", "One"),
        ("-", "Two"),
        ("+", "2"),
        (" ", "Three"),
    ]
    assert "      - Two\n      + 2\n" in as_text(found)


def test_a_stage_that_is_added_brings_its_rules_and_a_removed_one_takes_them_along() -> None:
    after = three()
    after["stages"].append(stage("pay"))
    after["transitions"].append(rule("d", "pick", "pay"))
    assert brief(compared(three(), after).changes) == [
        ("added", "stage", "pay"),
        ("added", "transition", "d"),
    ]
    assert brief(compared(after, three()).changes) == [
        ("removed", "stage", "pay"),
        ("removed", "transition", "d"),
    ]


def test_another_name_is_a_renaming() -> None:
    (change,) = compared(three(), changed((["stages", 0, "name"], "Hello"))).changes
    assert (change.kind, change.was, [f.path for f in change.fields]) == ("renamed", None, ["/name"])


def test_another_id_is_a_renaming_that_its_rules_follow() -> None:
    text = copy.deepcopy(three())
    text["stages"][1] = {**stage("pick"), "id": "choose"}
    for one in text["transitions"]:
        one["from"] = "choose" if one["from"] == "pick" else one["from"]
        if one["action"]["targetStage"] == "pick":
            one["action"]["targetStage"] = "choose"
    (change,) = compared(three(), text).changes
    assert (change.kind, change.what, change.was, change.id) == ("renamed", "stage", "pick", "choose")
    assert "~ renamed: Stage Pick, id pick → choose" in as_text(compared(three(), text))


def test_a_rule_with_another_condition_shows_it_whole() -> None:
    timeout = {"type": "timeout", "durationMs": 20_000}
    (change,) = compared(three(), changed((["transitions", 0, "condition"], timeout))).changes
    assert change.title == "Greet → Pick: after 20 s in the stage"
    assert [field.path for field in change.fields] == ["/condition"]


def test_tools_are_told_apart_by_name_within_their_stage() -> None:
    after = three()
    after["stages"][0]["tools"] = [tool("stock", description="How many"), tool("pay")]
    found = [(c.kind, c.id, c.stage) for c in compared(three(), after).changes]
    assert found == [("changed", "stock", "greet"), ("added", "pay", "greet"), ("removed", "book", "greet")]


def test_a_renamed_variable_is_one_change() -> None:
    before = {**three(), "variables": [{"name": "a", "schema": {"type": "string"}, "default": "x"}]}
    after = {**three(), "variables": [{"name": "b", "schema": {"type": "string"}, "default": "x"}]}
    (change,) = compared(before, after).changes
    assert (change.kind, change.what, change.was, change.id) == ("renamed", "variable", "a", "b")


def test_another_order_names_the_fewest_that_moved() -> None:
    after = three()
    after["transitions"] = [after["transitions"][i] for i in (2, 0, 1)]
    (change,) = compared(three(), after).changes
    assert (change.kind, change.id, change.places) == ("moved", "c", (2, 0))
    assert "↕ moved: any stage → Bye: model decides, place 3 → 1" in as_text(compared(three(), after))


def test_where_cards_stand_is_told_apart() -> None:
    after = changed((["metadata", "studio"], {"layout": {"greet": {"x": 8, "y": 0}}, "notes": ["Ask Eve"]}))
    found = compared(three(), after)
    assert (found.changes, brief(found.layout)) == (
        (),
        [("moved", "card", "greet"), ("changed", "notes", "studio")],
    )


def test_settings_of_the_playbook_are_one_change() -> None:
    after = changed((["initialStage"], "pick"), (["options"], {"replyHold": None}), (["x-team"], "blue"))
    (change,) = compared(three(), after).changes
    assert (change.kind, change.what) == ("changed", "playbook")
    assert {field.path for field in change.fields} == {"/initialStage", "/options/replyHold", "/x-team"}


def test_two_stages_of_one_id_are_compared_as_they_stand() -> None:
    after = three()
    after["stages"].append(stage("greet", name="Again"))
    found = compared(three(), after)
    assert [change.what for change in found.changes] == ["stage"]


@given(st.permutations(list("abcdefg")), st.permutations(list("abcdefg")))
def test_moving_what_moved_explains_the_whole_order(before: list[str], after: list[str]) -> None:
    names = set(moved(before, after))
    assert [name for name in before if name not in names] == [name for name in after if name not in names]
    if before == after:
        assert not names
