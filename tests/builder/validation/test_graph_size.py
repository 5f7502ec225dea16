"""Validation while editing must not be felt, whatever the graph looks like."""

from __future__ import annotations

import time

import pytest

from builder.validation import check, check_document
from builder.validation.outline import Outline
from runtime.playbook import Playbook
from tests.builder.documents import Json, document, end, rule, stage


def test_a_large_tangled_graph_is_checked_without_listing_its_cycles() -> None:
    stages = [stage(f"s{i}") for i in range(400)] + [end()]
    rules = [rule(f"r{i}.{k}", f"s{i}", f"s{(i * 7 + k * 31) % 400}") for i in range(400) for k in range(3)]
    rules.append(rule("out", "s399", "bye"))
    diagnostics = check(Playbook.model_validate(document(stages, rules)))
    assert {d.code for d in diagnostics} <= {"unreachable-stage", "no-way-to-end"}


def test_rules_from_any_stage_cost_no_more_than_there_are_stages_and_rules() -> None:
    stages = [stage(f"s{i}") for i in range(1500)] + [end(f"e{i}") for i in range(500)]
    rules = [rule(f"r{i}", "*", f"s{i}") for i in range(1500)]
    outline = Outline.of(Playbook.model_validate(document(stages, rules)))
    assert outline.graph.number_of_edges() < 4 * (len(stages) + len(rules))
    began = time.process_time()
    diagnostics = check(outline.playbook)
    assert time.process_time() - began < 10
    assert {d.code for d in diagnostics} == {"unreachable-stage", "no-way-to-end"}


def prompting(prompt: str) -> Json:
    return document([stage("a", systemPrompt=prompt), end()], [rule("r", "a", "bye")])


@pytest.mark.parametrize("placeholder", ["{b c}", "{now}", "{now|message}", "{$v}", "{"])
def test_findings_on_a_prompt_are_no_longer_than_a_few_of_it(placeholder: str) -> None:
    draft = prompting(placeholder * 3000)
    said = sum(len(one.model_dump_json()) for one in check_document(draft))
    assert said < 15 * len(draft["stages"][0]["systemPrompt"]) + 50_000


def test_a_prompt_full_of_braces_is_not_repeated_for_each_of_them() -> None:
    draft = prompting("{a b}" * 3000 + "{b c}" * 3000)
    found = check_document(draft)
    braces = [one for one in found if one.code == "bad-placeholder"]
    assert any("5,900 more" in one.message for one in braces)
    assert sum(one.fix is not None for one in braces) == 5


def test_a_prompt_full_of_variables_that_nobody_sets_is_told_of_the_first() -> None:
    found = check_document(prompting(" ".join(f"{{$v{n}}}" for n in range(2000))))
    unknown = [one for one in found if one.code == "unknown-variable"]
    assert len(unknown) == 101
    assert any("1,900 more" in one.message for one in unknown)
