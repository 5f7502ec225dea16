"""Long results and variables are kept once, under a name: what windows, state and log have of them."""

from __future__ import annotations

import json

import pytest

from runtime.conversation import events as ev
from runtime.conversation.artifacts import hash_of
from runtime.playbook.policy import StageContextPolicy
from tests.runtime.desk import playbook, rule, stage
from tests.runtime.long_values import (
    ROWS,
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


@pytest.mark.parametrize(("length", "kept"), [(500, False), (501, True)])
@in_virtual_time
async def test_a_result_becomes_an_artifact_above_the_threshold_and_not_at_it(
    length: int, kept: bool
) -> None:
    play = await played(desk(tool("read", "ü" * length)), [calls("read"), reply()], "hi")
    assert len(play.of(ev.ArtifactSaved)) == kept
    assert len(of_kind(play, "artifact")) == kept
    assert ("ü" * length in of_kind(play, "tool_result")[0]) is not kept


@in_virtual_time
async def test_the_length_of_a_structured_result_is_that_of_its_text() -> None:
    short, long = {"a": "x" * 492}, {"a": "x" * 493}
    play = await played(
        desk(tool("one", short), tool("two", long)), [calls("one"), calls("two", "c2"), reply()], "hi"
    )
    assert [event.length for event in play.of(ev.ArtifactSaved)] == [501]


@in_virtual_time
async def test_a_failed_result_never_becomes_an_artifact() -> None:
    play = await played(desk(tool("read", error="x" * 900)), [calls("read"), reply()], "hi")
    assert play.of(ev.ArtifactSaved) == []
    assert of_kind(play, "tool_result") == ["x" * 900]


@in_virtual_time
async def test_the_threshold_is_the_stages_own_then_the_playbooks_and_the_session_may_set_another() -> None:
    book = playbook(
        [stage("desk", tools=[tool("read", "x" * 30)], context={"artifactThreshold": 29})],
        context={"artifactThreshold": 1000},
    )
    assert len((await played(book, [calls("read"), reply()], "hi")).of(ev.ArtifactSaved)) == 1
    play = Play(book, [calls("read"), reply()])
    await play.session.start()
    await play.session.use(policy=StageContextPolicy(artifactThreshold=30))
    await play.session.send("hi")
    assert play.of(ev.ArtifactSaved) == []


@in_virtual_time
async def test_the_same_text_twice_is_one_artifact_and_stands_in_the_window_once() -> None:
    text = "the same long text " * 40
    play = await played(
        desk(tool("one", text), tool("two", text)),
        [calls("one"), calls("two", "c2"), calls("one", "c3"), reply()],
        "hi",
    )
    (saved,) = play.of(ev.ArtifactSaved)
    assert whole(play).count(text) == 1
    lines = of_kind(play, "tool_result")
    assert lines[0] == f"Artifact {saved.name} (text, 760 characters). Its text follows."
    assert all(
        line.startswith(f"Artifact {saved.name}: one({{}}): text, 760 characters") for line in lines[1:]
    )
    assert lines[1].endswith("Its text stands above.")


@in_virtual_time
async def test_two_equal_results_of_one_message_are_one_artifact_behind_both() -> None:
    text = "parallel " * 80
    both = {
        "tool_calls": [
            {"id": "c1", "name": "one", "args": {}},
            {"id": "c2", "name": "two", "args": {}},
        ]
    }
    play = await played(desk(tool("one", text), tool("two", text)), [both, reply()], "hi")
    kinds = [segment.kind for segment in window(play)]
    assert kinds[kinds.index("tool_result") :][:3] == ["tool_result", "tool_result", "artifact"]
    assert whole(play).count(text) == 1


@in_virtual_time
async def test_a_text_and_a_list_that_read_alike_are_two_artifacts() -> None:
    text = json.dumps(["y" * 600], separators=(",", ":"))
    play = await played(
        desk(tool("one", text), tool("two", ["y" * 600])), [calls("one"), calls("two", "c2"), reply()], "hi"
    )
    assert [event.kind for event in play.of(ev.ArtifactSaved)] == ["text", "list"]


@in_virtual_time
async def test_two_contents_whose_hashes_begin_alike_have_names_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def alike(kind: str, text: str) -> str:
        return "01234567" + hash_of(kind, text)[8:]

    monkeypatch.setattr("runtime.engine.artifacts.hash_of", alike)
    play = await played(
        desk(tool("one", "y" * 600), tool("two", "z" * 600)),
        [calls("one"), calls("two", "c2"), reply()],
        "hi",
    )
    saved = play.of(ev.ArtifactSaved)
    assert [event.content for event in saved] == ["y" * 600, "z" * 600]
    assert [event.name for event in saved] == ["a_01234567", f"a_{saved[1].hash[:12]}"]


@in_virtual_time
async def test_a_list_stays_a_list_for_tools_and_rules_and_reads_as_text() -> None:
    book = playbook(
        [
            stage(
                "desk",
                tools=[
                    tool("rows", ROWS),
                    {
                        "name": "count",
                        "parameters": {"type": "object", "properties": {"of": {"type": "array"}}},
                        "implementation": {"type": "expression", "expression": "size(arguments.of)"},
                    },
                ],
            ),
            stage("done"),
        ],
        [rule("t", "desk", "done", {"type": "tool_call", "toolName": "rows", "where": "result[7].row == 7"})],
    )
    name = (await played(book, [calls("rows"), reply()], "hi")).of(ev.ArtifactSaved)[0].name
    play = await played(book, [calls("rows"), calls("count", "c2", of=f"${name}"), reply()], "hi")
    assert play.of(ev.ArtifactSaved)[0].kind == "list"
    assert play.session.state.artifacts[name].content == ROWS
    assert result_of(play, "c2").result == 200
    assert '[{"city":"Pune","row":0},' in of_kind(play, "artifact")[0]
    assert [event.transition for event in play.of(ev.TransitionTriggered)] == ["t"]


@in_virtual_time
async def test_an_automatic_summary_has_call_type_size_and_the_beginning_in_one_line() -> None:
    text = "First line\n  second " + "z" * 600
    play = await played(desk(tool("read", text)), [calls("read", page=3), reply()], "hi")
    (saved,) = play.of(ev.ArtifactSaved)
    assert saved.summary == f'read({{"page":3}}): text, 620 characters, First line second {"z" * 61}…'
    assert saved.name == f"a_{saved.hash[:8]}"


@in_virtual_time
async def test_the_log_has_a_reference_where_the_value_was_and_the_content_once() -> None:
    text = "content " * 100
    play = await played(desk(tool("read", text, saveAs="doc")), [calls("read"), reply()], "hi")
    (saved,) = play.of(ev.ArtifactSaved)
    assert result_of(play, "c1").result == {"$artifact": saved.name}
    assert result_of(play, "c1").artifact == saved.name
    assert play.of(ev.StateChanged)[0].set == {"doc": {"$artifact": saved.name}}
    others = [
        event for event in play.memory.events if event is not saved and event.type != "llm_call_started"
    ]
    assert not any(text in event.model_dump_json() for event in others)


@in_virtual_time
async def test_a_long_value_of_a_variable_is_an_artifact_of_its_name() -> None:
    book = desk(
        {
            "name": "echo",
            "parameters": {"type": "object"},
            "implementation": {"type": "expression", "expression": "arguments.text.size()"},
        }
    )
    play = Play(book, [use("echo", "c1", text="$plan"), use("LoadArtifact", "c2", name="plan"), reply()])
    await play.session.start()
    await play.session.set("plan", "step " * 200)
    await play.session.send("hi")
    check(play)
    assert list(play.session.state.artifacts) == ["plan"]
    assert play.session.state.variables == {"plan": {"$artifact": "plan"}}
    assert result_of(play, "c1").result == 1000
    assert loads(play) == [("plan", "f1")]
    assert '"variables":{"plan":{"$artifact":"plan"}}' in of_kind(play, "state")[0]
    assert '"artifacts":{"plan":"plan: text, 1,000 characters, step step' in of_kind(play, "state")[0]


@in_virtual_time
async def test_a_variable_that_is_saved_from_a_result_and_the_result_are_one_artifact() -> None:
    play = await played(
        desk(tool("read", "r" * 700, saveAs="doc")),
        [calls("read"), use("LoadArtifact", "c2", name="doc"), reply()],
        "hi",
    )
    assert len(play.session.state.artifacts) == 1
    assert result_of(play, "c2").error == "It stands in the conversation already; read it there."


@in_virtual_time
async def test_an_artifact_variable_set_to_something_short_is_an_ordinary_variable_again() -> None:
    play = Play(desk(tool("note", "n")), [reply(), reply()])
    await play.session.start()
    await play.session.set("plan", "long " * 200)
    await play.session.send("hi")
    await play.session.set("plan", "short")
    await play.session.send("and now?")
    check(play)
    assert play.session.state.artifacts == {}
    told = of_kind(play, "state")[-1]
    assert '"changed_variables":{"plan":"short"}' in told
    assert '"deleted_artifacts":["plan"]' in told


@in_virtual_time
async def test_a_variable_set_to_another_long_value_is_told_as_a_new_artifact() -> None:
    play = Play(desk(tool("note", "n")), [reply(), reply()])
    await play.session.start()
    await play.session.set("plan", "long " * 200)
    await play.session.set("padding", {str(number): number for number in range(40)})
    await play.session.send("hi")
    await play.session.set("plan", "other " * 200)
    await play.session.send("and now?")
    assert '"new_artifacts":{"plan":"plan: text, 1,200 characters, other' in of_kind(play, "state")[-1]


@in_virtual_time
async def test_defaults_that_are_long_are_artifacts_from_the_start() -> None:
    book = desk(
        tool("note", "n"),
        variables=[{"name": "manual", "default": "page " * 200}, {"name": "city", "default": "Pune"}],
    )
    play = await played(book, [reply()], "hi")
    assert play.of(ev.SessionStarted)[0].variables == {"manual": {"$artifact": "manual"}, "city": "Pune"}
    assert play.session.state.artifacts["manual"].content == "page " * 200
    assert "page page page" not in "".join(of_kind(play, "stage"))


@in_virtual_time
async def test_expressions_see_the_content_of_the_variables_that_they_name() -> None:
    book = playbook(
        [
            stage(
                "desk",
                onEnter=[
                    {"set": {"rows": "[1,2,3].map(i, 'x'.size() == 1 ? vars.word + vars.word : '')"}},
                    {"set": {"many": "size(vars.rows)", "first": "vars['rows'][0].size()"}},
                ],
            ),
            stage("done"),
        ],
        [
            rule(
                "t",
                "desk",
                "done",
                {"type": "custom", "expression": "vars.rows[2].size() == 400", "when": "before"},
            )
        ],
        variables=[{"name": "word", "default": "w" * 200}],
    )
    play = await played(book, [reply()], "hi")
    assert play.session.state.variables["rows"] == {"$artifact": "rows"}
    assert (play.session.state.variables["many"], play.session.state.variables["first"]) == (3, 400)
    assert play.session.state.frame is not None
    assert play.session.state.frame.stage == "done"


@in_virtual_time
async def test_a_loop_over_small_data_is_not_refused_because_some_other_variable_is_huge() -> None:
    book = desk(
        tool("note", "n"),
        onEnter=[{"set": {"ok": "vars.small.exists(x, x == 2)"}}],
        variables=[{"name": "huge", "default": "h" * 2_000_000}, {"name": "small", "default": [1, 2]}],
    )
    play = await played(book, [reply()], "hi")
    assert play.session.state.variables["ok"] is True


@in_virtual_time
async def test_a_placeholder_loads_what_it_names_and_nothing_else() -> None:
    variables = [
        {"name": "doc", "default": "doc text " * 100},
        {"name": "other", "default": "other text " * 100},
        {"name": "city", "default": "Pune"},
    ]
    named = stage("desk", systemPrompt="In {city}: answer from {$doc}.", tools=[tool("note", "n")])
    play = await played(playbook([named], variables=variables), [reply()], "hi")
    assert loads(play) == [("doc", "f1")]
    assert whole(play).count("doc text " * 100) == 1
    assert "other text other" not in of_kind(play, "artifact")[0]
    assert "In Pune: answer from [artifact doc]." in of_kind(play, "stage")[0]
    unnamed = stage("desk", systemPrompt="In {city}.", tools=[tool("note", "n")])
    assert loads(await played(playbook([unnamed], variables=variables), [reply()], "hi")) == []


@pytest.mark.parametrize("source", ["{$doc}", "{doc}", "{vars.doc}", '{vars["doc"]}'])
@in_virtual_time
async def test_every_way_to_name_a_variable_loads_it(source: str) -> None:
    book = playbook(
        [stage("desk", systemPrompt=f"From {source}.")], variables=[{"name": "doc", "default": "d" * 600}]
    )
    play = await played(book, [reply()], "hi")
    assert loads(play) == [("doc", "f1")]
    assert "From [artifact doc]." in of_kind(play, "stage")[0]


@in_virtual_time
async def test_a_placeholder_of_its_own_message_loads_the_artifact_and_leaves_nothing_inline() -> None:
    book = playbook(
        [stage("desk", systemPrompt="Answer.{$doc|message}")],
        variables=[{"name": "doc", "default": "d" * 600}],
    )
    play = await played(book, [reply()], "hi")
    assert of_kind(play, "stage")[0].endswith("\n\nAnswer.")
    assert len(of_kind(play, "artifact")) == 1
    assert of_kind(play, "injected") == []


@in_virtual_time
async def test_a_raw_stage_gets_the_whole_content_in_its_prompt() -> None:
    book = playbook(
        [stage("raw", kind="raw", systemPrompt="Sum up: {$doc}")],
        variables=[{"name": "doc", "default": "d" * 30_000}],
    )
    play = await played(book, [reply("short")])
    assert [segment.text for segment in window(play)] == ["Sum up: " + "d" * 30_000]
    assert loads(play) == []
