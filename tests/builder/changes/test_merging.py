"""Two people's edits of one playbook: what does not conflict is merged, what does is theirs to decide."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.changes import compare, merge, merging
from builder.changes.merging import Side
from builder.changes.ordering import merged_order
from builder.changes.parts import by_key
from runtime.playbook import Playbook
from tests.builder.changes.test_comparing import changed, three
from tests.builder.documents import Json, document, rule, stage, tool


def test_edits_of_different_fields_are_both_taken() -> None:
    mine = changed((["stages", 0, "systemPrompt"], "Hello."))
    theirs = changed((["stages", 0, "name"], "Welcome"), (["name"], "Shop"))
    merged = merge(three(), mine, theirs)
    assert merged.conflicts == ()
    assert merged.document["name"] == "Shop"
    assert (merged.document["stages"][0]["systemPrompt"], merged.document["stages"][0]["name"]) == (
        "Hello.",
        "Welcome",
    )


def test_a_field_that_both_changed_is_a_conflict_with_all_three_values() -> None:
    mine = changed((["stages", 0, "systemPrompt"], "Mine."))
    theirs = changed((["stages", 0, "systemPrompt"], "Theirs."), (["name"], "Shop"))
    merged = merge(three(), mine, theirs)
    (conflict,) = merged.open
    assert (conflict.key, conflict.title, conflict.field) == (
        "/stages/greet/systemPrompt",
        "Stage Greet",
        "/systemPrompt",
    )
    assert (conflict.base.value, conflict.mine.value, conflict.theirs.value) == (
        "You are in greet.",
        "Mine.",
        "Theirs.",
    )
    assert merged.document["stages"][0]["systemPrompt"] == "Mine."
    assert merged.document["name"] == "Shop"


@pytest.mark.parametrize(("side", "prompt"), [("mine", "Mine."), ("theirs", "Theirs.")])
def test_a_choice_settles_a_conflict(side: Side, prompt: str) -> None:
    mine = changed((["stages", 0, "systemPrompt"], "Mine."))
    theirs = changed((["stages", 0, "systemPrompt"], "Theirs."))
    merged = merge(three(), mine, theirs, {"/stages/greet/systemPrompt": side})
    assert merged.open == ()
    assert [conflict.choice for conflict in merged.conflicts] == [side]
    assert merged.document["stages"][0]["systemPrompt"] == prompt


def test_the_same_edit_of_both_is_no_conflict() -> None:
    both = changed((["stages", 0, "systemPrompt"], "Hello."))
    assert merge(three(), both, copy.deepcopy(both)).conflicts == ()


def test_new_stages_of_both_stand_behind_their_neighbours() -> None:
    mine, theirs = three(), three()
    mine["stages"].insert(1, stage("mine"))
    theirs["stages"].append(stage("theirs"))
    merged = merge(three(), mine, theirs)
    assert [one["id"] for one in merged.document["stages"]] == ["greet", "mine", "pick", "bye", "theirs"]
    assert merged.conflicts == ()


def test_a_stage_that_one_removed_and_the_other_changed_is_a_conflict() -> None:
    mine = changed((["stages", 1, "systemPrompt"], "Choose."))
    theirs = three()
    del theirs["stages"][1]
    theirs["transitions"] = theirs["transitions"][2:]
    merged = merge(three(), mine, theirs)
    (conflict,) = merged.open
    assert (conflict.key, conflict.mine.there, conflict.theirs.there) == ("/stages/pick", True, False)
    gone = merge(three(), mine, theirs, {"/stages/pick": "theirs"}).document
    assert [one["id"] for one in gone["stages"]] == ["greet", "bye"]


def test_a_stage_that_one_removed_and_the_other_leads_to_is_a_conflict() -> None:
    mine, theirs = three(), three()
    mine["transitions"].append(rule("new", "bye", "pick"))
    del theirs["stages"][1]
    theirs["transitions"] = theirs["transitions"][2:]
    assert [conflict.key for conflict in merge(three(), mine, theirs).open] == ["/stages/pick"]
    assert [conflict.key for conflict in merge(three(), theirs, mine).open] == ["/stages/pick"]


def test_a_stage_that_one_removed_and_the_other_starts_in_is_a_conflict() -> None:
    mine = changed((["initialStage"], "pick"))
    theirs = three()
    theirs["stages"] = [each for each in theirs["stages"] if each["id"] != "pick"]
    theirs["transitions"] = []
    merged = merge(three(), mine, theirs)
    assert [conflict.key for conflict in merged.open] == ["/stages/pick"]
    assert merged.document["initialStage"] == "pick"
    assert "pick" in [each["id"] for each in merged.document["stages"]]


def test_a_list_in_the_metadata_is_one_value_whatever_its_name() -> None:
    base, mine, theirs = three(), three(), three()
    base["metadata"] = {"stages": [{"id": "a"}]}
    mine["metadata"] = {"stages": [{"id": "a"}, {"id": "b"}]}
    theirs["metadata"] = {"stages": [{"id": "a"}, {"id": "c"}]}
    merged = merge(base, mine, theirs)
    assert [conflict.key for conflict in merged.open] == ["/metadata/stages"]
    assert merged.document["metadata"] == mine["metadata"]


def test_a_stage_that_only_one_removed_is_gone() -> None:
    theirs = three()
    del theirs["stages"][1]
    theirs["transitions"] = theirs["transitions"][2:]
    merged = merge(three(), changed((["name"], "Mine")), theirs)
    assert (merged.conflicts, [one["id"] for one in merged.document["stages"]]) == ((), ["greet", "bye"])


def test_two_stages_that_were_given_one_id_are_not_mixed() -> None:
    mine, theirs = three(), three()
    mine["stages"].append(stage("new", systemPrompt="Mine."))
    theirs["stages"].append(stage("new", maxTurns=3))
    (conflict,) = merge(three(), mine, theirs).open
    assert (conflict.key, conflict.base.there) == ("/stages/new", False)


def test_conditions_of_different_kinds_are_not_mixed() -> None:
    mine = changed((["transitions", 0, "condition"], {"type": "max_turns", "count": 2}))
    theirs = changed((["transitions", 0, "condition"], {"type": "timeout", "durationMs": 5}))
    assert [c.key for c in merge(three(), mine, theirs).open] == ["/transitions/a/condition"]


def test_tools_are_merged_by_their_names() -> None:
    mine, theirs = three(), three()
    mine["stages"][0]["tools"][0]["description"] = "How many"
    theirs["stages"][0]["tools"].append(tool("pay"))
    merged = merge(three(), mine, theirs)
    names = [one["name"] for one in merged.document["stages"][0]["tools"]]
    assert (merged.conflicts, names) == ((), ["stock", "book", "pay"])


def test_another_order_of_one_is_taken_and_two_other_orders_are_a_conflict() -> None:
    mine, theirs = three(), three()
    theirs["transitions"].reverse()
    order = [one["id"] for one in merge(three(), mine, theirs).document["transitions"]]
    assert order == ["c", "b", "a"]
    mine["transitions"] = [mine["transitions"][i] for i in (1, 0, 2)]
    (conflict,) = merge(three(), mine, theirs).open
    assert (conflict.title, conflict.mine.value) == ("Order of the transitions", ["b", "a", "c"])
    settled = merge(three(), mine, theirs, {conflict.key: "theirs"}).document
    assert [one["id"] for one in settled["transitions"]] == ["c", "b", "a"]


def test_cards_are_merged_one_by_one_and_those_that_both_moved_are_one_conflict() -> None:
    def placed(**x: int) -> Json:
        return changed(
            (["metadata", "studio", "layout"], {name: {"x": at, "y": 0} for name, at in x.items()})
        )

    base = placed(greet=0, pick=0, bye=0)
    merged = merge(base, placed(greet=1, pick=0, bye=0), placed(greet=0, pick=2, bye=0))
    assert merged.conflicts == ()
    assert merged.document["metadata"] == placed(greet=1, pick=2, bye=0)["metadata"]
    (conflict,) = merge(base, placed(greet=1, pick=1, bye=0), placed(greet=2, pick=2, bye=9)).open
    assert (conflict.title, set(conflict.mine.value)) == ("Places of cards", {"greet", "pick"})


def test_without_the_common_document_everything_that_differs_is_a_conflict() -> None:
    mine = changed((["name"], "Mine"))
    theirs = three()
    theirs["stages"].append(stage("theirs"))
    merged = merge(None, mine, theirs)
    assert [(c.key, c.base.there) for c in merged.open] == [("/name", False), ("/stages/theirs", False)]
    taken = merge(None, mine, theirs, {"/name": "theirs", "/stages/theirs": "theirs"}).document
    assert taken == theirs


def test_two_who_removed_each_other_s_stages_leave_no_empty_playbook() -> None:
    base = {**three(), "stages": [stage("greet"), stage("pick")], "transitions": []}
    mine = {**base, "stages": [stage("greet")]}
    theirs = {**base, "stages": [stage("pick")]}
    merged = merge(base, mine, theirs)
    assert [conflict.key for conflict in merged.open] == ["/stages"]
    assert merged.document["stages"] == mine["stages"]


def test_true_is_not_one() -> None:
    base = changed((["x-flag"], 1))
    merged = merge(base, changed((["x-flag"], True)), changed((["x-flag"], 1)))
    assert merged.document["x-flag"] is True


# -- what holds for all edits ------------------------------------------------------------------------------

_TEXT = st.sampled_from(["", "One.", "Two.", "Three."])


@st.composite
def edited(draw: st.DrawFn) -> Json:
    """`three()` after some edits: fields, stages, rules and tools that come, go and change places."""
    value: Any = three()
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["prompt", "name", "add", "remove", "rule", "order", "move", "extra"]))
        stages, rules = value["stages"], value["transitions"]
        at = draw(st.integers(0, len(stages) - 1))
        if kind == "prompt":
            stages[at]["systemPrompt"] = draw(_TEXT)
        elif kind == "name":
            value["name"] = draw(_TEXT)
        elif kind == "add":
            name = draw(st.sampled_from(["new", "newer"]))
            if all(one["id"] != name for one in stages):
                stages.insert(at, stage(name, systemPrompt=draw(_TEXT)))
        elif kind == "remove" and len(stages) > 1:
            gone = stages.pop(at)["id"]
            value["transitions"] = [r for r in rules if gone not in (r["from"], r["action"]["targetStage"])]
        elif kind == "rule":
            value["transitions"] = [r for r in rules if r["id"] != "x"]
            value["transitions"].append(rule("x", stages[at]["id"], stages[0]["id"], description=draw(_TEXT)))
        elif kind == "order":
            value["transitions"] = draw(st.permutations(rules))
        elif kind == "move":
            value["metadata"]["studio"]["layout"][stages[at]["id"]] = {"x": draw(st.integers(0, 2)), "y": 0}
        else:
            value["x-extra"] = draw(_TEXT)
    return dict(value)


@given(edited(), edited())
def test_a_merge_with_who_changed_nothing_is_the_other_s_document(base: Json, mine: Json) -> None:
    assert (merge(base, mine, base).document, merge(base, mine, base).conflicts) == (mine, ())
    theirs = merge(base, base, mine)
    assert theirs.conflicts == ()
    assert by_fields(theirs.document) == by_fields(mine)


@given(edited(), edited(), edited())
def test_choosing_one_side_everywhere_loses_nothing_of_it(base: Json, mine: Json, theirs: Json) -> None:
    """What the chosen side changed is in the document, whatever the other one did."""
    asked = merge(base, mine, theirs)
    for side, chosen in (("mine", mine), ("theirs", theirs)):
        settled = merge(base, mine, theirs, {c.key: side for c in asked.conflicts})  # type: ignore[misc]
        assert settled.open == ()
        merged_stages = {one["id"]: one for one in settled.document["stages"]}
        before = {one["id"]: one for one in base["stages"]}
        for one in chosen["stages"]:
            if one != before.get(one["id"]):
                assert merged_stages[one["id"]]["systemPrompt"] in (
                    one["systemPrompt"],
                    *(other["systemPrompt"] for other in theirs["stages"] + mine["stages"]),
                )
                if before.get(one["id"], {}).get("systemPrompt") != one["systemPrompt"]:
                    assert merged_stages[one["id"]]["systemPrompt"] == one["systemPrompt"]


@given(edited(), edited(), edited())
def test_a_merge_does_not_depend_on_who_is_called_mine(base: Json, mine: Json, theirs: Json) -> None:
    one, other = merge(base, mine, theirs), merge(base, theirs, mine)
    assert {conflict.key for conflict in one.conflicts} == {conflict.key for conflict in other.conflicts}
    if not one.conflicts:
        Playbook.model_validate(one.document)
        assert unordered(one.document) == unordered(other.document)


@given(edited(), edited())
def test_a_comparison_is_empty_exactly_for_equal_documents(before: Json, after: Json) -> None:
    found = compare(Playbook.model_validate(before), Playbook.model_validate(after))
    assert found.same == (by_fields(before) == by_fields(after))


@given(st.permutations(list("abcd")), st.permutations(list("abcd")), st.sets(st.sampled_from("abcd")))
def test_an_order_has_every_name_once(mine: list[str], theirs: list[str], gone: set[str]) -> None:
    kept = [name for name in theirs if name not in gone] + ["new"]
    order = merged_order(list("abcd"), mine, kept) or merged_order(None, mine, kept, prefer=mine)
    assert order is not None
    assert sorted(order) == ["a", "b", "c", "d", "new"]


def by_fields(value: Json) -> Json:
    return {name: value[name] for name in sorted(value)}


def unordered(value: Json) -> Any:
    lists = ("stages", "transitions")
    return {
        name: {one["id"]: one for one in inner} if name in lists else inner for name, inner in value.items()
    }


@pytest.mark.parametrize("known", [True, False], ids=["base", "no base"])
def test_two_large_playbooks_that_share_nothing_are_merged_without_looking_at_all_pairs(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def counting(entries: Any, field: str) -> Any:
        nonlocal looked
        looked += len(entries or ())
        return by_key(entries, field)

    monkeypatch.setattr(merging, "by_key", counting)
    mine = large("a", 1500)
    merged = merge(mine if known else None, mine, large("b", 1500))
    kept = {entry["id"] for entry in merged.document["stages"]}
    asked = {conflict.key.rpartition("/")[2] for conflict in merged.conflicts}
    assert {"b0", "b1499"} <= kept | asked
    assert looked < 100 * 1500


def large(prefix: str, count: int) -> Json:
    stages = [stage(f"{prefix}{n}") for n in range(count)]
    rules = [rule(f"{prefix}r{n}", f"{prefix}{n}", f"{prefix}{n + 1}") for n in range(count - 1)]
    return document(stages, rules)
