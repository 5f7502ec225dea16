"""Artifacts in frames and agents: loaded where they are used, listed where they are not; very long ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.playbook import Playbook
from tests.runtime.desk import DECISION, playbook, rule, says, stage
from tests.runtime.long_values import (
    called,
    check,
    desk,
    go,
    loads,
    of_kind,
    played,
    reply,
    result_of,
    tool,
    use,
    whole,
)
from tests.runtime.runner.play import Play, calls, in_virtual_time


@in_virtual_time
async def test_a_frames_artifacts_are_unloaded_and_listed_when_it_returns() -> None:
    text = "found " * 200
    play = await played(
        called(tool("find", text)),
        [go("search"), calls("find"), go("return", "m2", summary="Found it."), reply()],
        "hi",
    )
    name = play.of(ev.ArtifactSaved)[0].name
    assert loads(play) == [(name, "f2")]
    assert [(event.name, event.frame) for event in play.of(ev.ArtifactUnloaded)] == [(name, "f2")]
    assert text not in whole(play)
    assert text in whole(play, 2)
    (summary,) = of_kind(play, "summary")
    assert "Artifacts, not loaded now (LoadArtifact reads one):" in summary
    assert f"- Artifact {name}: find({{}}): text, 1,200 characters, found" in summary
    assert name in of_kind(play, "state")[-1]
    assert play.session.state.artifacts[name].loaded_in is None


@in_virtual_time
async def test_after_that_it_can_be_loaded_into_the_current_frame_once() -> None:
    text = "found " * 200
    first = await played(called(tool("find", text)), [go("search"), calls("find"), reply()], "hi")
    name = first.of(ev.ArtifactSaved)[0].name
    play = await played(
        called(tool("find", text)),
        [
            go("search"),
            calls("find"),
            go("return", "m2"),
            use("LoadArtifact", "l1", name=name),
            use("LoadArtifact", "l2", name=f"${name}"),
            reply(),
        ],
        "hi",
    )
    assert loads(play) == [(name, "f2"), (name, "f1")]
    assert whole(play).count(text) == 1
    assert result_of(play, "l1").result == {"artifact": name, "from": 0, "to": 1200, "of": 1200}
    assert not result_of(play, "l2").success


@in_virtual_time
async def test_a_frame_that_returns_after_its_reply_unloads_at_once_and_a_prompt_may_name_it_then() -> None:
    text = "found " * 200
    book = playbook(
        [
            stage("desk", tools=[tool("note", "n")]),
            stage("search", tools=[tool("find", text, saveAs="doc")]),
            stage("next", systemPrompt="Answer from {$doc}."),
        ],
        [
            rule("t-call", "desk", "search", DECISION, mode="call"),
            rule("t-back", "search", None, says("there"), mode="return"),
            rule("t-next", "desk", "next", says("again", source="user")),
        ],
        variables=[{"name": "doc"}],
    )
    play = Play(book, [go("search"), calls("find"), reply("It is there."), reply()])
    await play.talk("hi")
    assert [frame for _, frame in loads(play)] == ["f2"]
    assert [event.frame for event in play.of(ev.ArtifactUnloaded)] == ["f2"]
    await play.session.send("again")
    check(play)
    assert [frame for _, frame in loads(play)] == ["f2", "f1"]
    assert whole(play).count(text) == 1


@in_virtual_time
async def test_an_artifact_of_the_caller_is_not_loaded_again_in_what_it_calls() -> None:
    text = "found " * 200
    book = playbook(
        [stage("desk", tools=[tool("read", text)]), stage("search", tools=[tool("find", text)])],
        [
            rule("t-call", "desk", "search", DECISION, mode="call"),
            rule("t-back", "search", None, DECISION, mode="return"),
        ],
    )
    outputs = [calls("read"), go("search"), calls("find", "c2"), go("return", "m2"), reply()]
    play = await played(book, outputs, "hi")
    assert [frame for _, frame in loads(play)] == ["f1"]
    assert whole(play, 3).count(text) == whole(play).count(text) == 1


@in_virtual_time
async def test_a_long_value_that_is_returned_is_listed_and_not_loaded() -> None:
    report = "report " * 200
    play = await played(
        called(tool("find", "little")),
        [go("search"), go("return", "m2", data={"report": report, "pages": 7}), reply(), reply()],
        "hi",
        "more",
    )
    (saved,) = play.of(ev.ArtifactSaved)
    assert play.of(ev.FramePopped)[0].value == {"report": {"$artifact": saved.name}, "pages": 7}
    assert report not in whole(play)
    assert loads(play) == []
    (summary,) = of_kind(play, "summary")
    assert f'Value: {{"pages":7,"report":{{"$artifact":"{saved.name}"}}}}' in summary
    assert f"- Artifact {saved.name}: report returned by «Search»: text, 1,400 characters" in summary
    assert f'Data: {{"pages":7,"report":{{"$artifact":"{saved.name}"}}}}' in of_kind(play, "stage")[-1]


@in_virtual_time
async def test_a_value_of_many_parts_becomes_short_by_its_longest_ones() -> None:
    data = {f"part{number}": f"{number}" * (50 + 10 * number) for number in range(1, 10)}
    play = await played(
        called(tool("find", "little")), [go("search"), go("return", "m2", data=data), reply()], "hi"
    )
    value = play.of(ev.FramePopped)[0].value
    assert len(json.dumps(value, separators=(",", ":"))) <= 500
    assert value["part1"] == data["part1"]
    assert value["part9"] != data["part9"]


@in_virtual_time
async def test_a_raw_stage_that_is_called_returns_a_long_text_by_reference() -> None:
    book = playbook(
        [stage("desk", tools=[tool("note", "n")]), stage("sum", kind="raw", systemPrompt="Sum up.")],
        [rule("t", "desk", "sum", DECISION, mode="call")],
    )
    play = await played(book, [go("sum"), reply("s" * 900), reply()], "hi")
    (saved,) = play.of(ev.ArtifactSaved)
    assert play.of(ev.FramePopped)[0].value == {"value": {"$artifact": saved.name}}
    assert play.session.state.artifacts[saved.name].content == "s" * 900


@in_virtual_time
async def test_clearing_the_history_unloads_what_it_takes_away() -> None:
    text = "found " * 200
    book = playbook(
        [stage("desk", tools=[tool("find", text)]), stage("next", tools=[tool("note", "n")])],
        [rule("t", "desk", "next", says("done"), clearHistory=True)],
    )
    first = await played(book, [calls("find"), reply("done"), reply()], "hi", "more")
    name = first.of(ev.ArtifactSaved)[0].name
    assert [event.name for event in first.of(ev.ArtifactUnloaded)] == [name]
    assert text not in whole(first)
    outputs = [calls("find"), reply("done"), use("LoadArtifact", "l1", name=name), reply()]
    again = await played(book, outputs, "hi", "more")
    assert whole(again).count(text) == 1


@pytest.mark.parametrize("length", [150_000, 5_000_000])
@in_virtual_time
async def test_a_very_long_text_shows_head_and_tail_and_is_read_in_parts(length: int) -> None:
    text = ("0123456789" * (length // 10 - 1)) + "THE END !!"
    outputs = [
        calls("read"),
        use("LoadArtifact", "l1", name="$NAME", offset=70_000, length=30),
        use("LoadArtifact", "l2", name="$NAME", offset=length - 15, length=1_000_000),
        use("LoadArtifact", "l3", name="$NAME", offset=length),
        reply(),
    ]
    first = await played(desk(tool("read", text)), [calls("read"), reply()], "hi")
    name = first.of(ev.ArtifactSaved)[0].name
    named = json.loads(json.dumps(outputs).replace("$NAME", name))
    play = await played(desk(tool("read", text)), named, "hi")
    head, part, end = of_kind(play, "artifact")
    assert text[:13_333] in head
    assert text[-6_600:] in head
    assert len(head) < 20_600
    assert f"[… {length - 20_000:,} characters left out …]" in head
    assert part.endswith(f"Characters 70,000 to 70,030 of {length:,}:\n{text[70_000:70_030]}")
    assert end.endswith(f"of {length:,}:\n56789THE END !!")
    assert result_of(play, "l3").error == f"The artifact has {length:,} characters; the first one is 0."
    assert play.session.state.artifacts[name].content == text
    assert play.session.state.frames[0].stage == "desk"


@in_virtual_time
async def test_the_preview_is_as_long_as_the_policy_says_and_limits_the_parts() -> None:
    text = "".join(chr(97 + number % 26) for number in range(1000))
    book = desk(tool("read", text), context={"artifactPreview": 90})
    name = (await played(book, [calls("read"), reply()], "hi")).of(ev.ArtifactSaved)[0].name
    part = use("LoadArtifact", "l1", name=name, offset=100, length=500)
    play = await played(book, [calls("read"), part, reply()], "hi")
    head, part_text = of_kind(play, "artifact")
    assert f"\n{text[:60]}\n[… 910 characters left out …]\n{text[-30:]}" in head
    assert part_text.endswith(f"\n{text[100:190]}")


def with_agent(**variables: Any) -> tuple[Playbook, dict[str, Playbook]]:
    root = playbook(
        [stage("desk", tools=[tool("read", "from the desk " * 60)])],
        [rule("t", "desk", "agent:Reader", DECISION, mode="call")],
        agents=[{"name": "Reader", "playbook": "reader"}],
        variables=[{"name": "plan", "default": "the desk's plan " * 50}],
    )
    reader = playbook(
        [stage("read", tools=[tool("look", "seen by the agent " * 60), LENGTH])],
        [rule("back", "read", None, DECISION, mode="return")],
        variables=[{"name": name, "default": value} for name, value in variables.items()],
        id="reader",
    )
    return root, {"reader": reader}


LENGTH: dict[str, Any] = {
    "name": "length",
    "parameters": {"type": "object"},
    "implementation": {"type": "expression", "expression": "size(data.doc)"},
}


@in_virtual_time
async def test_an_agent_has_its_own_artifacts_and_those_that_its_input_refers_to() -> None:
    root, agents = with_agent(plan="the agent's plan " * 50)
    name = (await played(root, [calls("read"), reply()], "hi", agents=agents)).of(ev.ArtifactSaved)[-1].name
    outputs = [
        calls("read"),
        go("agent:Reader", data={"doc": f"${name}", "sum": 3}),
        calls("length", "c2"),
        calls("look", "c3"),
        go("return", "m2", data={"doc": "$plan", "ok": True}),
        reply(),
    ]
    play = await played(root, outputs, "hi", agents=agents)
    assert result_of(play, "c2").result == len("from the desk " * 60)
    inside = whole(play, 2)
    assert "the agent's plan" in inside
    assert "the desk's plan" not in inside
    assert f'"doc":{{"$artifact":"{name}"}}' in inside
    assert "from the desk " * 60 not in inside
    artifacts = play.session.state.artifacts
    brought = play.of(ev.FramePopped)[0].value["doc"]["$artifact"]
    assert artifacts["plan"].content == "the desk's plan " * 50
    assert artifacts[brought].content == "the agent's plan " * 50
    assert set(artifacts) == {"plan", name, brought}
    (summary,) = of_kind(play, "summary")
    listed = summary.partition("(LoadArtifact reads one):")[2]
    assert listed.startswith(f"\n- Artifact {brought}: plan: text, 850 characters")
    assert "look(" not in listed
