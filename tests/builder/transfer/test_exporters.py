"""What a playbook is written as for others: golden files, what is lost, and texts that mean mischief."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.transfer import load
from builder.transfer.exporters import BY_KEY, FORMATS, write
from builder.transfer.exporters.cel_typescript import Untranslatable, typescript
from builder.transfer.importers.llmrtc import SCHEMA_ID
from builder.transfer.templates import GALLERY
from tests.builder.documents import Json, document, end, rule, stage, tool
from tests.builder.transfer.test_writing import documents

HERE = Path(__file__).parent
GOLDEN = HERE / "written"
SOURCES = {
    "bike-desk": HERE / "formats" / "1" / "bike-desk.json",
    "customer-support": GALLERY / "customer-support.json",
}
OTHERS = [known.key for known in FORMATS if known.key != "json"]


def golden(name: str, written: str) -> None:
    """Compares with the file that was looked at; STUDIO_WRITE_GOLDEN=1 writes it anew."""
    file = GOLDEN / name
    if os.environ.get("STUDIO_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(written, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("key", OTHERS)
def test_the_same_playbook_is_written_as_the_same_file(source: str, key: str) -> None:
    value = load(SOURCES[source].read_bytes()).document
    assert value is not None
    written = write(value, key)
    golden(source + BY_KEY[key].suffix.replace(".ts", ".gen.ts"), written.data.decode())
    report = [f"{e.level} {e.code} {e.path}: {e.message}" for e in written.report]
    if key in ("llmrtc", "typescript"):
        golden(f"{source}.{key}-report.txt", "\n".join(report) + "\n")
    else:
        assert report == []


def test_our_own_file_is_one_of_the_formats() -> None:
    assert json.loads(write(document(), "json").data)["id"] == "desk"


def test_no_format_lets_a_secret_out() -> None:
    headers = {"Authorization": "Bearer demo-not-real-1234"}
    http = {"type": "http", "url": "https://bikes.example", "headers": headers}
    value = document(globalTools=[tool("stock", implementation=http)])
    for known in FORMATS:
        assert b"demo-not-real" not in write(value, known.key).data


# -- LLMRTC ------------------------------------------------------------------------------------------------


def losses(value: Json, key: str = "llmrtc") -> list[tuple[str, str]]:
    return [(e.code, e.path) for e in write(value, key).report]


def conditioned(condition: Json, **more: Any) -> Json:
    return document([stage("greet"), stage("bye")], [rule("t", "greet", "bye", condition=condition, **more)])


def test_a_playbook_of_core_fields_is_carried_whole_and_comes_back() -> None:
    condition = {"type": "keyword", "keywords": ["bye"], "match": "substring"}
    value = conditioned(condition, priority=3)
    assert losses(value) == []
    back = load(write(value, "llmrtc").data)
    assert back.document is not None
    assert {**back.document, "formatVersion": 1} == {**value, "formatVersion": 1}


def test_an_export_is_marked_so_that_it_is_read_as_what_it_is() -> None:
    written = json.loads(write(conditioned({"type": "llm_decision"}), "llmrtc").data)
    assert (written["$schema"], "formatVersion" in written) == (SCHEMA_ID, False)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ({"type": "keyword", "keywords": ["x"]}, "keyword-substring"),
        ({"type": "keyword", "keywords": ["x"], "source": "user"}, "left-out"),
        ({"type": "keyword", "keywords": ["x+"], "match": "regex"}, "left-out"),
        ({"type": "keyword", "keywords": ["x"], "match": "substring", "source": "any"}, "lost-field"),
        ({"type": "tool_call", "toolName": "x", "outcome": "error"}, "lost-field"),
        ({"type": "timeout", "durationMs": 5, "since": "last_activity"}, "lost-field"),
        ({"type": "custom", "expression": "turn.count > 1"}, "custom-function"),
        ({"type": "custom", "expression": ""}, "left-out"),
        ({"type": "intent", "intent": "x", "examples": ["y"]}, "intent-by-host"),
    ],
)
def test_a_condition_that_llmrtc_has_not_is_reported(condition: Json, code: str) -> None:
    assert [found for found, _ in losses(conditioned(condition))] == [code]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"disabled": True}, "left-out"),
        ({"from": "gone"}, "left-out"),
        ({"action": {"mode": "return"}}, "left-out"),
        ({"action": {"targetStage": "agent:Pay", "mode": "call"}}, "left-out"),
        ({"action": {"targetStage": "bye", "mode": "call"}}, "call-as-goto"),
    ],
)
def test_a_transition_that_llmrtc_has_not_is_reported(change: Json, code: str) -> None:
    value = conditioned({"type": "llm_decision"}, **change)
    written = json.loads(write(value, "llmrtc").data)
    assert losses(value)[0][0] == code
    assert len(written["transitions"]) == (code != "left-out")


def test_doubled_braces_are_single_there_and_placeholders_are_reported() -> None:
    prompts = ["Say {{hi}}.", "Hello {$name}."]
    value = document([stage(name, systemPrompt=text) for name, text in zip("ab", prompts, strict=True)], [])
    written = json.loads(write(value, "llmrtc").data)
    assert [one["systemPrompt"] for one in written["stages"]] == ["Say {hi}.", "Hello {$name}."]
    assert losses(value) == [("placeholder", "/stages/1/systemPrompt")]


def test_unknown_fields_are_left_out_and_named() -> None:
    assert ("lost-field", "/colour") in losses(document(colour="teal"))


# -- expressions as TypeScript -------------------------------------------------------------------------------

KNOWN = {"vars": None, "turn": frozenset({"count", "toolCalls"}), "stage": frozenset({"id"})}


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("turn.count >= 2", 'atLeast(get(r.turn, "count"), 2)'),
        (
            "!(has(vars.a) && vars.a == 'x')",
            'not(and(() => has(r.vars, "a"), () => same(get(r.vars, "a"), "x")))',
        ),
        ("vars.a ? 1.0 : -2.5", 'choose(get(r.vars, "a"), () => 1.0, () => -2.5)'),
        ("'x' in [\"y\", vars.b]", 'inside("x", ["y", get(r.vars, "b")])'),
        ('{"a": [1]}', 'map([["a", [1]]])'),
    ],
)
def test_an_expression_becomes_calls_of_functions(source: str, code: str) -> None:
    assert typescript(source, KNOWN) == code


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("turn.userMessage == 'x'", "turn.userMessage"),
        ("now > now", "now"),
        ("vars.a.matches('x')", "matches"),
        ("turn.toolCalls.exists(c, c.success)", "success"),
        ("turn.toolCalls[0].result", "result"),
        ("vars.n == 9007199254740993", "9007199254740993"),
        ("1 +", "no valid expression"),
    ],
)
def test_what_has_no_counterpart_is_said_and_not_guessed(source: str, reason: str) -> None:
    with pytest.raises(Untranslatable, match=re.escape(reason)):
        typescript(source, KNOWN)


def test_a_rule_that_cannot_be_translated_never_fires_and_is_reported() -> None:
    value = conditioned({"type": "custom", "expression": "turn.userMessage == '*/ evil()'"})
    written = write(value, "typescript")
    assert [e.code for e in written.report] == ["untranslatable"]
    assert "evaluate: () => false /* turn.userMessage == '* / evil()' */" in written.data.decode()


@given(documents())
def test_every_format_can_be_written_of_whatever_can_be_saved(value: dict[str, Any]) -> None:
    for known in FORMATS:
        assert write(value, known.key).data.endswith(b"\n")


# -- mischief ------------------------------------------------------------------------------------------------

_PIECES = [*"a \"\\`|\n[]{}()<>#;&*_~-x|%/\u2028'", "*/", "${", "```", "-->", "%%"]
_MISCHIEF = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)


@given(_MISCHIEF, _MISCHIEF)
def test_no_text_of_an_author_leaves_its_quotes(name: str, words: str) -> None:
    stages = [stage("a", name=name, systemPrompt=words), end("b", name=words)]
    value = document(stages, [rule("t", "a", "b", condition={"type": "keyword", "keywords": [words or "x"]})])
    value["name"] = name
    mermaid = write(value, "mermaid").data.decode().splitlines()
    assert len(mermaid) == 6
    assert all(line.count('"') == 2 for line in mermaid[1:4])
    dot = write(value, "graphviz").data.decode().split("\n")
    assert all(re.fullmatch(r'[^"]*("([^"\\]|\\.)*"[^"]*)*', line) for line in dot)
    module = write(value, "typescript").data.decode()
    strings = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', module.partition("export const playbook")[2])
    assert (strings.count("`"), strings.count("/*"), strings.count("//")) == (2, 1, 0)


@given(_MISCHIEF)
def test_a_prompt_stays_in_its_fence(prompt: str) -> None:
    text = write(document([stage("a", systemPrompt=f"\n{prompt}\n"), end()], []), "markdown").data.decode()
    fence = re.search(r"^(`{3,})text\n", text, re.MULTILINE)
    assert fence is not None
    inside = text[fence.end() :].split(f"\n{fence[1]}\n")[0]
    assert inside.strip() == (f"\n{prompt}\n".strip() or "")
