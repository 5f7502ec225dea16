"""Any playbooks that call each other: a session never breaks, and each agent's requests are valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation import events as ev
from runtime.conversation.fold import apply, fold
from runtime.conversation.segments import Segment
from runtime.conversation.state import SessionState
from runtime.llm.base import LLMRequest
from runtime.playbook import Playbook
from runtime.playbook.runnable import check_runnable
from runtime.runner.virtual_time import run_virtual
from tests.runtime.runner import test_fuzz_session as fuzz

NAMES = ("one", "two")
DECLARED = [{"name": name.title(), "playbook": name} for name in NAMES]

calls_of_agents = st.fixed_dictionaries(
    {
        "from": st.sampled_from([*fuzz.STAGES, "*", "*"]),
        "condition": st.sampled_from(
            [
                {"type": "llm_decision"},
                {"type": "llm_decision"},
                {"type": "keyword", "keywords": ["go", "hello"], "source": "any"},
                {"type": "tool_call", "toolName": "look", "outcome": "any"},
                {"type": "timeout", "durationMs": 1500},
                {"type": "max_turns", "count": 1},
            ]
        ),
        "action": st.fixed_dictionaries(
            {
                "targetStage": st.sampled_from(["agent:One", "agent:Two"]),
                "mode": st.sampled_from(["call", "call", "call", "goto"]),
                "clearHistory": fuzz.SOMETIMES,
                "transitionMessage": st.sampled_from([None, "Now {$n}."]),
                "data": st.sampled_from([None, {"a": 1}]),
            }
        ),
        "priority": st.integers(-1, 2),
    }
)
returns = st.fixed_dictionaries(
    {
        "from": st.sampled_from([*fuzz.STAGES, "*"]),
        "condition": st.sampled_from(
            [
                {"type": "llm_decision"},
                {"type": "keyword", "keywords": ["hello", "bye"], "source": "any"},
                {"type": "max_turns", "count": 1},
            ]
        ),
        "action": st.just({"mode": "return", "data": {"got": 1}}),
    }
)
moving = st.tuples(
    st.lists(calls_of_agents, min_size=1, max_size=3), st.lists(returns, min_size=1, max_size=2)
)
asked = st.sampled_from(["agent:One", "agent:Two", "return", "return", "b"])
decisions = asked.map(
    lambda target: {
        "text": "",
        "tool_calls": [{"id": "m", "name": "playbook_transition", "args": {"targetStage": target}}],
    }
)


def calling(document: dict[str, Any], more: tuple[list[dict[str, Any]], list[dict[str, Any]]]) -> Any:
    """The document with rules that call agents, and rules that return; it begins where the model decides."""
    options = {**document["options"], "maxTransitionsPerTurn": 4, "maxCallDepth": 3, "maxToolCallsPerTurn": 4}
    rules = [*more[0], *more[1], *document["transitions"][:2]]
    named = [{**rule, "id": f"t{number}"} for number, rule in enumerate(rules)]
    first, *others = document["stages"]
    stages = [{**first, "kind": "chat", "toolChoice": "auto"}, *others]
    changed = {"transitions": named, "agents": DECLARED, "options": options, "stages": stages}
    return {**document, **changed, "initialStage": first["id"]}


several = st.lists(st.builds(calling, fuzz.documents, moving), min_size=3, max_size=3)
scripts = st.lists(
    st.one_of(fuzz.replies, decisions, decisions, fuzz.pieces, fuzz.failures), min_size=4, max_size=16
)


class WildAgents(fuzz.Wild):
    """A session whose playbook may call two others."""

    def __init__(self, documents: Sequence[dict[str, Any]], script: Any, pace: float, slow: Any) -> None:
        root, *called = (Playbook.model_validate(document) for document in documents)
        agents = dict(zip(NAMES, called, strict=True))
        check_runnable(root, agents)
        super().__init__(root, script, pace, slow, agents=agents)


@given(several, scripts, fuzz.inputs, fuzz.paces, fuzz.slowness)
def test_any_session_with_agents_is_whole(
    documents: list[dict[str, Any]],
    script: list[dict[str, Any]],
    said: list[tuple[str, Any]],
    pace: float,
    slow: dict[str, float],
) -> None:
    wild = WildAgents(documents, script, pace, slow)
    run_virtual(lambda: wild.run(said))
    log = wild.store.events
    assert fold("s", log) == wild.session.state
    assert fold("s", [ev.EVENT.validate_json(ev.EVENT.dump_json(event)) for event in log]) == fold("s", log)
    assert not [event for event in log if getattr(event, "code", None) == "internal"]
    fuzz.check_turns(log)
    fuzz.check_calls(log)
    fuzz.check_requests(wild)
    check_agents(log)
    for request in wild.llm.requests:
        check_lane(request, log)


def check_agents(log: Sequence[ev.Event]) -> None:
    """Who takes part is the playbook, the human and who stands on the stack; variables come back."""
    state = SessionState(session="s")
    callers: list[Any] = []
    for event in log:
        if isinstance(event, ev.FramePushed) and event.variables is not None:
            callers.append(state.variables)
        leaves = isinstance(event, ev.FramePopped) and state.frames[-1].callers_variables is not None
        state = apply(state, event)
        called = dict.fromkeys(frame.agent for frame in state.frames if frame.agent)
        assert state.agents == ("Wild", "User", *called)
        assert set(state.windows.agents) - {""} <= set(state.agents)
        if leaves:
            assert state.variables == callers.pop()


def check_lane(request: LLMRequest, log: Sequence[ev.Event]) -> None:
    """A request has nothing of another agent, and one summary of each that returned to it."""
    agent = request.window.lane.split("|")[0]
    whose = {event.frame: event.agent or "" for event in log if isinstance(event, ev.FramePushed)}
    segments = request.window.segments
    if request.window.lane:
        assert {whose.get(segment.frame or "", "") for segment in segments if segment.frame} <= {agent}
    assert max(Counter(map(id_of, segments)).values(), default=1) == 1


def id_of(segment: Segment) -> str:
    return segment.id
