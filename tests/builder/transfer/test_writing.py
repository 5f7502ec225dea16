"""The canonical file."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builder.transfer import canonical, export, load
from builder.transfer.companions import agents_named
from builder.transfer.needs import NEEDS_PLAYBOOK
from builder.transfer.templates import AGENTS, GALLERY, template_agents, template_document, template_slugs
from builder.validation import check_document
from tests.builder.documents import document, end, rule, stage, tool

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_EXTRA = st.dictionaries(_TEXT.map(lambda name: f"x-{name}"), _JSON, max_size=2)
_CONDITIONS = st.one_of(
    st.builds(lambda words: {"keywords": words, "type": "keyword"}, st.lists(_TEXT, max_size=3)),
    st.builds(lambda n: {"count": n, "type": "max_turns"}, st.integers(1, 99)),
    st.builds(lambda text: {"type": "custom", "expression": text, "when": "before"}, _TEXT),
    st.just({"type": "tool_call", "toolName": "stock", "outcome": "error"}),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of the right shape, with fields in any order, odd texts and unknown fields."""
    names = draw(st.lists(_TEXT.filter(bool), min_size=1, max_size=4))
    stages = [{**stage(name), "systemPrompt": draw(_TEXT), **draw(_EXTRA)} for name in names]
    targets = st.sampled_from([*names, "gone"])
    count = draw(st.integers(0, 3))
    rules = [
        rule(f"t{i}", draw(targets), draw(targets), condition=draw(_CONDITIONS), **draw(_EXTRA))
        for i in range(count)
    ]
    value = document(stages, rules, metadata={"studio": {"layout": draw(_EXTRA)}}, **draw(_EXTRA))
    value["globalTools"] = [tool("stock", parameters={"type": "object", "properties": draw(_EXTRA)})]
    return dict(draw(st.permutations(list(value.items()))))


@given(documents())
def test_what_was_exported_and_imported_is_exported_as_the_same_bytes(value: dict[str, Any]) -> None:
    first = export(value)
    loaded = load(first)
    assert loaded.document is not None
    assert export(loaded.document) == first


@given(documents())
def test_an_export_loses_and_adds_nothing(value: dict[str, Any]) -> None:
    before = copy.deepcopy(value)
    written = json.loads(export(value))
    assert value == before
    assert {k: v for k, v in written.items() if k != "$schema"} == value


def test_keys_are_in_the_format_s_order_and_lists_and_data_as_they_were() -> None:
    value = document(
        [{"systemPrompt": "S", "zeta": 1, "name": "A", "id": "a"}, end("b")], [rule("t", "a", "b")]
    )
    value["stages"][0]["metadata"] = {"z": 1, "a": 2}
    shuffled = dict(reversed(value.items()))
    written = canonical(shuffled)
    assert list(written) == [
        "$schema",
        "formatVersion",
        "id",
        "name",
        "stages",
        "transitions",
        "initialStage",
    ]
    assert list(written["stages"][0]) == ["id", "name", "systemPrompt", "metadata", "zeta"]
    assert list(written["stages"][0]["metadata"]) == ["z", "a"]


def test_the_file_ends_with_a_line_break_and_keeps_letters_readable() -> None:
    data = export(document(name="Grüße 旅"))
    assert data.endswith(b"}\n")
    assert "Grüße 旅" in data.decode()
    assert b"\r" not in data


def test_moving_a_stage_changes_the_layout_only() -> None:
    def placed(x: int) -> list[str]:
        layout = {"greet": {"x": x, "y": 0}, "bye": {"x": 9, "y": 9}}
        return export(document(metadata={"studio": {"layout": layout}})).decode().splitlines()

    changed = [(a, b) for a, b in zip(placed(1), placed(2), strict=True) if a != b]
    assert changed == [('          "x": 1,', '          "x": 2,')]


def test_moving_a_stage_there_and_back_leaves_no_trace() -> None:
    there = {"greet": {"x": 1, "y": 1}, "bye": {"x": 2, "y": 2}}
    back = dict(reversed(there.items()))
    first, second = (export(document(metadata={"studio": {"layout": layout}})) for layout in (there, back))
    assert first == second


def test_secrets_typed_into_headers_leave_as_references() -> None:
    headers = {"Authorization": "Bearer demo-not-real-1234", "X-Api-Key": "{{secret.KEY}}", "Accept": "a/b"}
    http = {"type": "http", "url": "https://bikes.example", "headers": headers}
    data = export(document(globalTools=[tool("stock", implementation=http)], tools=[{"headers": headers}]))
    assert b"demo-not-real" not in data
    written = json.loads(data)["globalTools"][0]["implementation"]["headers"]
    assert written == {
        "Authorization": "{{secret.STOCK_AUTHORIZATION}}",
        "X-Api-Key": "{{secret.KEY}}",
        "Accept": "a/b",
    }


def test_the_gallery_is_canonical_and_without_problems() -> None:
    files = [*GALLERY.glob("*.json"), *AGENTS.glob("*.json")]
    assert {"customer-support", "research-assistant", "fact-checker"} <= {file.stem for file in files}
    for file in files:
        loaded = load(file.read_bytes())
        assert {entry.code for entry in loaded.report} <= {NEEDS_PLAYBOOK}
        assert loaded.document is not None
        assert export(loaded.document) == file.read_bytes()
        assert check_document(loaded.document) == ()


def test_the_gallery_has_every_playbook_that_one_of_it_calls() -> None:
    for slug in template_slugs():
        template = template_document(slug)
        assert template is not None
        agents = template_agents(template)
        for caller in (template, *agents.values()):
            assert set(agents_named(caller)) <= set(agents)
    assert {file.stem for file in AGENTS.glob("*.json")} == {"fact-checker"}, "none that nobody calls"
