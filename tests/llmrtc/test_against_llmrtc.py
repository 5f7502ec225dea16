"""Our engine beside LLMRTC's own, on the same playbooks and scripts: every difference is a documented one."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.llmrtc import agreeing, differing, installed, ours, with_functions
from tests.llmrtc.case import Case, Json, compared
from tests.llmrtc.generated import Planned, generated

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llmrtc")]

DOCUMENT = Path(__file__).parents[2] / "docs" / "llmrtc-differences.md"
AGREEING = [*agreeing.AGREEING, *with_functions.AGREEING]
DIFFERING = [*differing.DIFFERING, *with_functions.DIFFERING]
GENERATED = generated(60)
CASES = [*AGREEING, *DIFFERING, *(planned.case for planned in GENERATED)]


Results = dict[str, list[Json]]


@pytest.fixture(scope="module")
def theirs() -> Results:
    """What LLMRTC did, by the case's name. All cases are one run of Node."""
    try:
        peer = installed.ensure()
    except installed.Unavailable as reason:
        pytest.skip(f"no comparison with LLMRTC: {reason}")
    results = peer.play([case.as_json() for case in CASES])
    return {case.name: turns for case, turns in zip(CASES, results, strict=True)}


@pytest.mark.parametrize("case", AGREEING, ids=lambda case: case.name)
def test_both_engines_do_the_same(case: Case, theirs: Results) -> None:
    assert compared(case, theirs[case.name], ours.play(case)) == {}


@pytest.mark.parametrize("case", DIFFERING, ids=lambda case: f"{case.difference}")
def test_an_intended_difference_is_exactly_the_documented_one(case: Case, theirs: Results) -> None:
    assert compared(case, theirs[case.name], ours.play(case)) == dict(case.differs)


@pytest.mark.parametrize("planned", GENERATED, ids=lambda planned: planned.case.name)
def test_both_engines_go_the_planned_way_through_a_generated_playbook(
    planned: Planned, theirs: Results
) -> None:
    case = planned.case
    their, our = theirs[case.name], ours.play(case)
    assert compared(case, their, our) == {}
    assert [turn["fired"] for turn in our] == list(planned.fired)


def test_the_generated_playbooks_move_in_every_way() -> None:
    """Otherwise their agreement would say little."""
    kinds: Counter[str] = Counter()
    for planned in GENERATED:
        condition = {rule["id"]: rule["condition"]["type"] for rule in planned.case.playbook["transitions"]}
        kinds.update(condition[name] for turn in planned.fired for name in turn)
    assert set(kinds) == {"keyword", "llm_decision", "max_turns", "tool_call"}
    assert min(kinds.values()) >= 10


def test_the_document_lists_the_differences_that_are_tested_and_no_others() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted({case.difference for case in DIFFERING if case.difference})


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
