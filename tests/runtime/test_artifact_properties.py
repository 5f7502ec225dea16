"""Whatever is saved, loaded, called and returned from: each text stands in a window at most once, and each
request is valid."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation import events as ev
from runtime.conversation.artifacts import text_of
from runtime.conversation.snapshot import canonical
from runtime.playbook import Playbook
from runtime.runner.virtual_time import run_virtual
from tests.runtime.desk import DECISION, playbook, rule, says, stage
from tests.runtime.long_values import MOVE, check, reply, tool, use
from tests.runtime.runner.play import Play
from tests.runtime.told import state_told
from tests.support.examples import a_share

TEXTS = ["alpha " * 20, "beta " * 30, "gamma " * 60]
TOOLS = [tool("one", TEXTS[0]), tool("two", TEXTS[1], saveAs="kept"), tool("rows", [TEXTS[2]] * 2)]
VARIABLES = [{"name": "doc", "default": "delta " * 30}, {"name": "kept"}]


def book() -> Playbook:
    stages = [
        stage("desk", tools=TOOLS, systemPrompt="Use {$doc}."),
        stage("search", tools=TOOLS, systemPrompt="Find, with {$kept}."),
    ]
    rules = [
        rule("t-call", "desk", "search", DECISION, mode="call"),
        rule("t-again", "search", "search", DECISION, mode="call"),
        rule("t-back", "search", None, DECISION, mode="return"),
        rule("t-clear", "desk", "desk", says("clear"), clearHistory=True),
    ]
    context = {"artifactThreshold": 100, "artifactPreview": 250}
    return playbook(stages, rules, variables=VARIABLES, context=context)


NAMES = st.sampled_from(["doc", "$doc", "kept", "mine", "nothing", "FIRST", "LAST"])
VALUES = st.sampled_from(["$FIRST", "$doc", "short", TEXTS[0], [TEXTS[1]], {"a": TEXTS[2]}])
STEPS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.sampled_from([("one", {}), ("two", {}), ("rows", {})]),
    st.tuples(
        st.just("LoadArtifact"),
        st.fixed_dictionaries(
            {"name": NAMES}, optional={"offset": st.integers(0, 300), "length": st.integers(1, 400)}
        ),
    ),
    st.tuples(
        st.just("SaveArtifact"),
        st.fixed_dictionaries({"name": NAMES, "summary": st.just("s"), "value": VALUES}),
    ),
    st.tuples(st.just(MOVE), st.fixed_dictionaries({"targetStage": st.sampled_from(["search", "return"])})),
    st.tuples(
        st.just(MOVE),
        st.fixed_dictionaries({"targetStage": st.just("return"), "data": st.dictionaries(NAMES, VALUES)}),
    ),
)
TURNS = st.lists(st.tuples(st.lists(STEPS, max_size=5), st.sampled_from(["on", "clear"])), max_size=4)


class Scripted(Play):
    """A script whose `FIRST` and `LAST` stand for names that are only known while it plays."""

    def output(self, call_id: str, name: str, arguments: Any) -> dict[str, Any]:
        known = [artifact for artifact in self.session.state.artifacts if artifact.startswith("a_")]
        first, last = (known[0], known[-1]) if known else ("none", "none")

        def named(value: Any) -> Any:
            if isinstance(value, str):
                return value.replace("FIRST", first).replace("LAST", last)
            return {named(k): named(v) for k, v in value.items()} if isinstance(value, dict) else value

        return use(name, call_id, **named(arguments))


@given(TURNS)
@a_share(Fraction(3, 10))
def test_each_text_stands_once_and_every_request_is_valid(turns: list[Any]) -> None:
    async def main() -> None:
        outputs: list[dict[str, Any]] = []
        play = Scripted(book(), outputs)
        await play.session.start()
        for number, (steps, last) in enumerate(turns):
            made = [play.output(f"c{number}.{i}", *step) for i, step in enumerate(steps)]
            play.llm.outputs[:] = [*made, *[reply(last)] * 8]
            await play.session.send(f"turn {number}")
        check(play)
        for request in play.llm.requests:
            once(play, request.window.segments)
            assert canonical(state_told(request.window.segments)) == canonical(request.window.state_snapshot)
        unloaded = {(event.name, event.frame) for event in play.of(ev.ArtifactUnloaded)}
        assert unloaded <= {(event.name, event.frame) for event in play.of(ev.ArtifactLoaded)}

    run_virtual(main)


def once(play: Play, segments: Any) -> None:
    """No part of a content is loaded twice, and nothing long stands anywhere else than where it was said."""
    parts = [
        (s.meta["content"], s.meta["offset"], s.meta["length"]) for s in segments if s.kind == "artifact"
    ]
    assert len(parts) == len(set(parts))
    contents = [text_of(event.content) for event in play.of(ev.ArtifactSaved) if event.length > 100]
    for segment in segments:
        if segment.kind in ("tool_result", "state", "stage", "summary"):
            assert not any(text in segment.text for text in contents), segment
