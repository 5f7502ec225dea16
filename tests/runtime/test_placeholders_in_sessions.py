"""Placeholders and raw stages over whole sessions: only the author's text is evaluated, once for a visit."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.playbook import Playbook
from tests.runtime.desk import DECISION, playbook, rule, says, stage
from tests.runtime.long_values import go, of_kind, played, reply, tool, whole, window
from tests.runtime.runner.play import Play, calls, in_virtual_time

VARIABLES = [{"name": "id", "default": 7}, {"name": "name", "default": "Ada"}]


def one(prompt: str, *tools: dict[str, Any], **more: Any) -> Playbook:
    return playbook(
        [stage("desk", systemPrompt=prompt, tools=list(tools), **more)], variables=VARIABLES, id="one"
    )


async def prompt_of(book: Playbook) -> str:
    play = await played(book, [reply()], "hi")
    return of_kind(play, "stage")[0].partition("\n\n")[2]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Order {$id} for {name}", "Order 7 for Ada"),
        ("Stay {missing} here", "Stay {missing} here"),
        ('Like {{"a": 1}}', 'Like {"a": 1}'),
        ('Like {"a": 1}', 'Like {"a": 1}'),
        ("{id + 1} and {name.size() == 3 ? 'three' : 'more'}", "8 and three"),
    ],
)
@in_virtual_time
async def test_a_prompt_is_filled_where_it_can_be_and_else_sent_as_it_stands(written: str, sent: str) -> None:
    assert await prompt_of(one(written)) == sent


@in_virtual_time
async def test_what_stays_is_logged_and_the_session_goes_on() -> None:
    play = await played(one('Ask {missing} for {"a": 1}.'), [reply("Hello.")], "hi")
    assert play.of(ev.StageEntered)[0].unresolved == ("{missing}", '{"a": 1}')
    assert play.replies == ["Hello."]


@pytest.mark.parametrize("name", ["open_orders", "retrieval_result", "items", "class", "now_then"])
@in_virtual_time
async def test_any_identifier_is_an_ordinary_name(name: str) -> None:
    book = playbook(
        [stage("desk", systemPrompt=f"{{${name}}} {{{name}}}")], variables=[{"name": name, "default": "x"}]
    )
    assert await prompt_of(book) == "x x"


EVIL = "{1+1} {$secret} {{x}} {vars.secret} {$name|message}"


@in_virtual_time
async def test_what_a_user_a_model_or_a_tool_said_is_never_evaluated() -> None:
    book = playbook(
        [
            stage("desk", tools=[tool("look", EVIL, saveAs="found")]),
            stage(
                "next",
                systemPrompt="Found {$found}, given {data.text}, asked {turn.userMessage}.",
                onEnter=[{"set": {"copy": "vars.found + data.text"}}],
            ),
        ],
        [rule("t", "desk", "next", DECISION, transitionMessage="They said {turn.userMessage}")],
        variables=[{"name": "secret", "default": "s3cret"}, {"name": "found"}, {"name": "copy"}],
        globalSystemPrompt="Be kind.",
    )
    outputs = [calls("look"), go("next", data={"text": EVIL}), reply(EVIL), reply()]
    play = await played(book, outputs, EVIL, EVIL)
    prompt = of_kind(play, "stage", 2)[1].partition("\n\n")[2]
    assert prompt == f"Found {EVIL}, given {EVIL}, asked {EVIL}."
    assert of_kind(play, "injected", 2) == [f"They said {EVIL}"]
    assert play.session.state.variables["copy"] == EVIL + EVIL
    told = [text for kind in ("dialogue", "tool_result", "stage", "injected") for text in of_kind(play, kind)]
    assert not any("s3cret" in text or text.startswith("2 ") for text in told)


@in_virtual_time
async def test_a_message_placeholder_is_a_message_of_its_own() -> None:
    play = await played(one("Greet.{$name|message}"), [reply()], "hi")
    assert of_kind(play, "stage")[0].endswith("\n\nGreet.")
    assert of_kind(play, "injected") == ["Ada"]


@in_virtual_time
async def test_a_variable_that_changes_leaves_the_prompt_of_the_visit_and_fills_the_next_ones() -> None:
    book = playbook(
        [stage("desk", systemPrompt="For {$name}.")],
        [rule("t", "desk", "desk", says("again", source="user"))],
        variables=VARIABLES,
    )
    play = Play(book, [reply(), reply(), reply()])
    await play.talk("hi")
    await play.session.set("name", "Bo")
    await play.session.send("more")
    assert "For Ada." in whole(play)
    assert "For Bo." not in whole(play)
    await play.session.send("again")
    assert "For Bo." in of_kind(play, "stage")[-1]


@in_virtual_time
async def test_descriptions_of_targets_are_filled_once_for_the_visit() -> None:
    book = playbook(
        [stage("desk"), stage("bill", description="Bills of {$name}"), stage("plain")],
        [
            rule("t1", "desk", "bill", DECISION),
            rule("t2", "desk", "plain", {"type": "llm_decision", "description": "{name} and {nobody}"}),
        ],
        variables=VARIABLES,
    )
    play = Play(book, [reply(), reply()])
    await play.talk("hi")
    assert "- bill – Bills of Ada\n- plain – Ada and {nobody}" in of_kind(play, "stage")[0]
    assert play.of(ev.StageEntered)[0].unresolved == ("{nobody}",)
    await play.session.set("name", "Bo")
    await play.session.send("more")
    assert "Bills of Bo" not in whole(play)


@in_virtual_time
async def test_a_raw_stage_sends_exactly_its_filled_prompt_whatever_was_said_before() -> None:
    book = playbook(
        [
            stage("desk", tools=[tool("look", "x" * 600)]),
            stage("raw", kind="raw", systemPrompt="Sum up for {$name}: {turn.userMessage}"),
            stage("after"),
        ],
        [rule("t", "desk", "raw", says("sum", source="user")), rule("u", "raw", "after", says("done"))],
        variables=VARIABLES,
        globalSystemPrompt="Be kind.",
    )
    play = await played(
        book, [calls("look"), reply("One."), reply("All done."), reply()], "hi", "sum it", "so?"
    )
    request = play.llm.requests[2]
    assert [(s.kind, s.role, s.text) for s in request.window.segments] == [
        ("dialogue", "user", "Sum up for Ada: sum it")
    ]
    assert (request.window.tools, request.window.allowed_tools, request.cache_points) == ((), (), ())
    assert request.window.lane == ""
    assert play.of(ev.LLMCallStarted)[2].lane == ""
    assert play.replies[1] == "All done."
    assert [event.transition for event in play.of(ev.TransitionTriggered)] == ["t", "u"]
    assert [segment.kind for segment in window(play)][:2] == ["tools", "base"]
