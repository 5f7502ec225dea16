"""Placeholders: filled once from the author's text; what is no expression stays and is reported."""

from __future__ import annotations

import time
from typing import Any

import pytest

from runtime.playbook.placeholders import placeholders, resolve

ROOTS: dict[str, Any] = {
    "vars": {"name": "Ada", "n": 3, "list": [1, "é"], "trick": "{$name} {{x}} {vars.n}", "turn": "shadow"},
    "turn": {"count": 1},
    "stage": {"name": "Pick"},
    "session": {},
    "data": {"order": 7},
}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hello {$name}.", "Hello Ada."),
        ("{vars.n + 1} {data.order} {stage.name}", "4 7 Pick"),
        ("{name} has {n}", "Ada has 3"),
        ("{ $name }", "Ada"),
        ("{vars.list}", '[1, "é"]'),
        ("{{literal}} }} {{", "{literal} } {"),
        ("{turn.count}", "1"),
        ('{vars.n > 2 ? "many" : "few}"}', "many"),
        ("no braces at all", "no braces at all"),
    ],
)
def test_placeholders_are_filled(text: str, filled: str) -> None:
    assert resolve(text, ROOTS, ["name", "n", "turn"]).text == filled


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "{missing}", "{$nobody}", "{vars.missing}", "{}", "{it's}", "{open"]
)
def test_what_cannot_be_filled_stays_as_it_stands(text: str) -> None:
    assert resolve(f"a {text} b", ROOTS, ["name"]).text == f"a {text} b"


def test_what_stayed_is_reported() -> None:
    resolved = resolve('{$name} {"a": {"b": 1}} {missing}', ROOTS)
    assert resolved.unresolved == ('{"a": {"b": 1}}', "{missing}")


def test_a_filled_value_is_never_read_for_placeholders() -> None:
    assert resolve("{$trick}", ROOTS).text == "{$name} {{x}} {vars.n}"


def test_a_message_placeholder_puts_its_value_into_a_message_of_its_own() -> None:
    resolved = resolve("Look: {$name|message}.", ROOTS)
    assert (resolved.text, resolved.messages) == ("Look: .", ("Ada",))


def test_a_root_is_not_hidden_by_a_variable_of_its_name() -> None:
    assert resolve("{turn.count}", ROOTS, ["turn"]).text == "1"


def test_secrets_are_left_alone() -> None:
    assert resolve("{{secret.API_KEY}} {$name}", ROOTS).text == "{{secret.API_KEY}} Ada"


def test_the_places_of_placeholders_are_known_to_validation() -> None:
    found = placeholders("Hi {$name}, {vars.n|message}")
    assert [(item.source, item.start, item.end, item.own_message) for item in found] == [
        ("$name", 3, 10, False),
        ("vars.n", 12, 28, True),
    ]


def test_a_text_full_of_open_braces_is_read_in_linear_time() -> None:
    began = time.process_time()
    resolve("{ " * 20_000, ROOTS)
    assert time.process_time() - began < 2
