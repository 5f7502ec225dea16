"""`SaveArtifact` and `LoadArtifact`, for the model and as actions."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from tests.runtime.desk import playbook, stage
from tests.runtime.long_values import (
    check,
    desk,
    loads,
    of_kind,
    played,
    reply,
    result_of,
    tool,
    use,
    whole,
    window,
)
from tests.runtime.runner.play import Play, calls, in_virtual_time


@in_virtual_time
async def test_the_tools_are_offered_once_an_artifact_exists_and_the_head_stays_as_it_was() -> None:
    play = await played(desk(tool("read", "x" * 600)), [calls("read"), reply()], "hi")
    first, second = (request.window for request in play.llm.requests)
    assert first.allowed_tools == ("read",)
    assert second.allowed_tools == ("read", "SaveArtifact", "LoadArtifact")
    assert first.segments[0] == second.segments[0]
    assert play.of(ev.WindowRewritten) == []


@in_virtual_time
async def test_a_call_before_there_is_an_artifact_is_refused() -> None:
    save = use("SaveArtifact", name="notes", summary="s", value="v")
    play = await played(desk(tool("read", "x")), [save, reply()], "hi")
    assert "There is no tool 'SaveArtifact' in this stage" in (result_of(play, "c1").error or "")
    assert play.session.state.artifacts == {}


@in_virtual_time
async def test_a_playbook_without_tools_gets_them_with_its_first_artifact_by_a_logged_rewriting() -> None:
    play = Play(playbook([stage("desk")]), [reply(), use("LoadArtifact", name="doc"), reply()])
    await play.session.start()
    await play.session.send("hi")
    await play.session.set("doc", "d" * 600)
    await play.session.send("read it")
    check(play)
    assert next(segment.kind for segment in window(play, 0)) == "base"
    assert next(segment.kind for segment in window(play)) == "tools"
    assert [event.rule for event in play.of(ev.WindowRewritten)] == ["swap"]
    assert len(of_kind(play, "artifact")) == 1


@pytest.mark.parametrize("where", ["stage", "playbook"])
@in_virtual_time
async def test_the_policy_switches_the_tools_off(where: str) -> None:
    off: dict[str, Any] = {"context": {"artifactTools": False}}
    inside, outside = (off, {}) if where == "stage" else ({}, off)
    book = playbook([stage("desk", tools=[tool("read", "x" * 600)], **inside)], **outside)
    play = await played(book, [calls("read"), use("LoadArtifact", "l1", name="a"), reply()], "hi")
    assert [each.name for each in play.llm.requests[0].window.tools] == ["read"]
    assert not result_of(play, "l1").success
    assert len(of_kind(play, "artifact")) == 1


@in_virtual_time
async def test_the_model_saves_under_a_name_and_passes_it_on_by_reference() -> None:
    echo = {
        "name": "echo",
        "parameters": {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]},
        "implementation": {"type": "expression", "expression": "arguments.rows[1]"},
    }
    outputs = [
        calls("read"),
        use("SaveArtifact", "s1", name="notes", summary="Two  \n notes", value=["one", "two"]),
        calls("echo", "e1", rows="$notes"),
        reply(),
    ]
    play = await played(desk(tool("read", "x" * 600), echo), outputs, "hi")
    assert result_of(play, "s1").result == {"artifact": "notes", "type": "list", "characters": 13}
    assert result_of(play, "e1").result == "two"
    assert play.session.state.artifacts["notes"].summary == "Two notes"
    assert play.of(ev.ToolCallStart)[-1].arguments == {"rows": "$notes"}
    assert [event.name for event in play.of(ev.ArtifactLoaded)] != ["notes"]


@in_virtual_time
async def test_what_is_saved_can_be_used_by_a_call_of_the_same_message() -> None:
    echo = {
        "name": "echo",
        "parameters": {"type": "object"},
        "implementation": {"type": "expression", "expression": "arguments.text"},
    }
    both = {
        "tool_calls": [
            {"id": "s1", "name": "SaveArtifact", "args": {"name": "n", "summary": "s", "value": "kept"}},
            {"id": "e1", "name": "echo", "args": {"text": "$n"}},
        ]
    }
    play = await played(desk(tool("read", "x" * 600), echo), [calls("read"), both, reply()], "hi")
    assert result_of(play, "e1").result == "kept"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "_mine", "summary": "s", "value": 1}, "is no name for an artifact"),
        ({"name": "a_0123abcd", "summary": "s", "value": 1}, "is no name for an artifact"),
        ({"name": "two words", "summary": "s", "value": 1}, "is no name for an artifact"),
        ({"name": "", "summary": "s", "value": 1}, "is no name for an artifact"),
        ({"name": "city", "summary": "s", "value": 1}, "'city' is a variable"),
        ({"name": "n", "summary": "s", "value": None}, "nothing to save"),
        ({"name": "n", "value": 1}, "do not fit"),
        ({"name": 5, "summary": "s", "value": 1}, "do not fit"),
    ],
)
@in_virtual_time
async def test_what_cannot_be_saved_is_said_in_words(arguments: dict[str, Any], error: str) -> None:
    book = desk(tool("read", "x" * 600), variables=[{"name": "city", "default": "Pune"}])
    play = await played(book, [calls("read"), use("SaveArtifact", "s1", **arguments), reply()], "hi")
    assert error in (result_of(play, "s1").error or "")
    assert len(play.session.state.artifacts) == 1
    assert play.session.state.variables == {"city": "Pune"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "nothing"}, "There is no artifact 'nothing'. There are: doc, a_"),
        ({"name": "_secret"}, "There is no artifact '_secret'"),
        ({"name": "$_secret"}, "There is no artifact '$_secret'"),
        ({"name": "doc", "offset": -1}, "offset counts from 0"),
        ({"name": "doc", "length": 0}, "offset counts from 0"),
        ({"name": "doc", "offset": 600}, "The artifact has 600 characters"),
        ({"offset": 1}, "do not fit"),
    ],
)
@in_virtual_time
async def test_what_cannot_be_loaded_is_said_in_words(arguments: dict[str, Any], error: str) -> None:
    variables = [{"name": "_secret", "default": "s3cret " * 100}, {"name": "doc", "default": "d" * 600}]
    book = desk(tool("read", "x" * 600), variables=variables)
    play = await played(book, [calls("read"), use("LoadArtifact", "l1", **arguments), reply()], "hi")
    assert error in (result_of(play, "l1").error or "")
    assert "s3cret" not in "".join(whole(play, number) for number in range(len(play.llm.requests)))


@in_virtual_time
async def test_a_private_variable_is_not_passed_by_a_models_reference() -> None:
    echo = {
        "name": "echo",
        "parameters": {"type": "object"},
        "implementation": {"type": "expression", "expression": "arguments.text"},
    }
    book = desk(
        tool("read", "x" * 600), echo, variables=[{"name": "_key", "default": "s3cret"}, {"name": "n"}]
    )
    play = await played(book, [calls("read"), use("echo", "e1", text="$_key"), reply()], "hi")
    assert result_of(play, "e1").result == "$_key"


@in_virtual_time
async def test_the_engines_own_tools_do_not_count_for_the_limit_and_repeating_them_comes_to_an_end() -> None:
    same = [use("SaveArtifact", f"s{n}", name="n", summary="s", value="v") for n in range(20)]
    book = playbook([stage("desk", tools=[tool("read", "x" * 600)])], options={"maxToolCallsPerTurn": 2})
    play = await played(book, [calls("read"), *same, reply()], "hi")
    assert play.replies == ["Fine."] or len(play.llm.requests) < 12
    assert play.of(ev.Phase1Complete)[0].tool_calls == 1


@in_virtual_time
async def test_actions_of_a_stage_save_and_load() -> None:
    book = playbook(
        [
            stage(
                "desk",
                tools=[tool("note", "n")],
                onEnter=[
                    {"set": {"line": "'some notes'"}},
                    {
                        "call": "SaveArtifact",
                        "arguments": {"name": "brief", "summary": "B.", "value": "$line"},
                    },
                    {"call": "LoadArtifact", "arguments": {"name": "brief"}},
                    {"call": "LoadArtifact", "arguments": {"name": "absent"}},
                ],
            )
        ]
    )
    play = await played(book, [reply()], "hi")
    assert loads(play) == [("brief", "f1")]
    assert of_kind(play, "artifact") == ["Artifact brief (text, 10 characters).\nIts text:\nsome notes"]
    assert [event.success for event in play.of(ev.ToolCallComplete)] == [True, True, False]
    assert [segment.kind for segment in window(play)] == [
        "tools",
        "base",
        "dialogue",
        "artifact",
        "state",
        "stage",
    ]


@in_virtual_time
async def test_a_stage_that_speaks_first_is_told_that_nobody_spoke_before_the_artifact() -> None:
    book = playbook(
        [stage("desk", speakOnEnter=True, systemPrompt="Greet with {$doc}.")],
        variables=[{"name": "doc", "default": "d" * 600}],
    )
    play = await played(book, [reply()])
    assert [segment.kind for segment in window(play)] == [
        "tools",
        "base",
        "injected",
        "artifact",
        "state",
        "stage",
    ]
