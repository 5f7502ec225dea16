"""build_window in the `append` layout: what is sent, in which order, and what stays where it is."""

from __future__ import annotations

import json

import pytest

from runtime.context.build import build_window
from runtime.context.instructions import read_instructions
from runtime.context.models import record
from runtime.conversation import events as ev
from runtime.conversation.messages import ToolCall
from tests.runtime.context.talk import Talk, call, kinds, of_kind, playbook, texts


def said(talk: Talk) -> list[tuple[str, str]]:
    return [(s.role, s.text) for s in talk.windows[-1].segments if s.kind in ("dialogue", "injected")]


def test_a_first_request_is_tools_base_user_state_stage() -> None:
    talk = Talk().start()
    window = talk.turn("hi").ask()
    assert kinds(window) == ["tools", "base", "dialogue", "state", "stage"]
    assert window.added == 5
    assert [tool.name for tool in window.tools][:3] == ["stock", "seats", "playbook_transition"]
    assert [tool.name for tool in window.tools][3:] == ["SaveArtifact", "LoadArtifact"]
    assert window.allowed_tools == ("playbook_transition",)


def test_a_stage_says_where_you_are_what_you_may_do_and_its_prompt() -> None:
    talk = Talk().start("pick")
    text = texts(talk.turn("hi").ask(), "stage")[0]
    assert text == (
        "You are now in stage «Pick a bike». Instructions of earlier stages no longer apply.\n"
        "Tools you may use now: stock, playbook_transition.\n"
        "Transitions you may ask for (playbook_transition, targetStage – when):\n"
        "- seat – A seat is needed\n"
        "- close – All is done\n"
        "\n"
        "Help to choose."
    )
    read = read_instructions(text)
    assert read is not None
    assert (read.name, read.tools, read.prompt) == (
        "Pick a bike",
        ("stock", "playbook_transition"),
        "Help to choose.",
    )
    assert read.targets == (("seat", "A seat is needed"), ("close", "All is done"))


def test_data_of_a_transition_is_one_line_without_private_names() -> None:
    talk = Talk().start().enter("pick", data={"kind": "red", "_token": "x"})
    text = texts(talk.turn("hi").ask(), "stage")[0]
    assert 'Data: {"kind":"red"}\n' in text
    assert "_token" not in text


def test_only_the_stage_that_answers_is_announced() -> None:
    talk = Talk().start().enter("pick").enter("close")
    assert [s.label for s in of_kind(talk.turn("hi").ask(), "stage")] == ["«Goodbye»"]


def test_entering_a_stage_appends_its_instructions_and_leaves_the_rest() -> None:
    talk = Talk().start().exchange("hi", "hello")
    before = talk.windows[-1].segments
    window = talk.enter("pick").turn("a bike").ask()
    assert window.segments[: len(before)] == before
    assert kinds(window)[len(before) :] == ["dialogue", "dialogue", "state", "stage"]


def test_a_second_visit_repeats_the_header_and_refers_to_the_text_above() -> None:
    talk = Talk().start().exchange("hi", "hello")
    talk.enter("pick").exchange("a bike", "which")
    talk.enter("greet").turn("hello again").ask()
    last = texts(talk.windows[-1], "stage")[-1]
    assert last.endswith("\n\nInstructions as given above under «Greeting».")
    assert "Welcome the rider." not in last


def test_a_second_visit_with_another_text_gives_it_in_full() -> None:
    talk = Talk().start().exchange("hi", "hello")
    talk.enter("pick").exchange("a bike", "which")
    talk.enter("greet", prompt="Welcome Ada.").turn("hello again").ask()
    assert texts(talk.windows[-1], "stage")[-1].endswith("Welcome Ada.")


def test_a_stage_that_speaks_first_gets_a_fixed_user_block() -> None:
    talk = Talk().start()
    talk.turn(cause="start").ask()
    assert said(talk) == [("user", "[conversation starts]")]
    talk.says("Welcome!").end("Welcome!").enter("pick").turn(cause="speak_on_enter").ask()
    assert said(talk)[-2:] == [("assistant", "Welcome!"), ("user", "[continue]")]


def test_results_come_first_and_in_the_order_of_the_calls() -> None:
    talk = Talk().start("pick").turn("red and blue?")
    talk.ask()
    talk.says("Let me look.", calls=[call("a", kind="red"), call("b", kind="blue")])
    talk.result("b", "stock", {"free": 1}).set(seen=True).result("a", "stock", "two left")
    window = talk.ask()
    new = window.segments[-window.added :]
    assert [s.kind for s in new] == [
        "dialogue",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "state",
    ]
    assert [s.text for s in new[3:5]] == ["two left", '{"free":1}']


def test_a_failed_call_is_an_error_result() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.ask()
    talk.says(calls=[call("a", kind="red")]).result("a", "stock", error="The shop is closed.")
    result = of_kind(talk.ask(), "tool_result")[0]
    assert result.text == "The shop is closed."
    assert result.meta["success"] is False


def test_a_call_that_was_cut_off_still_gets_one_result() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.ask()
    talk.says(calls=[call("a", kind="red"), call("b", kind="blue")]).result("a", "stock", 1)
    talk.add(ev.TurnInterrupted, stage="pick", reason="process_died")
    results = of_kind(talk.turn("hello?").ask(), "tool_result")
    assert [r.meta["callId"] for r in results] == ["a", "b"]
    assert results[1].meta["success"] is False


def test_results_of_actions_that_no_model_asked_for_are_not_sent() -> None:
    talk = Talk().start("pick").result("action:1", "stock", {"free": 1})
    assert of_kind(talk.turn("hi").ask(), "tool_result") == []


def test_arguments_that_did_not_parse_are_sent_as_an_empty_object() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.ask()
    talk.says(calls=[ToolCall(call_id="a", name="stock", arguments=None, raw='{"ki')])
    talk.result("a", "stock", error="The arguments are not valid JSON.")
    sent = json.loads(of_kind(talk.ask(), "tool_call")[0].text)
    assert sent == {"arguments": {}, "name": "stock"}


def test_an_interrupted_reply_is_sent_as_its_shown_text_alone() -> None:
    talk = Talk().start().turn("one")
    talk.ask()
    talk.add(ev.TurnInterrupted, stage="greet", shown_text="The ", reason="stop")
    talk.turn("two").ask()
    assert said(talk) == [("user", "one"), ("assistant", "The "), ("user", "two")]


def test_a_turn_without_text_gets_the_no_reply_block_once_the_next_message_comes() -> None:
    talk = Talk().start().turn("one")
    talk.ask()
    talk.says("\n").end()
    talk.turn("two").ask()
    assert said(talk) == [("user", "one"), ("assistant", "[no reply]"), ("user", "two")]


def test_a_retry_sends_the_same_request_again() -> None:
    talk = Talk().start().turn("one")
    first = talk.ask()
    talk.add(ev.LLMCallFailed, call=1, error="Overloaded.", retryable=True)
    talk.add(ev.TurnFailed, stage="greet", code="overloaded", message="Overloaded.")
    second = talk.turn(cause="retry").ask()
    assert second.segments == first.segments
    assert second.added == 0


def test_a_failed_turn_that_was_not_retried_keeps_roles_taking_turns() -> None:
    talk = Talk().start().turn("one")
    talk.ask()
    talk.add(ev.LLMCallFailed, call=1, error="Overloaded.", retryable=True)
    talk.add(ev.TurnFailed, stage="greet", code="overloaded", message="Overloaded.")
    talk.turn("two").ask()
    assert said(talk) == [("user", "one"), ("assistant", "[no reply]"), ("user", "two")]


def test_a_transition_message_is_injected_behind_the_users() -> None:
    talk = Talk().start().exchange("hi", "hello")
    talk.user("The rider moved on.", injected=True).turn("a bike").ask()
    assert [(s.kind, s.text) for s in talk.windows[-1].segments[-2:]] == [
        ("dialogue", "a bike"),
        ("injected", "The rider moved on."),
    ]


def test_a_tail_line_stays_where_it_was_sent() -> None:
    talk = Talk().start().turn("hi")
    talk.ask(tail="Answer the user now; call no tool.")
    talk.says("ok").end("ok").turn("more").ask()
    assert texts(talk.windows[-1], "tail") == ["Answer the user now; call no tool."]


def test_a_reminder_after_a_reply_never_lets_the_request_end_on_the_assistant() -> None:
    talk = Talk().start().turn("hi")
    talk.ask()
    talk.says("I forgot the tool.")
    window = talk.ask(tail="Call a tool.")
    assert [s.text for s in window.segments[-3:]] == ["I forgot the tool.", "[continue]", "Call a tool."]


def test_a_text_that_a_rule_overtook_before_it_was_shown_is_not_sent() -> None:
    talk = Talk().start("pick").turn("red?")
    talk.add(ev.Phase1Start, stage="pick")
    talk.ask()
    talk.says("I was about to say something.").enter("close").ask()
    assert said(talk) == [("user", "red?")]


def test_the_same_reply_twice_stands_twice() -> None:
    talk = Talk().start().exchange("a", "same").exchange("b", "same")
    talk.turn("c").ask()
    assert [text for role, text in said(talk) if role == "assistant"] == ["same", "same"]


def test_thirty_turns_keep_every_word_of_both_sides() -> None:
    talk = Talk().start()
    for number in range(30):
        talk.exchange(f"question {number}", f"python is fun {number}")
    talk.turn("end").ask()
    expected = [(role, f"{text} {n}") for n in range(30) for role, text in TWO_SIDES]
    assert said(talk)[:-1] == expected


TWO_SIDES = (("user", "question"), ("assistant", "python is fun"))


def test_a_conversation_that_a_raw_stage_began_still_begins_with_the_user() -> None:
    raw = {"id": "raw", "name": "Raw", "kind": "raw", "systemPrompt": "Say hello."}
    book = playbook(stages=[*(s.model_dump() for s in playbook().stages), raw])
    talk = Talk(book).start("raw").turn(cause="speak_on_enter")
    talk.ask()
    talk.says("Hello.").end("Hello.").enter("greet").turn("thanks").ask()
    assert said(talk) == [("user", "[conversation starts]"), ("assistant", "Hello."), ("user", "thanks")]


def test_a_raw_stage_without_a_prompt_still_sends_a_valid_request() -> None:
    raw = {"id": "raw", "name": "Raw", "kind": "raw", "systemPrompt": " "}
    talk = Talk(playbook(stages=[raw], transitions=[], initialStage="raw")).start("raw").turn("hi")
    assert [segment.text for segment in talk.ask().segments] == ["[empty message]"]


def test_a_raw_stage_sends_its_prompt_as_one_user_message_and_nothing_else() -> None:
    raw = {"id": "raw", "name": "Raw", "kind": "raw", "systemPrompt": "Translate: bike"}
    book = playbook(stages=[*(s.model_dump() for s in playbook().stages), raw])
    talk = Talk(book).start().exchange("hi", "hello").enter("raw")
    window = talk.turn("go").ask()
    assert [(s.role, s.text) for s in window.segments] == [("user", "Translate: bike")]
    assert (window.lane, window.tools, talk.plans[-1].points) == ("", (), ())


def test_what_a_raw_stage_replied_is_part_of_the_later_conversation() -> None:
    raw = {"id": "raw", "name": "Raw", "kind": "raw", "systemPrompt": "Translate: bike"}
    book = playbook(stages=[*(s.model_dump() for s in playbook().stages), raw])
    talk = Talk(book).start("raw").turn("go")
    talk.ask()
    talk.says("Fahrrad").end("Fahrrad").enter("greet").turn("thanks").ask()
    assert said(talk) == [("user", "go"), ("assistant", "Fahrrad"), ("user", "thanks")]


def test_thinking_of_another_model_is_left_out_and_that_of_the_same_one_kept() -> None:
    talk = Talk().start("pick").turn("hi")
    talk.ask()
    talk.says(thinking="hm", calls=[call("a", kind="x")]).result("a", "stock", 1)
    assert texts(talk.ask(), "thinking") == ["hm"]
    talk.says("done").end("done")
    talk.model = record("claude-opus-5")
    assert texts(talk.turn("next").ask(), "thinking") == []


def test_the_layout_swap_replaces_prompt_and_tools_and_logs_it() -> None:
    talk = Talk(playbook(context={"layout": "swap"})).start().exchange("hi", "hello")
    assert "Welcome the rider." in texts(talk.windows[-1], "base")[0]
    window = talk.enter("pick").turn("a bike").ask()
    assert [rewrite.rule for rewrite in talk.rewrites] == ["swap"]
    assert "Help to choose." in texts(window, "base")[0]
    assert "Welcome the rider." not in texts(window, "base")[0]
    assert [tool.name for tool in window.tools] == ["stock", "playbook_transition"]
    assert kinds(window).count("stage") == 0


def test_the_layout_swap_still_tells_the_state_and_keeps_it_through_changes_of_stage() -> None:
    swapping = playbook(context={"layout": "swap"})
    talk = Talk(swapping).start(variables={"city": "Pune", "note": "x" * 400}).exchange("hi", "hello")
    window = talk.enter("pick").set(kind="red").turn("a bike").ask()
    first, second = texts(window, "state")
    assert '"city":"Pune"' in first
    assert '"kind":"red"' in second
    assert '"call_stack":["pick"]' in second
    assert "state 1 (" in second


def test_a_session_that_changes_to_swap_loses_its_stage_segments_by_a_logged_rewriting() -> None:
    talk = Talk().start().exchange("hi", "hello")
    talk.playbook = playbook(context={"layout": "swap"})
    window = talk.turn("more").ask()
    assert kinds(window).count("stage") == 0
    assert talk.rewrites[-1].rule == "swap"
    assert [s.text for s in window.segments if s.kind == "dialogue"] == ["hi", "hello", "more"]


def test_building_twice_gives_the_same_window() -> None:
    talk = Talk().start().exchange("hi", "hello").turn("again")
    policy = talk.policy()
    first = build_window(talk.playbook, talk.state, talk.model, policy, now=talk.now)
    second = build_window(talk.playbook, talk.state, talk.model, policy, now=talk.now)
    assert first == second


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    talk = Talk().start().turn("cut \ud83d end")
    talk.ask()
    assert said(talk) == [("user", "cut \ufffd end")]


def test_an_empty_message_of_the_user_is_no_empty_block() -> None:
    talk = Talk().start().turn("  ")
    talk.ask()
    assert said(talk) == [("user", "[empty message]")]


def test_a_state_without_a_stage_has_no_window() -> None:
    talk = Talk()
    policy = Talk().start().policy()
    with pytest.raises(ValueError, match="entered a stage"):
        build_window(talk.playbook, talk.state, talk.model, policy, now=talk.now)
