"""How a session moves on: which rule fires, what a transition does, frames, ends."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.engine.effects import CancelModel
from runtime.engine.happened import ReplyBegan, Start
from tests.runtime.desk import DECISION, STOCK, desk, playbook, rule, says, stage
from tests.runtime.engine.table import Table, call, move_to


def talk(table: Table, user: str, reply: str) -> None:
    """One plain turn."""
    table.says(user)
    table.model(reply)


def test_a_rule_for_every_stage_does_not_fire_into_its_own_target() -> None:
    """B031."""
    table = Table(playbook([stage("talk"), stage("help")], [rule("any-help", "*", "help", says("help"))]))
    talk(table, "please", "I can help you.")
    talk(table, "go on", "I help with help.")
    assert [event.to_stage for event in table.of(ev.TransitionTriggered)] == ["help"]


@pytest.mark.parametrize("tool_first", [True, False])
@pytest.mark.parametrize("raises", [True, False])
def test_a_tool_and_the_transition_tool_in_one_message_both_get_results_first(
    tool_first: bool, raises: bool
) -> None:
    """B032: both results, then one transition; the order of the calls does not matter."""
    stages = [stage("greet", tools=[STOCK]), stage("pick", tools=[STOCK])]
    table = Table(playbook(stages, [rule("t", "greet", "pick", DECISION)]))
    table.says("a city bike")
    calls = [call("stock", "c2", kind="city"), move_to("pick", "c1")]
    table.model("", *(calls if tool_first else calls[::-1]))
    assert table.runs == ["c2"]
    assert table.stage == "greet"
    table.tool("c2", {"free": 2}, error="no stock" if raises else None)
    kinds = [
        name
        for name in table.types
        if name in ("tool_call_complete", "transition_triggered", "stage_entered")
    ]
    assert kinds[1:] == ["tool_call_complete", "tool_call_complete", "transition_triggered", "stage_entered"]
    assert (table.stage, table.asked.stage) == ("pick", "pick")
    table.model("Two are free.")
    assert table.calls_without_one_result() == []


def test_of_two_transition_calls_the_first_valid_one_wins() -> None:
    """B033."""
    table = Table(desk(rule("t-close2", "greet", "close", DECISION)))
    table.says("hm")
    table.model("", move_to("close", "c1"), move_to("pick", "c2"))
    assert table.stage == "close"
    assert "Not carried out" in (table.results["c2"].error or "")
    assert len(table.of(ev.StageEntered)) == 2


@pytest.mark.parametrize(
    "arguments", [{"targetStage": "nowhere"}, {"targetStage": "greet"}, {}, {"targetStage": 7}]
)
def test_a_target_that_is_not_allowed_gets_an_error_with_the_allowed_ones(arguments: dict[str, Any]) -> None:
    """B033, variants: the stage stays and the turn still ends with an answer."""
    table = Table(desk())
    table.says("hm")
    table.model("", call("playbook_transition", **arguments))
    assert "Allowed targets here: pick" in (table.results["c1"].error or "")
    table.model("Hello.")
    assert (table.stage, table.state.status) == ("greet", "idle")


def test_of_several_rules_that_hold_priority_then_named_then_document_order_decides() -> None:
    """B039: always t2; the log shows which others held too."""
    stages = [stage(name) for name in "abcde"]
    rules = [
        rule("t1", "*", "b", says("go")),
        rule("t2", "a", "c", says("go")),
        rule("t3", "a", "d", says("go")),
        rule("t4", "a", "e", {"type": "max_turns", "count": 1}, priority=-1),
    ]
    table = Table(playbook(stages, rules))
    talk(table, "x", "go")
    assert table.stage == "c"
    evaluated = [(event.transition, event.verdict) for event in table.of(ev.TransitionEvaluated)]
    assert evaluated == [("t2", True), ("t3", True), ("t1", True), ("t4", True)]


def test_a_higher_priority_goes_before_the_document_order() -> None:
    rules = [rule("t1", "a", "b", says("go")), rule("t2", "*", "c", says("go"), priority=1)]
    table = Table(playbook([stage("a"), stage("b"), stage("c")], rules))
    talk(table, "x", "go")
    assert table.stage == "c"


def test_max_turns_counts_answered_messages_of_this_visit() -> None:
    """B041: turns 1 and 2 are answered by pick, turn 3 by close."""
    table = Table(desk(rule("t-max", "pick", "close", {"type": "max_turns", "count": 2}), start="pick"))
    table.says("1")
    table.model("", call("stock", kind="a"))
    table.tool("c1")
    table.model("one")
    table.says("x")
    table.model_fails()
    assert table.stage == "pick"
    talk(table, "2", "two")
    assert table.stage == "close"
    talk(table, "3", "bye")
    assert [event.stage for event in table.of(ev.TurnComplete)] == ["pick", "pick", "close"]


def test_entering_a_stage_anew_begins_its_count_anew() -> None:
    rules = [rule("out", "a", "b", says("out")), rule("back", "b", "a", says("back"))]
    table = Table(playbook([stage("a"), stage("b")], rules))
    talk(table, "x", "stay")
    talk(table, "x", "out")
    talk(table, "x", "back")
    assert table.state.frame is not None
    assert table.state.frame.turn_count == 0


@pytest.mark.parametrize(
    ("condition", "reply", "tool"),
    [
        (says("booked"), "booked", False),
        ({"type": "tool_call", "toolName": "book"}, "fine", True),
        ({"type": "max_turns", "count": 1}, "fine", False),
    ],
)
def test_several_transitions_between_the_same_stages_fire_each_on_its_own(
    condition: dict[str, Any], reply: str, tool: bool
) -> None:
    """B051."""
    table = Table(desk(rule("mine", "pick", "close", condition, priority=9), start="pick"))
    table.says("go")
    if tool:
        table.model("", call("book", kind="a", day="Mon"))
        table.tool("c1")
    table.model(reply)
    assert table.of(ev.TransitionTriggered)[0].transition == "mine"


def test_a_tool_call_rule_moves_on_before_the_reply_and_the_target_replies() -> None:
    table = Table(desk(rule("t", "pick", "close", {"type": "tool_call", "toolName": "book"}), start="pick"))
    table.says("go")
    table.model("", call("book", kind="a", day="Mon"))
    table.tool("c1")
    table.model("Never shown.")
    assert table.asked.stage == "close"
    table.model("Thank you.")
    assert table.of(ev.TurnComplete)[0].text == "Thank you."
    assert table.of(ev.TurnComplete)[0].stage == "close"


@pytest.mark.parametrize(("outcome", "fires"), [("any", True), ("success", False), ("error", True)])
def test_a_tool_call_rule_looks_at_the_outcome(outcome: str, fires: bool) -> None:
    condition = {"type": "tool_call", "toolName": "stock", "outcome": outcome}
    table = Table(desk(rule("t", "pick", "close", condition), start="pick"))
    table.says("go")
    table.model("", call("stock", kind="a"))
    table.tool("c1", error="down")
    table.model("Hm.")
    assert (table.stage == "close") is fires


@pytest.mark.parametrize(("free", "fires"), [(0, True), (2, False)])
def test_a_tool_call_rule_looks_at_arguments_and_result(free: int, fires: bool) -> None:
    where = 'arguments.kind == "city" && result.free == 0'
    condition = {"type": "tool_call", "toolName": "stock", "where": where}
    table = Table(desk(rule("t", "pick", "close", condition), start="pick"))
    table.says("go")
    table.model("", call("stock", kind="city"))
    table.tool("c1", {"free": free})
    table.model("Hm.")
    assert (table.stage == "close") is fires


def test_a_refused_call_is_no_call_for_a_rule() -> None:
    """B048: a tool_call rule does not fire on a call that was refused."""
    table = Table(desk(rule("t", "pick", "close", {"type": "tool_call", "toolName": "stock"}), start="pick"))
    table.says("go")
    table.model("", call("stock", wrong="x"))
    table.model("Hm.")
    assert table.stage == "pick"


def test_a_keyword_of_the_user_moves_before_the_reply() -> None:
    table = Table(desk(rule("t", "pick", "close", says("bye", source="user")), start="pick"))
    table.says("Bye!")
    assert table.asked.stage == "close"


def test_a_custom_rule_before_the_reply_sees_the_users_message() -> None:
    condition = {"type": "custom", "when": "before", "expression": 'turn.userMessage.contains("bye")'}
    table = Table(desk(rule("t", "pick", "close", condition), start="pick"))
    table.says("bye now")
    assert table.stage == "close"


def test_a_rule_with_a_broken_expression_says_so_and_does_not_fire() -> None:
    condition = {"type": "custom", "expression": "vars.nothing > 1"}
    table = Table(desk(rule("t", "close", "greet", condition), start="close"))
    talk(table, "x", "y")
    event = table.of(ev.TransitionEvaluated)[0]
    assert not event.verdict
    assert "nothing" in event.reason


def test_a_disabled_rule_does_not_fire() -> None:
    table = Table(playbook([stage("a"), stage("b")], [rule("t", "a", "b", says("go"), disabled=True)]))
    talk(table, "x", "go")
    assert table.stage == "a"


def test_the_next_transition_over_the_limit_of_a_turn_is_refused_with_its_reason() -> None:
    rules = [rule("ab", "a", "b", DECISION), rule("ba", "b", "a", DECISION)]
    table = Table(playbook([stage("a"), stage("b")], rules, options={"maxTransitionsPerTurn": 2}))
    table.says("x")
    for number, target in enumerate(["b", "a", "b"]):
        table.model("", move_to(target, f"m{number}"))
    assert len(table.of(ev.TransitionTriggered)) == 2
    assert "at most 2" in table.of(ev.TransitionRefused)[0].reason
    assert not table.results["m2"].success


def test_stages_that_speak_by_themselves_cannot_send_each_other_on_for_ever() -> None:
    stages = [stage("a", speakOnEnter=True), stage("b", speakOnEnter=True)]
    rules = [rule("ab", "a", "b", says("go")), rule("ba", "b", "a", says("go"))]
    table = Table(playbook(stages, rules))
    for _ in range(20):
        if not table.asks:
            break
        table.model("go")
    assert not table.asks
    assert len(table.of(ev.TransitionTriggered)) == 5


def test_a_transition_does_its_parts_in_order() -> None:
    stages = [
        stage("a", onExit=[{"set": {"left": "true"}}]),
        stage("b", onEnter=[{"set": {"greeting": '"Hi " + data.name'}}], systemPrompt="{$greeting}!"),
    ]
    going = rule("t", "a", "b", DECISION, data={"name": "Ada"}, transitionMessage="Look: {$greeting}")
    table = Table(playbook(stages, [going]))
    table.says("x")
    table.model("", move_to("b", data={"more": 1}))
    names = ["transition_triggered", "state_changed", "stage_exited", "stage_entered", "user_message"]
    assert [name for name in table.types if name in names][2:] == [
        "transition_triggered",
        "state_changed",
        "stage_exited",
        "state_changed",
        "stage_entered",
        "user_message",
    ]
    entered = table.of(ev.StageEntered)[1]
    assert (entered.prompt, entered.data) == ("Hi Ada!", {"name": "Ada", "more": 1})
    injected = table.of(ev.UserMessageEvent)[1]
    assert (injected.text, injected.injected) == ("Look: Hi Ada", True)


def test_an_entry_waits_for_the_tool_its_action_calls() -> None:
    looking = [{"call": "stock", "arguments": {"kind": "$wanted"}}]
    entering = stage("b", onEnter=looking, tools=[dict(STOCK, saveAs="found")], systemPrompt="Free: {$found}")
    variables = [{"name": "wanted", "default": "city"}]
    table = Table(playbook([stage("a"), entering], [rule("t", "a", "b", DECISION)], variables=variables))
    table.says("x")
    table.model("", move_to("b"))
    (call_id,) = table.runs
    assert table.of(ev.ToolCallStart)[-1].arguments == {"kind": "city"}
    assert table.stage == "a"
    table.tool(call_id, 3)
    assert table.of(ev.StageEntered)[1].prompt == "Free: 3"
    assert table.asked.stage == "b"


def test_an_action_that_fails_is_logged_and_the_entry_goes_on() -> None:
    entering = stage("b", onEnter=[{"set": {"x": "vars.nothing"}}, {"call": "nowhere"}, {"set": {"y": "1"}}])
    table = Table(playbook([stage("a"), entering], [rule("t", "a", "b", says("go"))]))
    talk(table, "x", "go")
    errors = [event.error or "" for event in table.of(ev.ToolCallComplete)]
    assert "nothing" in errors[0]
    assert "nowhere" in errors[1]
    assert table.state.variables["y"] == 1


def test_an_action_that_fails_on_the_way_out_is_logged_and_the_move_goes_on() -> None:
    leaving = stage("a", onExit=[{"set": {"x": "1 / 0"}}, {"call": "nowhere"}, {"set": {"y": "1"}}])
    table = Table(playbook([leaving, stage("b")], [rule("t", "a", "b", says("go"))]))
    talk(table, "x", "go")
    assert [event.success for event in table.of(ev.ToolCallComplete)] == [False, False]
    assert table.state.variables["y"] == 1
    assert table.stage == "b"


def test_clear_history_is_logged_with_the_transition() -> None:
    table = Table(desk())
    table.says("x")
    cleared = playbook([stage("a"), stage("b")], [rule("t", "a", "b", says("go"), clearHistory=True)])
    table = Table(cleared)
    talk(table, "x", "go")
    assert table.of(ev.TransitionTriggered)[0].clear_history


CALLING = [
    rule("call", "main", "sub", DECISION, mode="call", data={"order": 7}),
    rule("ret", "sub", None, DECISION, mode="return"),
]


def test_a_call_pushes_a_frame_and_a_return_brings_its_value_back() -> None:
    table = Table(playbook([stage("main"), stage("sub")], CALLING))
    table.says("x")
    table.model("", move_to("sub"))
    assert [frame.stage for frame in table.state.frames] == ["main", "sub"]
    assert table.of(ev.StageExited) == []
    table.model("Working.")
    table.says("done?")
    table.model("", move_to("return", data={"ok": True}, summary="All done."))
    popped = table.of(ev.FramePopped)[0]
    assert (popped.value, popped.summary) == ({"ok": True}, "All done.")
    assert [frame.stage for frame in table.state.frames] == ["main"]
    assert table.state.frames[0].data["ok"] is True
    assert len(table.of(ev.StageEntered)) == 2
    assert table.asked.stage == "main"


def test_calls_deeper_than_the_limit_are_refused() -> None:
    deeper = [rule("deeper", "main", "main", DECISION, mode="call")]
    table = Table(playbook([stage("main")], deeper, options={"maxCallDepth": 1}))
    table.says("x")
    table.model("", move_to("main", "m1"))
    assert len(table.state.frames) == 2
    table.model("", move_to("main", "m2"))
    assert len(table.state.frames) == 2
    assert "at most 1 deep" in table.of(ev.TransitionRefused)[0].reason


def test_an_end_stage_completes_the_session_after_its_reply() -> None:
    table = Table(playbook([stage("a"), stage("bye", kind="end")], [rule("t", "a", "bye", DECISION)]))
    table.says("x")
    table.model("", move_to("bye"))
    table.model("Goodbye.")
    assert table.types[-2:] == ["turn_complete", "session_complete"]
    assert table.state.status == "complete"


def test_an_end_stage_entered_after_the_reply_completes_at_once() -> None:
    table = Table(playbook([stage("a"), stage("bye", kind="end")], [rule("t", "a", "bye", says("bye"))]))
    talk(table, "x", "bye")
    assert table.state.status == "complete"
    assert not table.asks


def test_an_end_stage_that_speaks_on_entry_says_its_farewell_first() -> None:
    ending = stage("bye", kind="end", speakOnEnter=True)
    table = Table(playbook([stage("a"), ending], [rule("t", "a", "bye", says("bye"))]))
    talk(table, "x", "bye")
    assert table.of(ev.TurnStarted)[-1].cause == "speak_on_enter"
    table.model("Farewell.")
    assert table.state.status == "complete"


def test_an_end_stage_in_a_called_frame_returns_to_the_caller() -> None:
    calling = [rule("call", "main", "sub", says("go"), mode="call")]
    table = Table(playbook([stage("main"), stage("sub", kind="end")], calling))
    talk(table, "x", "go")
    assert [frame.stage for frame in table.state.frames] == ["main"]
    assert table.state.status == "idle"


def test_a_stage_at_its_own_limit_leaves_by_its_first_rule_or_ends() -> None:
    leaving = playbook([stage("a", maxTurns=1), stage("b")], [rule("t", "a", "b", says("never"))])
    table = Table(leaving)
    talk(table, "x", "y")
    assert table.stage == "b"
    stuck = Table(playbook([stage("a", maxTurns=1)]))
    talk(stuck, "x", "y")
    assert stuck.of(ev.SessionComplete)[0].reason == "max_turns"


def test_a_first_stage_that_speaks_opens_the_conversation() -> None:
    table = Table(playbook([stage("a", speakOnEnter=True)]), started=False)
    table.happens(Start({"who": "Ada"}))
    assert table.of(ev.TurnStarted)[0].cause == "start"
    table.model("Welcome.")
    assert table.state.frame is not None
    assert (table.state.turn, table.state.frame.turn_count) == (1, 0)
    assert dict(table.state.frame.data) == {"who": "Ada"}


def test_a_raw_stage_that_is_called_gives_its_text_as_the_value() -> None:
    calling = [rule("call", "main", "sum", DECISION, mode="call")]
    table = Table(playbook([stage("main"), stage("sum", kind="raw")], calling))
    table.says("x")
    table.model("", move_to("sum"))
    assert (table.asked.raw, table.asked.hold) == (True, None)
    table.model("A summary.")
    assert table.of(ev.FramePopped)[0].value == {"value": "A summary."}
    assert table.asked.stage == "main"
    table.model("Here it is.")
    assert table.of(ev.TurnComplete)[0].text == "Here it is."


def test_a_call_that_made_one_rule_fire_is_not_looked_at_by_the_next_stages_rules() -> None:
    called = {"type": "tool_call", "toolName": "stock"}
    stages = [stage("a", tools=[STOCK]), stage("b", tools=[STOCK]), stage("c")]
    table = Table(playbook(stages, [rule("ab", "a", "b", called), rule("bc", "b", "c", called)]))
    table.says("go")
    table.model("", call("stock", kind="x"))
    table.tool("c1")
    table.model("Never shown.")
    table.model("Here is b.")
    assert table.stage == "b"


def test_a_rule_that_holds_when_a_long_reply_begins_keeps_it_from_being_shown() -> None:
    table = Table(desk(rule("t", "pick", "close", {"type": "tool_call", "toolName": "book"}), start="pick"))
    table.says("go")
    table.model("", call("book", kind="a", day="Mon"))
    table.tool("c1")
    table.happens(ReplyBegan(2))
    assert CancelModel() in table.wants
    assert table.of(ev.LLMCallFailed)[0].code == "superseded"
    assert table.asked.stage == "close"
    table.model("Thank you.")
    assert table.of(ev.TurnComplete)[0].text == "Thank you."
