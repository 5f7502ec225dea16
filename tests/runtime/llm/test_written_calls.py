"""What the text of a small model hides: calls in many wrappings, and what must stay text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.llm.written_calls import CallGate, ThinkingSplitter, read_calls

TOOLS = ("stock", "seats")
RED = '{"name": "stock", "arguments": {"kind": "red"}}'

CALLS = {
    "bare": RED,
    "fenced": f"```json\n{RED}\n```",
    "fenced without a language": f"```\n{RED}\n```",
    "tagged": f"<tool_call>\n{RED}\n</tool_call>",
    "tagged and cut after the object": f"<tool_call>\n{RED}",
    "list": f"[{RED}]",
    "behind Mistral's word": f"[TOOL_CALLS] [{RED}]",
    "parameters": '{"name": "stock", "parameters": {"kind": "red"}}',
    "arguments as text": '{"name": "stock", "arguments": "{\\"kind\\": \\"red\\"}"}',
    "OpenAI's form": '{"type": "function", "function": {"name": "stock", "arguments": {"kind": "red"}}}',
    "function as a name": '{"function": "stock", "arguments": {"kind": "red"}}',
    "list of tool_calls": f'{{"tool_calls": [{RED}]}}',
    "named tag": '<function=stock>{"kind": "red"}</function>',
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_a_call_is_found_in_whatever_it_is_wrapped(text: str) -> None:
    for length in (1, 3, len(text)):
        gate = CallGate(TOOLS)
        shown = "".join(gate.feed(text[start : start + length]) for start in range(0, len(text), length))
        rest, calls = gate.end()
        assert (shown, rest) == ("", "")
        assert [(call.name, call.arguments) for call in calls] == [("stock", {"kind": "red"})]


def test_several_calls_in_a_row_are_several_calls() -> None:
    found = read_calls(f"{RED}\n{RED.replace('stock', 'seats')}", TOOLS)
    assert found is not None
    assert [call.name for call in found] == ["stock", "seats"]


NO_CALLS = {
    "an unknown tool": '{"name": "delete_all", "arguments": {}}',
    "one of two unknown": f'{RED}\n{{"name": "delete_all", "arguments": {{}}}}',
    "no arguments": '{"name": "stock"}',
    "arguments that are a list": '{"name": "stock", "arguments": [1]}',
    "a cut object": '{"name": "stock", "arguments": {"kind": ',
    "prose behind it": f"{RED}\nI will look that up.",
    "prose in the same line": f"Call it like this: {RED}",
    "a quoted example": f"```json\n{RED}\n```\nis how one calls it.",
    "other JSON": '{"colour": "red", "name": "stock"}',
    "code": "```python\nprint({'name': 1})\n```",
    "a list in prose": "- one\n- two\n\n[link](there) {braces}",
    "a number": "12",
}


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_anything_else_stays_text_to_the_letter(text: str) -> None:
    gate = CallGate(TOOLS)
    shown = "".join(gate.feed(letter) for letter in text)
    rest, calls = gate.end()
    assert (shown + rest, calls) == (text, ())


def test_prose_and_code_are_shown_as_they_come() -> None:
    gate = CallGate(TOOLS)
    assert gate.feed("Here is ") == "Here is "
    assert gate.feed("code:\n```py") == "code:\n"
    assert gate.feed("\nprint(1)") == "```py\nprint(1)"


def test_without_tools_nothing_is_held_back() -> None:
    assert CallGate(()).feed(RED) == RED


@given(st.lists(st.sampled_from([*RED, "\n", " ", "```", "<tool_call>", RED, "Yes.", "[", "{"]), max_size=12))
def test_no_letter_of_a_text_without_calls_is_ever_lost(pieces: list[str]) -> None:
    gate = CallGate(TOOLS)
    shown = "".join(gate.feed(piece) for piece in pieces)
    rest, calls = gate.end()
    text = "".join(pieces)
    if calls:
        assert text.startswith(shown)
        assert read_calls(text[len(shown) :], TOOLS) == calls
    else:
        assert shown + rest == text


@given(st.text(), st.text().filter(lambda text: "</think>" not in text), st.integers(1, 5))
def test_thinking_and_text_are_told_apart_wherever_the_pieces_are_cut(
    text: str, thought: str, length: int
) -> None:
    whole = f"<think>{thought}</think>{text}"
    splitter = ThinkingSplitter()
    shown = "".join(splitter.feed(whole[at : at + length]) for at in range(0, len(whole), length))
    assert (shown + splitter.end()).lstrip() == text.lstrip()
    assert splitter.thinking == thought


def test_thinking_that_never_ends_is_not_shown() -> None:
    splitter = ThinkingSplitter()
    assert splitter.feed("<think>hm") + splitter.end() == ""
    assert splitter.thinking == "hm"


def test_arguments_of_a_written_call_must_be_real_json() -> None:
    assert read_calls('{"name": "stock", "arguments": {"n": NaN}}', TOOLS) is None
    deep = '{"name": "stock", "arguments": ' + json.dumps({"a": 1}) + "}" * 3
    assert read_calls(deep, TOOLS) is None
