"""Tables of tools and targets: what the model is told and what the engine enforces is one thing."""

from __future__ import annotations

from typing import Any

from runtime.playbook import ContextPolicy
from runtime.playbook.engine_tools import (
    allowed_targets,
    outgoing,
    stage_tools,
    tool_conflicts,
    transition_tool,
    union_tools,
)
from tests.runtime.desk import BOOK, DECISION, STOCK, desk, playbook, rule, says, stage


def enum_of(tool: Any) -> list[str]:
    return list(tool.parameters["properties"]["targetStage"]["enum"])


def test_the_transition_tool_is_the_same_in_all_stages_of_the_append_layout() -> None:
    tool = transition_tool(desk(agents=[{"name": "Bob", "playbook": "bob"}]))
    assert enum_of(tool) == ["greet", "pick", "close", "agent:Bob", "return"]


def test_in_the_swap_layout_it_names_exactly_the_allowed_targets() -> None:
    assert enum_of(transition_tool(desk(), ["pick"])) == ["pick"]
    assert transition_tool(desk(), []) is None


def test_without_a_decision_rule_there_is_no_transition_tool() -> None:
    plain = playbook([stage("a"), stage("b")], [rule("t", "a", "b", says("x"))])
    assert transition_tool(plain) is None
    off = playbook([stage("a"), stage("b")], [rule("t", "a", "b", DECISION, disabled=True)])
    assert transition_tool(off) is None


def test_a_stage_offers_its_tools_and_the_transition_tool_only_where_it_leads_somewhere() -> None:
    book = desk()
    names = {item.id: [tool.name for tool in stage_tools(book, item)] for item in book.stages}
    assert names == {"greet": ["playbook_transition"], "pick": ["stock", "book"], "close": []}


def test_targets_carry_the_best_description_there_is() -> None:
    stages = [stage("a"), stage("b", description="the stage's"), stage("c"), stage("d")]
    rules = [
        rule("t1", "a", "b", DECISION),
        rule("t2", "a", "c", {**DECISION, "description": "the condition's"}, description="the rule's"),
        rule("t3", "a", "d", DECISION, description="the rule's"),
        rule("t4", "a", None, DECISION, mode="return"),
    ]
    book = playbook(stages, rules)
    assert allowed_targets(book, book.stages[0]) == (
        ("b", "the stage's"),
        ("c", "the condition's"),
        ("d", "the rule's"),
        ("return", ""),
    )


def test_the_order_of_precedence_is_priority_then_named_then_document_order() -> None:
    rules = [
        rule("any", "*", "b", DECISION),
        rule("low", "a", "b", DECISION, priority=-1),
        rule("own", "a", "c", DECISION),
        rule("high", "*", "c", DECISION, priority=2),
        rule("self", "*", "a", DECISION),
    ]
    book = playbook([stage("a"), stage("b"), stage("c")], rules)
    assert [item.id for item in outgoing(book, book.stages[0])] == ["high", "own", "any", "low"]


def test_the_union_of_tools_is_global_then_stages_then_the_engines() -> None:
    book = playbook(
        [stage("a", tools=[STOCK]), stage("b", tools=[STOCK, BOOK])],
        [rule("t", "a", "b", DECISION)],
        globalTools=[dict(STOCK, name="everywhere")],
    )
    own = ["everywhere", "stock", "book", "playbook_transition"]
    assert [tool.name for tool in union_tools(book)] == [*own, "SaveArtifact", "LoadArtifact"]
    assert tool_conflicts(book) == ()
    without = book.model_copy(update={"context": ContextPolicy(artifactTools=False)})
    assert [tool.name for tool in union_tools(without)] == own


def test_where_no_tool_could_make_an_artifact_the_tools_for_them_come_with_the_first_one() -> None:
    book = playbook([stage("a"), stage("b")], [rule("t", "a", "b", DECISION)])
    assert [tool.name for tool in union_tools(book)] == ["playbook_transition"]
    assert [tool.name for tool in union_tools(book, artifacts=True)][1:] == ["SaveArtifact", "LoadArtifact"]
    assert [tool.name for tool in stage_tools(book, book.stages[0])] == ["playbook_transition"]
    assert len(stage_tools(book, book.stages[0], artifacts=True)) == 3


def test_two_different_tools_of_one_name_are_a_conflict() -> None:
    book = playbook([stage("a", tools=[STOCK]), stage("b", tools=[dict(STOCK, description="other")])])
    assert tool_conflicts(book) == ("stock",)
