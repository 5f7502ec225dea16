"""The rehearsal model: what it understands of a window, what it calls, what it says."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation.events import ArtifactLoaded, ArtifactSaved, ToolCallComplete
from runtime.conversation.messages import AssistantMessage
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.rehearsal.finding import values_in
from runtime.llm.rehearsal.model import answer
from runtime.llm.rehearsal.view import read_view
from runtime.llm.rehearsal.words import has_words, is_yes, overlap
from runtime.playbook import Playbook
from tests.runtime.context.talk import START, Talk, call, decision, playbook, tool
from tests.runtime.llm.requests import request_of


def desk(*tools: dict[str, Any], prompt: str = "Help the rider.", **more: Any) -> Playbook:
    """One stage with these tools, and a second one to move to."""
    return playbook(
        stages=[
            {"id": "desk", "name": "Desk", "systemPrompt": prompt, "tools": list(tools)},
            {"id": "bill", "name": "Billing", "systemPrompt": "Explain the bill."},
        ],
        transitions=[decision("t", "desk", "bill", "The rider asks about an invoice or a payment")],
        initialStage="desk",
        **more,
    )


def typed(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": parameters}


def said(book: Playbook, text: str, lines: Any = None, variables: Any = None) -> AssistantMessage:
    talk = Talk(book).start("desk", variables=variables).turn(text)
    talk.ask()
    return answer(request_of(talk, stage_metadata={"rehearsal": lines} if lines else {}))


STOCK = typed("stock", "How many bikes are free", kind={"type": "string", "enum": ["city", "cargo"]})


def test_a_value_of_an_enum_in_the_message_calls_the_tool() -> None:
    made = said(desk(STOCK), "Is a cargo bike free?").tool_calls
    assert [(c.name, c.arguments) for c in made] == [("stock", {"kind": "cargo"})]


def test_two_values_become_two_parallel_calls() -> None:
    made = said(desk(STOCK), "City and cargo, please").tool_calls
    assert [c.arguments for c in made] == [{"kind": "city"}, {"kind": "cargo"}]
    assert len({c.call_id for c in made}) == 2


def test_a_message_without_the_value_is_asked_for_it() -> None:
    message = said(desk(STOCK), "How many bikes do you have?")
    assert message.tool_calls == ()
    assert message.text == "Could you tell me the kind?"


def test_what_is_known_from_the_state_fills_a_required_parameter() -> None:
    book = desk(typed("list_orders", "Lists the orders", customerId={"type": "string"}))
    made = said(book, "show my orders", variables={"customer": {"id": "c_81"}}).tool_calls
    assert made[0].arguments == {"customerId": "c_81"}


def test_a_message_that_fits_a_transition_moves_on() -> None:
    made = said(desk(STOCK), "I have a question about my invoice").tool_calls
    assert (made[0].name, (made[0].arguments or {})["targetStage"]) == ("playbook_transition", "bill")


def test_a_greeting_neither_calls_nor_moves() -> None:
    assert said(desk(STOCK), "hello there").tool_calls == ()


def test_a_tool_of_another_stage_is_never_called() -> None:
    book = playbook(stages=[*(s.model_dump() for s in desk().stages), {**_other(), "tools": [STOCK]}])
    assert said(book, "Is a cargo bike free?").tool_calls == ()


def _other() -> dict[str, Any]:
    return {"id": "other", "name": "Other", "systemPrompt": "x"}


def test_after_a_result_it_tells_the_result() -> None:
    talk = Talk(desk(STOCK)).start("desk").turn("cargo?")
    talk.ask()
    talk.says(calls=[call("a", kind="cargo")]).result("a", "stock", {"free": 2, "nextWeek": True})
    talk.ask()
    assert answer(request_of(talk)).text == "Free 2, next week yes."


def test_after_a_failure_it_says_so_and_does_not_try_again() -> None:
    talk = Talk(desk(STOCK)).start("desk").turn("cargo?")
    talk.ask()
    talk.says(calls=[call("a", kind="cargo")]).result("a", "stock", error="The shop is closed.")
    talk.ask()
    assert answer(request_of(talk)).text == "That did not work: The shop is closed."


def test_where_no_call_is_wanted_it_makes_none() -> None:
    talk = Talk(desk(STOCK)).start("desk").turn("cargo?")
    talk.ask(tail="Answer the user now; call no tool.")
    assert answer(request_of(talk)).tool_calls == ()
    talk = Talk(desk(STOCK)).start("desk").turn("cargo?")
    talk.ask()
    assert answer(request_of(talk, tool_choice="none")).tool_calls == ()


def test_it_speaks_from_the_stages_text() -> None:
    book = desk(prompt="Welcome the customer to the bike desk of Lisbon and ask what they need.")
    assert said(book, "hi").text == "Welcome to the bike desk of Lisbon. Please tell me what you need."


def test_without_anything_to_go_by_it_says_what_a_model_would_go_by() -> None:
    text = said(desk(prompt="Be short."), "Tell me a story").text
    assert text == "You said “Tell me a story”. In the stage «Desk» a model would go by: Be short."


LINES = [
    {"when": {"after": "stock"}, "say": "{stock.free} are free, {vars.name}."},
    {"when": ["helmet"], "say": "Helmets are free."},
    {"when": {"user": "<yes>", "known": "name"}, "call": {"name": "stock", "arguments": {"kind": "city"}}},
    {"when": {"nonsense": 1}, "say": "never"},
    {"when": "thief", "call": {"name": "report", "arguments": {"what": "{said}"}}},
    "not a line",
    {"say": ["First.", "Second."]},
]


def test_an_authors_line_wins_over_the_rules() -> None:
    assert said(desk(STOCK), "A helmet for a cargo bike?", LINES).text == "Helmets are free."


def test_a_line_without_a_condition_waits_until_the_rules_found_nothing() -> None:
    assert said(desk(STOCK), "cargo", LINES).tool_calls[0].name == "stock"
    assert said(desk(STOCK), "hello", LINES).text == "First."


def test_a_list_of_texts_is_said_one_after_the_other() -> None:
    talk = Talk(desk(STOCK)).start("desk").exchange("hello", "First.").exchange("so", "Second.").turn("what")
    talk.ask()
    assert answer(request_of(talk, stage_metadata={"rehearsal": LINES})).text == "Second."


def test_a_line_can_call_with_arguments_once_for_a_message() -> None:
    made = said(desk(STOCK), "yes please", LINES, {"name": "Ada"}).tool_calls
    assert made[0].arguments == {"kind": "city"}
    assert said(desk(STOCK), "yes please", LINES).text == "First."


def test_placeholders_are_filled_from_results_and_variables_and_never_evaluated() -> None:
    talk = Talk(desk(STOCK)).start("desk", variables={"name": "{user} {1+1}"}).turn("cargo?")
    talk.ask()
    talk.says(calls=[call("a", kind="cargo")]).result("a", "stock", {"free": 2})
    talk.ask()
    assert answer(request_of(talk, stage_metadata={"rehearsal": LINES})).text == "2 are free, {user} {1+1}."


def test_the_message_that_matched_can_be_quoted() -> None:
    assert said(desk(STOCK), "there is a thief!", LINES).tool_calls[0].arguments == {
        "what": "there is a thief!"
    }


@pytest.mark.parametrize(
    ("text", "name", "schema", "found"),
    [
        ("write to ada@example.org now", "email", {"type": "string"}, ["ada@example.org"]),
        ("call +44 20 7946 0018", "phone", {"type": "string"}, ["+44 20 7946 0018"]),
        ("order 4471 or 12", "orderNumber", {"type": "string", "pattern": "^[0-9]{4}$"}, ["4471"]),
        ("three, 4 or 15 people", "guests", {"type": "integer", "maximum": 10}, [4]),
        ("about 2.5 km", "distance", {"type": "number"}, [2.5]),
        ("on Friday at 7 pm", "day", {"type": "string"}, ["Friday"]),
        ("on Friday at 7 pm", "time", {"type": "string", "format": "time"}, ["7 pm"]),
        ("my name is Ada Byrne.", "name", {"type": "string"}, ["Ada Byrne"]),
        ("a hotel in New York please", "city", {"type": "string"}, ["New York"]),
        ("it is c_81", "account", {"type": "string", "description": "for example c_12"}, ["c_81"]),
        ("see https://example.org/a", "link", {"type": "string"}, ["https://example.org/a"]),
        ("anything", "kind", {"const": 1}, [1]),
        ("anything", "flag", {"type": "boolean"}, []),
        ("x", "code", {"type": "string", "pattern": "(("}, []),
    ],
)
def test_values_are_found_by_type_pattern_format_and_name(
    text: str, name: str, schema: dict[str, Any], found: list[Any]
) -> None:
    assert values_in(text, name, schema) == found


@pytest.mark.timeout(20)
@pytest.mark.parametrize("run", ["x", "_", "-", ".", "x-", "1.", "a@"])
@pytest.mark.parametrize("field", ["email", "order number", "ticket"])
def test_a_message_of_one_endless_word_is_read_in_no_time(run: str, field: str) -> None:
    schema = (
        {"type": "string", "description": "for example c_81"} if field == "ticket" else {"type": "string"}
    )
    assert "c_81" not in values_in(run * 200_000, field, schema)


def test_a_code_is_found_with_what_stands_before_it() -> None:
    assert values_in("no. -4471, AB-12 and _c81", "orderNumber", {"type": "string"}) == [
        "4471",
        "AB-12",
        "c81",
    ]


def test_words_are_compared_whole_and_without_case() -> None:
    assert has_words("My ORDER!", "order")
    assert not has_words("the border", "order")
    assert overlap("I want my money back", "The customer wants a refund") == 1
    assert overlap("two orders", "an order") == 1
    assert is_yes("Yes, please do")
    assert not is_yes("yesterday")


def test_it_reads_the_state_frames_of_the_window() -> None:
    talk = Talk(desk()).start("desk", variables={"a": 1, "pad": "x" * 300}).exchange("hi", "hello")
    talk.set(b=2).delete("a").turn("so").ask()
    assert dict(read_view(talk.windows[-1]).variables) == {"b": 2, "pad": "x" * 300}


def test_a_raw_stage_gets_a_labelled_answer() -> None:
    raw = {"id": "raw", "name": "Raw", "kind": "raw", "systemPrompt": "Translate: bike"}
    talk = Talk(playbook(stages=[*(s.model_dump() for s in playbook().stages), raw])).start("raw").turn("go")
    talk.ask()
    assert answer(request_of(talk)).text == "Rehearsed answer to: Translate: bike"


async def test_usage_is_simulated_by_the_cache_model() -> None:
    llm = RehearsalLLM(word_delay_s=0, now=lambda: START)
    talk = Talk(playbook(globalSystemPrompt="Every bike has a number. " * 200)).start("pick").turn("hi")
    talk.ask()
    first = [event async for event in llm.stream(request_of(talk))][-1]
    talk.says("ok").end("ok").turn("more").ask()
    second = [event async for event in llm.stream(request_of(talk))][-1]
    assert first.usage.read == 0  # type: ignore[union-attr]
    assert first.usage.input == talk.windows[0].tokens  # type: ignore[union-attr]
    assert second.usage.read == talk.plans[-1].predicted.read > 1024  # type: ignore[union-attr]


def test_tools_helper_of_the_talk_is_no_enum() -> None:
    assert said(desk(tool("stock")), "stock").text.startswith("Could you tell me")


def test_a_result_that_became_an_artifact_is_told_like_any_other() -> None:
    talk = Talk(desk(STOCK)).start("desk").turn("cargo?")
    talk.ask()
    talk.says(calls=[call("a", kind="cargo")])
    kept = {"name": "a_0", "summary": "stock: object, 500 characters", "hash": "h", "kind": "object"}
    talk.add(ArtifactSaved, **kept, length=500, content={"free": 2, "nextWeek": True})
    talk.add(
        ToolCallComplete,
        call_id="a",
        tool_name="stock",
        success=True,
        result={"$artifact": "a_0"},
        artifact="a_0",
    )
    talk.add(ArtifactLoaded, name="a_0", frame="f1")
    window = talk.ask()
    assert window.allowed_tools[-2:] == ("SaveArtifact", "LoadArtifact")
    message = answer(request_of(talk))
    assert (message.text, message.tool_calls) == ("Free 2, next week yes.", ())
