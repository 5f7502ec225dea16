"""Places in a document, told from pydantic's paths."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from builder.validation.pointers import place, pointer, problems, readable
from runtime.playbook import Playbook
from tests.builder.documents import document


def test_pointers_escape_what_json_pointers_escape() -> None:
    assert pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"
    assert readable(("transitions", 0, "action")) == "transitions[0].action"


def test_a_union_s_tag_is_left_out_even_if_a_field_has_its_name() -> None:
    value = {"condition": {"type": "intent", "intent": "x", "confidence": "high"}}
    assert place(("condition", "intent", "confidence"), value) == ("condition", "confidence")
    assert place(("condition", "intent", "intent"), value) == ("condition", "intent")
    assert place(("condition", "intent", "intent"), {"condition": {"type": "intent"}}, missing=True) == (
        "condition",
        "intent",
    )


def test_alternatives_of_one_place_are_one_problem() -> None:
    value = document()
    value["stages"][0]["toolChoice"] = 5
    value["stages"][0]["onEnter"] = ["not an action"]
    with pytest.raises(ValidationError) as caught:
        Playbook.model_validate(value)
    assert [p.path for p in problems(caught.value, value)] == ["/stages/0/toolChoice", "/stages/0/onEnter/0"]
