"""Validation while editing must not be felt, whatever the graph looks like."""

from __future__ import annotations

import time

from builder.validation import check
from builder.validation.outline import Outline
from runtime.playbook import Playbook
from tests.builder.documents import document, end, rule, stage


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
