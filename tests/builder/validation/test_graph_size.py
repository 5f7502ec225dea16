"""Validation while editing must not be felt, whatever the graph looks like."""

from __future__ import annotations

from builder.validation import check
from runtime.playbook import Playbook
from tests.builder.documents import document, end, rule, stage


def test_a_large_tangled_graph_is_checked_without_listing_its_cycles() -> None:
    stages = [stage(f"s{i}") for i in range(400)] + [end()]
    rules = [rule(f"r{i}.{k}", f"s{i}", f"s{(i * 7 + k * 31) % 400}") for i in range(400) for k in range(3)]
    rules.append(rule("out", "s399", "bye"))
    diagnostics = check(Playbook.model_validate(document(stages, rules)))
    assert {d.code for d in diagnostics} <= {"unreachable-stage", "no-way-to-end"}
