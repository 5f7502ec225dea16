"""Another playbook as a called one: frames, stages, rules, tools and variables of its own."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.engine import MissingDocument
from runtime.engine.effects import ClassifyIntent, RunTool
from runtime.engine.happened import IntentsClassified, ModelFailed, VariableSet
from runtime.engine.intents import Classification
from tests.runtime.desk import DECISION, playbook, rule, says, stage
from tests.runtime.engine.table import Table, call, move_to
from tests.runtime.travel import TAKING_PART, bank, documents, pay_desk, travel

ASKS_TO_PAY = move_to("agent:Payer", data={"sum": 90})


def called(**replaced: Any) -> Table:
    """A table where the model has just called the payer."""
    table = Table(replaced.pop("root", travel()), agents=documents(**replaced))
    table.says("To Oslo, please.")
    table.model("", ASKS_TO_PAY)
    return table


def test_the_playbook_and_the_human_take_part_from_the_beginning() -> None:
    table = Table(travel(), agents=documents())
    assert table.of(ev.SessionStarted)[0].agents == TAKING_PART
    assert table.state.agents == TAKING_PART


def test_an_agent_that_has_the_name_of_a_playbook_takes_only_itself_away() -> None:
    table = called(root=travel(name="Payer(agent 1000)"))
    assert list(table.state.agents) == ["Payer(agent 1000)", "User", "Payer(agent 1000)"]
    table.model("", move_to("return"))
    assert list(table.state.agents) == ["Payer(agent 1000)", "User"]


def test_the_model_calls_an_agent_whose_first_stage_is_entered_with_the_data() -> None:
    table = called()
    frame = table.state.frame
    assert frame is not None
    assert (frame.stage, frame.agent, frame.playbook, frame.depth) == (
        "ask",
        "Payer(agent 1000)",
        "pay-desk",
        1,
    )
    assert frame.data == {"currency": "EUR", "sum": 90}
    assert table.state.agents == (*TAKING_PART, "Payer(agent 1000)")
    assert table.asked.agent == "Payer(agent 1000)"
    assert table.of(ev.TransitionTriggered)[-1].to_stage == "agent:Payer"


def test_a_rule_calls_an_agent_which_answers_the_message() -> None:
    table = Table(travel(), agents=documents())
    table.says("I want to pay")
    table.model("Which card?")
    assert table.stage == "ask"
    assert table.of(ev.TurnComplete)[-1].text == "Which card?"


def test_messages_go_to_the_agent_until_it_returns_with_its_value() -> None:
    table = called()
    table.model("Which card?")
    table.says("The blue one.")
    table.model("", move_to("return", data={"receipt": 7}, summary="Paid by card."))
    assert table.stage == "plan"
    assert table.state.agents == TAKING_PART
    popped = table.of(ev.FramePopped)[-1]
    assert (popped.value, popped.summary, popped.reason) == ({"receipt": 7}, "Paid by card.", "return")
    assert table.state.frame is not None
    assert table.state.frame.data == {"receipt": 7}
    assert table.asks
    table.model("Have a good trip.")
    assert table.calls_without_one_result() == []


def test_an_agent_has_its_own_tools_and_transitions_even_where_stage_ids_are_the_same() -> None:
    table = called()
    table.model("", call("trip", to="Oslo"), call("card", "c2", sum=90))
    assert table.runs == ["c2"]
    assert "no tool 'trip'" in (table.results["c1"].error or "")
    table.tool("c2", {"paid": True})
    table.model("", move_to("plan", "m2"))
    assert table.stage == "plan"
    assert table.state.frame is not None
    assert table.state.frame.agent == "Payer(agent 1000)"
    table.model("", call("trip", "c4", to="Oslo"))
    assert "no tool 'trip'" in (table.results["c4"].error or "")


def test_variables_of_an_agent_are_its_own_and_go_with_it() -> None:
    table = called()
    assert table.state.variables == {"receipt": None, "fee": 2}
    table.model("", call("card", sum=90))
    roots = next(effect.roots for effect in table.wants if isinstance(effect, RunTool))
    assert roots["vars"] == {"receipt": None, "fee": 2}
    table.tool("c1", {"paid": True})
    table.happens(VariableSet("fee", 3))
    assert table.state.variables == {"receipt": {"paid": True}, "fee": 3}
    table.model("", move_to("return", "m3"))
    assert table.state.variables == {"trip": None, "secret": "of the desk"}


def test_a_second_call_is_another_agent_that_knows_nothing_of_the_first() -> None:
    table = called()
    table.happens(VariableSet("fee", 99))
    table.model("", move_to("return", "m2"))
    table.model("", move_to("agent:Payer", "m3"))
    assert table.state.agents == (*TAKING_PART, "Payer(agent 1001)")
    assert table.state.variables["fee"] == 2


def test_actions_of_the_agents_first_stage_work_on_its_variables() -> None:
    first = stage("ask", onEnter=[{"set": {"fee": "vars.fee + data.sum"}}], systemPrompt="Fee {$fee}.")
    table = called(pay_desk=playbook([first], id="pay-desk", variables=[{"name": "fee", "default": 1}]))
    assert table.state.variables == {"fee": 91}
    assert table.state.frame is not None
    assert table.state.frame.prompt == "Fee 91."


def test_a_transition_message_is_the_callers_text_with_the_callers_variables() -> None:
    extra = rule(
        "t-say",
        "plan",
        "agent:Payer",
        says("now", source="user"),
        mode="call",
        transitionMessage="{$secret} and {$fee}",
        priority=5,
    )
    table = Table(travel(extra), agents=documents())
    table.says("now")
    injected = [event for event in table.of(ev.UserMessageEvent) if event.injected]
    assert [event.text for event in injected] == ["of the desk and {$fee}"]


def test_agents_nest_and_each_comes_back_to_its_caller() -> None:
    table = called()
    table.model("Which card?")
    table.says("Ask the bank")
    assert table.state.agents == (*TAKING_PART, "Payer(agent 1000)", "Bank(agent 1001)")
    table.model("It is done.")
    frame = table.state.frame
    assert frame is not None
    assert (frame.stage, frame.agent, frame.data["limit"]) == ("ask", "Payer(agent 1000)", 500)
    assert table.state.variables["fee"] == 2


def test_calls_are_at_most_as_deep_as_the_sessions_own_playbook_allows() -> None:
    root = travel(options={"maxCallDepth": 1})
    table = called(root=root, pay_desk=pay_desk(options={"maxCallDepth": 8}))
    table.model("Which card?")
    table.says("Ask the bank")
    assert table.state.agents == (*TAKING_PART, "Payer(agent 1000)")
    assert "at most 1 deep" in table.of(ev.TransitionRefused)[-1].reason


def test_an_agent_that_calls_itself_ends_at_the_depth() -> None:
    again = rule("t-again", "ask", "agent:Me", DECISION, mode="call")
    loop = playbook([stage("ask")], [again], id="pay-desk", agents=[{"name": "Me", "playbook": "pay-desk"}])
    table = called(root=travel(options={"maxCallDepth": 3}), pay_desk=loop)
    for number in range(5):
        table.model("", move_to("agent:Me", f"n{number}"))
    assert len(table.state.frames) == 4
    assert table.calls_without_one_result() == []


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        (travel(agents=[]), "declares no agent 'Payer'"),
        (travel(agents=[{"name": "Payer", "playbook": "lost"}]), "not given the playbook 'lost'"),
    ],
)
def test_an_agent_without_its_document_is_refused_and_the_model_is_told(root: Any, reason: str) -> None:
    table = called(root=root)
    assert reason in table.of(ev.TransitionRefused)[-1].reason
    assert reason in (table.results["m1"].error or "")
    assert table.stage == "plan"


def test_an_agent_can_only_be_called() -> None:
    table = Table(travel(rule("t-go", "*", "agent:Payer", says("go", source="user"))), agents=documents())
    table.says("go")
    assert "only be called" in table.of(ev.TransitionRefused)[-1].reason


def test_a_session_in_an_agent_whose_document_is_gone_says_which() -> None:
    table = called()
    table.agents = {}
    with pytest.raises(MissingDocument, match="pay-desk"):
        table.model("Which card?")


def test_an_end_stage_of_an_agent_returns_and_does_not_end_the_session() -> None:
    end = stage("bye", kind="end")
    desk = playbook([stage("ask"), end], [rule("t", "ask", "bye", DECISION)], id="pay-desk")
    table = called(pay_desk=desk)
    table.model("", move_to("bye", "m2", data={"ok": True}))
    table.model("Thank you.")
    assert (table.stage, table.state.status) == ("plan", "idle")
    assert table.of(ev.FramePopped)[-1].value == {"ok": True, "currency": "EUR", "sum": 90}


def test_a_limit_of_an_agents_stage_returns_to_the_caller() -> None:
    table = called(pay_desk=playbook([stage("ask", maxTurns=1)], id="pay-desk"))
    table.model("Which card?")
    assert table.stage == "plan"
    assert table.of(ev.FramePopped)[-1].reason == "max_turns"


def test_a_timer_of_an_agents_stage_fires_while_it_is_open() -> None:
    table = called(pay_desk=playbook([stage("ask", timeoutMs=60_000)], id="pay-desk"))
    table.model("Which card?")
    table.waits(seconds=61)
    assert table.stage == "plan"
    assert table.of(ev.FramePopped)[-1].reason == "timeout"


def test_an_agent_that_fails_for_good_is_given_up_and_its_caller_goes_on_with_the_turn() -> None:
    inner = stage("deep")
    desk = playbook([stage("ask"), inner], [rule("t", "ask", "deep", DECISION, mode="call")], id="pay-desk")
    table = called(pay_desk=desk)
    table.model("", move_to("deep", "m2"))
    table.happens(ModelFailed(table.state.calls, "The key was refused.", "auth", 401, retryable=False))
    assert (table.stage, table.state.agents) == ("plan", TAKING_PART)
    assert [event.reason for event in table.of(ev.FramePopped)] == ["failed", "failed"]
    assert table.of(ev.FramePopped)[-1].value == {"error": "The key was refused."}
    table.model("I cannot take the money now.")
    assert table.of(ev.TurnComplete)[-1].text == "I cannot take the money now."
    assert table.of(ev.TurnFailed) == []


def test_an_agent_that_may_succeed_later_fails_the_turn_and_stays_open() -> None:
    table = called()
    table.model_fails()
    assert table.of(ev.TurnFailed)[-1].retryable
    assert table.state.agents == (*TAKING_PART, "Payer(agent 1000)")


def test_the_bank_document_is_a_playbook_by_itself() -> None:
    table = Table(bank())
    table.says("hello")
    table.model("It is done.")
    assert table.state.status == "complete"


def test_a_message_to_an_agent_is_classified_by_the_rules_of_the_agent() -> None:
    help_wanted = {"type": "intent", "intent": "help", "examples": ["help me", "I am stuck", "what now"]}
    table = called(pay_desk=pay_desk(rule("t-help", "ask", "plan", help_wanted)))
    table.model("Which card?")
    table.says("I am stuck here")
    asked = next(effect for effect in table.wants if isinstance(effect, ClassifyIntent))
    frame = table.state.frame
    assert frame is not None
    assert ([intent.name for intent in asked.intents], asked.frame) == (["help"], frame.id)
    table.happens(IntentsClassified(asked.turn, Classification("keyword", "help", 0.9, {"help": 0.9})))
    assert table.stage == "plan"
    assert table.asked.agent == "Payer(agent 1000)"
