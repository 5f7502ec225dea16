"""An agent's conversation: a window and a lane of its own, and one summary for its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.conversation.segments import Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook.errors import InvalidPlaybook
from runtime.runner.session import Session
from tests.runtime.desk import playbook, rule, says, stage
from tests.runtime.llm.valid import problems
from tests.runtime.runner.play import OneModel, Play, calls, error, in_virtual_time
from tests.runtime.travel import TAKING_PART, documents, pay_desk, travel

MOVE = "playbook_transition"
CALL = calls(MOVE, targetStage="agent:Payer", data={"sum": 90})
BACK = calls(MOVE, "c9", targetStage="return", data={"receipt": 7}, summary="Paid by card.")


def play(outputs: Sequence[dict[str, Any]], *, slow: dict[str, float] | None = None, **more: Any) -> Play:
    root = more.pop("root", travel())
    return Play(root, outputs, slow=slow, agents=documents(**more))


def text_of(request: LLMRequest) -> list[tuple[str, str]]:
    """Kind and text of what was said in a request, without head, state and instructions."""
    said = ("dialogue", "injected", "tool_call", "tool_result", "summary")
    return [(s.kind, s.text) for s in request.window.segments if s.kind in said]


def lanes(session: Play) -> list[str]:
    return [event.lane.split("|")[0] for event in session.of(ev.LLMCallStarted)]


def of_kind(request: LLMRequest, kind: str) -> list[Segment]:
    return [segment for segment in request.window.segments if segment.kind == kind]


def check(session: Play) -> None:
    """What must hold for any session: it is the fold of its log, and each request would be taken."""
    assert session.session.state == fold("s", session.memory.events)
    for request in session.llm.requests:
        _, record = OneModel(session.llm).get(request.config, request.model)
        assert problems(render_anthropic(request, record)) == []


@in_virtual_time
async def test_an_agents_window_begins_with_the_users_last_message_and_the_data() -> None:
    session = play([CALL, {"text": "Which card?"}])
    await session.talk("To Oslo, please.")
    first, second = session.llm.requests
    assert lanes(session) == ["", "Payer(agent 1000)"]
    assert text_of(second) == [("dialogue", "To Oslo, please.")]
    head = [segment.text for segment in second.window.segments if segment.kind in ("tools", "base")]
    assert "Charge a card" in head[0]
    assert "Find a trip" not in head[0]
    assert "You take payments." in head[1]
    assert "You plan trips." not in head[1]
    assert 'Data: {"currency":"EUR","sum":90}' in of_kind(second, "stage")[0].text
    assert "agent:Payer – Takes the money" in of_kind(first, "stage")[0].text
    check(session)


@in_virtual_time
async def test_an_agents_state_shows_its_own_variables_and_its_own_stack() -> None:
    session = play([CALL, {"text": "Which card?"}])
    await session.talk("To Oslo, please.")
    state = of_kind(session.llm.requests[1], "state")[0].text
    assert '"variables":{"fee":2,"receipt":null}' in state
    assert '"call_stack":["ask"]' in state
    assert '"agents":["Bike desk","User","Payer(agent 1000)"]' in state
    assert "of the desk" not in state
    check(session)


@in_virtual_time
async def test_the_caller_gets_one_summary_with_the_value_in_place_of_the_agents_talk() -> None:
    session = play([CALL, {"text": "Which card?"}, BACK, {"text": "All set."}, {"text": "Bye."}])
    await session.talk("To Oslo, please.", "The blue one.", "Thanks")
    back, last = session.llm.requests[3:]
    said = text_of(back)
    assert [kind for kind, _ in said] == ["dialogue", "tool_call", "tool_result", "summary", "dialogue"]
    assert said[3][1] == (
        "Called agent «Payer(agent 1000)» has returned (as asked).\n"
        'Value: {"receipt":7}\nSummary: Paid by card.'
    )
    assert said[4] == ("dialogue", "The blue one.")
    assert "Which card?" not in str(said)
    assert "Instructions as given above under «Plan»." in of_kind(back, "stage")[-1].text
    assert 'Data: {"receipt":7}' in of_kind(back, "stage")[-1].text
    assert len(of_kind(last, "summary")) == 1
    assert lanes(session) == ["", "Payer(agent 1000)", "Payer(agent 1000)", "", ""]
    assert session.of(ev.WindowRewritten) == []
    check(session)


@in_virtual_time
async def test_a_summary_by_rules_tells_of_the_agents_tools_and_last_words_not_of_its_variables() -> None:
    outputs = [CALL, calls("card", "c2", sum=90), calls(MOVE, "c3", targetStage="return"), {"text": "Done."}]
    session = play(outputs)
    await session.talk("To Oslo, please.")
    [summary] = of_kind(session.llm.requests[-1], "summary")
    assert 'Tool card({"sum":90}) gave {"paid":true}' in summary.text
    assert "Stages: ask" in summary.text
    assert "Last words of the user: To Oslo, please." in summary.text
    assert "Variables set" not in summary.text
    assert summary.replaced is not None
    assert summary.replaced.rule == "return"
    assert summary.replaced.tokens > 0
    check(session)


@in_virtual_time
async def test_a_message_that_an_agent_answered_stands_before_its_summary() -> None:
    session = play([{"text": "Which card?"}, BACK, {"text": "All set."}])
    await session.talk("I want to pay", "The blue one.")
    said = text_of(session.llm.requests[-1])
    assert [text for kind, text in said if kind == "dialogue"] == ["I want to pay", "The blue one."]
    assert [kind for kind, _ in said] == ["dialogue", "summary", "dialogue"]
    check(session)


@in_virtual_time
async def test_a_message_that_the_agent_leaves_to_its_caller_is_answered_by_the_caller() -> None:
    session = play([BACK, {"text": "I do it myself."}])
    await session.talk("I want to pay")
    assert [kind for kind, _ in text_of(session.llm.requests[-1])] == ["summary", "dialogue"]
    assert session.replies == ["I do it myself."]
    check(session)


@in_virtual_time
async def test_an_agent_that_answers_and_returns_leaves_no_unanswered_message() -> None:
    over = rule("t-over", "ask", None, says("paid"), mode="return", data={"ok": True})
    session = play([{"text": "It is paid."}, {"text": "Where to?"}], pay_desk=pay_desk(over))
    await session.talk("I want to pay", "And now?")
    said = text_of(session.llm.requests[-1])
    assert [kind for kind, _ in said] == ["dialogue", "summary", "dialogue"]
    assert "[no reply]" not in str(said)
    check(session)


@in_virtual_time
async def test_nested_agents_have_lanes_of_their_own_and_each_caller_one_summary() -> None:
    outputs = [CALL, {"text": "Which card?"}, {"text": "It is done."}, BACK, {"text": "All set."}]
    session = play(outputs)
    await session.talk("To Oslo, please.", "ask the bank", "go on")
    assert lanes(session) == ["", "Payer(agent 1000)", "Bank(agent 1001)", "Payer(agent 1000)", ""]
    bank, payer, desk = session.llm.requests[2:]
    assert text_of(bank) == [("dialogue", "ask the bank")]
    assert [kind for kind, _ in text_of(payer)].count("summary") == 1
    assert "Bank(agent 1001)" in of_kind(payer, "summary")[0].text
    assert [s.text.split("\n")[0] for s in of_kind(desk, "summary")] == [
        "Called agent «Payer(agent 1000)» has returned (as asked)."
    ]
    check(session)


@in_virtual_time
async def test_a_failed_agent_is_one_line_for_its_caller() -> None:
    session = play([CALL, error(401, "authentication_error"), {"text": "The till is closed."}])
    await session.talk("To Oslo, please.")
    [summary] = of_kind(session.llm.requests[-1], "summary")
    assert summary.text.startswith("Called agent «Payer(agent 1000)» failed: ")
    assert "\n" not in summary.text
    assert session.replies == ["The till is closed."]
    check(session)


@in_virtual_time
async def test_an_overloaded_agent_is_taken_up_again_by_a_retry_and_nothing_is_said_twice() -> None:
    root = travel(options={"llmRetries": 0})
    session = play([{"text": "Which card?"}, error(529), BACK, {"text": "All set."}], root=root)
    await session.talk("I want to pay", "The blue one.")
    assert session.of(ev.TurnFailed)
    await session.session.retry()
    texts = [text for kind, text in text_of(session.llm.requests[-1]) if kind == "dialogue"]
    assert texts == ["I want to pay", "The blue one."]
    assert session.replies[-1] == "All set."
    check(session)


@in_virtual_time
async def test_a_stopped_agent_stays_open_and_goes_on_with_the_next_message() -> None:
    outputs = [CALL, calls("card", "c2", sum=90), {"text": "Go on."}, BACK, {"text": "Done."}]
    session = play(outputs, slow={"card": 30.0})
    await session.session.start()
    turn = asyncio.create_task(session.session.send("To Oslo, please."))
    await asyncio.sleep(1)
    await session.session.stop()
    await turn
    assert session.session.state.agents == (*TAKING_PART, "Payer(agent 1000)")
    await session.session.send("Still there?")
    await session.session.send("Back then")
    assert session.replies == ["Go on.", "Done."]
    check(session)


@in_virtual_time
async def test_an_agents_model_and_policy_are_its_own() -> None:
    desk = playbook(
        [stage("ask", context={"cachePoints": 0})],
        id="pay-desk",
        context={"layout": "swap"},
        defaultLLMConfig={"provider": "anthropic", "model": "claude-haiku-4-5", "maxTokens": 99},
    )
    session = play([CALL, {"text": "Which card?"}], pay_desk=desk)
    await session.talk("To Oslo, please.")
    started = session.of(ev.LLMCallStarted)
    assert [event.layout for event in started] == ["append", "swap"]
    assert session.llm.requests[1].config.max_tokens == 99
    assert session.llm.requests[1].config.model == "claude-haiku-4-5"
    assert started[1].cache_points == ()
    check(session)


@in_virtual_time
async def test_a_session_in_an_agent_goes_on_from_its_log() -> None:
    before = play([CALL, {"text": "Which card?"}])
    await before.talk("To Oslo, please.")
    state = fold("s", before.memory.events)
    after = Play(travel(), [BACK, {"text": "All set."}], state=state, agents=documents())
    await after.session.send("The blue one.")
    assert after.replies == ["All set."]
    assert after.session.state.variables["secret"] == "of the desk"


@in_virtual_time
async def test_what_a_failed_turn_left_unanswered_in_an_agent_is_its_callers_once_the_agent_has_gone() -> (
    None
):
    root = travel(options={"llmRetries": 0})
    silent = playbook([stage("ask", timeoutMs=60_000)], id="pay-desk")
    outputs = [{"text": "Which card?"}, error(529), {"text": "All set."}]
    session = play(outputs, root=root, pay_desk=silent)
    await session.talk("I want to pay", "The blue one.")
    await asyncio.sleep(61)
    await session.session.tick()
    assert session.session.state.agents == TAKING_PART
    await session.session.retry()
    said = text_of(session.llm.requests[-1])
    assert [kind for kind, _ in said] == ["dialogue", "summary", "dialogue"]
    assert said[-1][1] == "The blue one."
    assert session.replies[-1] == "All set."
    check(session)


async def test_a_program_opens_a_session_with_agents_and_functions_for_their_tools() -> None:
    charged: list[int] = []

    def card(**arguments: int) -> dict[str, Any]:
        charged.append(arguments["sum"])
        return {"paid": True}

    llm = ScriptedLLM([CALL, calls("card", "c2", sum=90), BACK, {"text": "All set."}])
    agents = {"pay-desk": pay_desk(agents=[]).model_copy(update={"transitions": pay_desk().transitions[:2]})}
    async with Session.open(travel(), llm=llm, tools={"card": card}, agents=agents) as session:
        assert await session.ask("To Oslo, please.") == "All set."
    assert charged == [90]
    with pytest.raises(InvalidPlaybook) as refused:
        Session.open(travel(), llm=llm)
    assert {problem.code for problem in refused.value.problems} == {"missing-agent-document"}
