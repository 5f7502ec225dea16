"""What is exported for LLMRTC, in LLMRTC's own hands: its types, its check of playbooks, its orchestrator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from builder.transfer.exporters import write
from builder.transfer.importers.llmrtc import SCHEMA_ID
from builder.transfer.loading import load_value
from runtime.playbook.expressions import compile_expression
from tests.builder.documents import document, rule, stage
from tests.llmrtc import agreeing, installed, ours, with_functions
from tests.llmrtc.case import Case, Json, compared
from tests.llmrtc.functions import written_anew
from tests.llmrtc.installed import Peer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llmrtc")]

HERE = Path(__file__).parent
WRITTEN = HERE.parent / "builder" / "transfer" / "written"
COMPILER = HERE.parents[1] / "frontend" / "node_modules" / "typescript"
CASES = [*agreeing.AGREEING, *with_functions.AGREEING]
PLAIN = [
    case for case in agreeing.AGREEING if not any("onEnter" in stage for stage in case.playbook["stages"])
]


@pytest.fixture(scope="module")
def peer() -> Peer:
    try:
        return installed.ensure()
    except installed.Unavailable as reason:
        pytest.skip(f"no comparison with LLMRTC: {reason}")


def compiled(peer: Peer, files: Sequence[Path]) -> list[str]:
    """What the compiler says; the files stand beside them as JavaScript."""
    if not COMPILER.exists():
        pytest.skip("the TypeScript compiler is not installed: run `npm ci` in frontend/")
    said: list[str] = json.loads(
        peer.run(HERE / "compile.mjs", str(COMPILER), given=json.dumps([str(file) for file in files]))
    )
    return said


def ours_of(case: Case) -> Json:
    """The case as a playbook of ours, with expressions and actions for its functions."""
    imported = load_value(case.playbook)
    assert imported.playbook is not None
    plain: Json = written_anew(imported.playbook, case).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return plain


# -- both ways -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def modules(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Json]]:
    """What LLMRTC did with the module of each case, by the case's name."""
    folder = tmp_path_factory.mktemp("modules")
    files = [folder / f"case{number}.ts" for number in range(len(CASES))]
    for case, file in zip(CASES, files, strict=True):
        file.write_bytes(write(ours_of(case), "typescript").data)
    assert compiled(peer, files) == []
    asked = [
        {**case.as_json(), "module": str(file.with_suffix(".mjs"))}
        for case, file in zip(CASES, files, strict=True)
    ]
    played = peer.play(asked)
    return {case.name: turns for case, turns in zip(CASES, played, strict=True)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_exported_module_plays_there_as_it_plays_here(case: Case, modules: dict[str, list[Json]]) -> None:
    assert compared(case, modules[case.name], ours.play(case)) == {}


@pytest.fixture(scope="module")
def files(peer: Peer) -> dict[str, list[Json]]:
    """What LLMRTC did with the exported JSON of each case."""
    asked = [
        replace(case, playbook=json.loads(write(ours_of(case), "llmrtc").data)).as_json() for case in PLAIN
    ]
    return {case.name: turns for case, turns in zip(PLAIN, peer.play(asked), strict=True)}


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_an_exported_file_plays_there_as_it_plays_here(case: Case, files: dict[str, list[Json]]) -> None:
    assert compared(case, files[case.name], ours.play(case)) == {}


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_what_was_imported_and_exported_comes_back_as_it_was(case: Case) -> None:
    first = load_value({**case.playbook, "$schema": SCHEMA_ID})
    assert first.document is not None
    again = load_value(json.loads(write(first.document, "llmrtc").data))
    assert again.playbook == first.playbook


def test_the_written_modules_fit_llmrtc_s_types(peer: Peer, tmp_path: Path) -> None:
    copies = []
    for file in sorted(WRITTEN.glob("*.ts")):
        copies.append(tmp_path / file.name)
        copies[-1].write_bytes(file.read_bytes())
    assert len(copies) == 2
    assert compiled(peer, copies) == []


# -- expressions ---------------------------------------------------------------------------------------------

EXPRESSIONS = [
    "vars.n > 2",
    "vars.n >= 2 && vars.n <= 3",
    "vars.n == 3.0",
    "vars.n % 2 == 1",
    "vars.n / 2 == 1",
    "vars.f / 2.0 == 0.75",
    "vars.n * 2 - 1 == 5",
    "-vars.n == -3",
    "vars.zero / vars.zero == 1",
    "vars.missing == 1",
    "has(vars.missing)",
    "!has(vars.missing)",
    "has(vars.n) && vars.n == 3",
    "vars.missing == 1 || vars.n == 3",
    "vars.n == 3 || vars.missing == 1",
    "vars.missing == 1 && vars.n == 4",
    "!(vars.missing == 1 && vars.n == 3)",
    "vars.n",
    "vars.text",
    "vars.n == 'x'",
    "vars.n != 'x'",
    "vars.text < 'b'",
    "vars.text > vars.n",
    "vars.text.startsWith('Gr') && vars.text.endsWith('ße')",
    "vars.text.contains('ü')",
    "size(vars.text) == 5",
    "size(vars.bike) == 1",
    "size(vars.list) == 3",
    "vars.list == ['a', 'b', 'c']",
    "vars.list[1] == 'b'",
    "vars.list[7] == 'b'",
    "vars['n'] == 3",
    "'b' in vars.list",
    "'x' in vars.list",
    "'n' in vars",
    "vars.list.exists(x, x == 'b')",
    "vars.list.all(x, x < 'c')",
    "vars.list.exists(x, x.size() == vars.missing || x == 'c')",
    "vars.mixed.exists(x, x > 2)",
    "vars.mixed.all(x, x > 2)",
    "size(vars.list.filter(x, x != 'a')) == 2",
    "vars.list.map(x, x + '!') == ['a!', 'b!', 'c!']",
    "vars.list.exists_one(x, x == 'a')",
    "vars.flag ? vars.n == 3 : vars.missing == 1",
    "vars.flag",
    "!vars.flag",
    "vars.nothing == null",
    "{'a': vars.n}.a == 3",
    "{'a': 1} == {'a': 1}",
    "int('3') == vars.n",
    "double('1.5') == vars.f",
    "string(vars.n) == '3'",
    "int(2.9) == 2",
    "vars.bike.kind == 'red' && vars.bike.kind != 'blue'",
    "turn.count >= 2 && stage.id == 'here' && stage.name == 'Here'",
    "turn.assistantMessage.contains('order') || turn.count > 9",
    "turn.toolCalls.exists(c, c.name == 'look' && c.arguments.what == 'red')",
    "size(turn.toolCalls) == 1",
    "data.order == 7",
    "'😀' > 'ﬀ'",
    "vars.list + ['d'] == ['a', 'b', 'c', 'd']",
]
VARIABLES: Json = {
    "n": 3,
    "f": 1.5,
    "zero": 0,
    "text": "Größe".replace("ö", "ü"),
    "list": ["a", "b", "c"],
    "mixed": [1, "x", 3],
    "flag": True,
    "nothing": None,
    "bike": {"kind": "red"},
}
TURN: Json = {
    "count": 2,
    "assistantMessage": "Your order is here.",
    "toolCalls": [{"name": "look", "arguments": {"what": "red"}}],
}


def test_expressions_hold_there_exactly_where_they_hold_here(peer: Peer, tmp_path: Path) -> None:
    roots = {"vars": VARIABLES, "turn": TURN, "stage": {"id": "here", "name": "Here"}, "data": {"order": 7}}
    rules = [
        rule(f"r{number}", "here", "here", condition={"type": "custom", "expression": source})
        for number, source in enumerate(EXPRESSIONS)
    ]
    variables = [{"name": name, "default": value} for name, value in VARIABLES.items()]
    actions = [{"set": {"total": "vars.n + 1", "broken": "vars.gone", "said": "data.order"}}]
    value = document([stage("here", onEnter=actions)], rules, variables=variables)
    written = write(value, "typescript")
    assert [entry.code for entry in written.report if entry.code == "untranslatable"] == []
    module = tmp_path / "module.ts"
    module.write_bytes(written.data)
    assert compiled(peer, [module]) == []
    context = {
        "currentStage": "here",
        "turnCount": TURN["count"],
        "timeInStage": 0,
        "lastAssistantMessage": TURN["assistantMessage"],
        "lastToolCalls": TURN["toolCalls"],
        "conversationContext": {"transitionData": {"order": 7}},
        "sessionMetadata": {},
        "data": {"order": 7},
    }
    script = HERE / "evaluate.mjs"
    held, hooks = json.loads(peer.run(script, str(module.with_suffix(".mjs")), given=json.dumps([context])))
    here = {source: compile_expression(source).evaluate(roots).holds for source in EXPRESSIONS}
    there = {source: held[f"r{number}"][0] for number, source in enumerate(EXPRESSIONS)}
    assert there == here
    assert sum(here.values()) not in (0, len(here))
    assert hooks == {"total": 4, "said": 7}
