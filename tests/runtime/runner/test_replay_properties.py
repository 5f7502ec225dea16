"""Whatever models, tools and users do, and whenever: valid requests, one result per call, a whole log."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation.events import EVENT
from runtime.conversation.fold import fold
from runtime.playbook import Playbook
from tests.runtime.desk import BOOK, DECISION, STOCK, playbook, rule, says, stage
from tests.support.replays import Json, Replayed, replayed


def wild(layout: str, options: Json) -> Playbook:
    """Every kind of stage, move and tool in one small playbook."""
    stages = [
        stage("a", tools=[STOCK, dict(BOOK, executionPolicy="sequential", saveAs="booked")], maxTurns=4),
        stage("b", twoPhaseExecution=False, tools=[STOCK], toolChoice="required", maxTurns=2),
        stage("c", speakOnEnter=True, onEnter=[{"set": {"entered": "turn.count"}}]),
        stage("d", kind="raw"),
        stage("e", kind="end"),
    ]
    rules = [
        rule("t1", "*", "b", DECISION),
        rule("t2", "a", "c", says("go"), mode="call", transitionMessage="Over to you."),
        rule("t3", "*", None, DECISION, mode="return"),
        rule("t4", "b", "d", {"type": "tool_call", "toolName": "stock"}, mode="call"),
        rule("t5", "*", "c", {"type": "timeout", "durationMs": 5000, "since": "last_activity"}),
        rule("t6", "c", "e", says("end")),
        rule("t7", "*", "a", says("home", source="user"), clearHistory=True),
    ]
    return playbook(stages, rules, context={"layout": layout}, options=options)


WORDS = st.sampled_from(["hello", "home", "go", "end", "", " ", "fine " * 60, "a\nb", "👩‍🔧"])
ARGUMENTS = ['{"kind": "x"}', '{"kind": "x", "day": "Mon"}', '{"targetStage": "b"}']
ARGUMENTS += ['{"targetStage": "return"}', "{", ""]
CALLS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["c1", "c2", "c:3"]),
        "name": st.sampled_from(["stock", "book", "playbook_transition", "nothing"]),
        "raw_args": st.sampled_from(ARGUMENTS),
    }
)
COUNT = st.integers(0, 99)
USAGE = st.fixed_dictionaries({"fresh": COUNT, "read": COUNT, "output": COUNT})
ERRORS = st.fixed_dictionaries(
    {"status": st.sampled_from([400, 401, 429, 500, 529]), "after_chunks": st.integers(0, 2)}
)
OUTPUTS = st.one_of(
    st.fixed_dictionaries({"text": WORDS}, optional={"usage": USAGE, "stop": st.just("max_tokens")}),
    st.fixed_dictionaries({"chunks": st.lists(WORDS, max_size=3)}, optional={"thinking": st.just("hm")}),
    st.fixed_dictionaries({"tool_calls": st.lists(CALLS, min_size=1, max_size=4)}, optional={"text": WORDS}),
    st.fixed_dictionaries({"error": ERRORS, "chunks": st.lists(WORDS, max_size=3)}),
    st.just({"hang": True}),
)
# Mostly the outputs last: a turn that runs out of them ends early.
MODEL = st.builds(
    lambda outputs, spare: [*outputs, *[{"text": "fine"}] * spare],
    st.lists(OUTPUTS, max_size=6),
    st.sampled_from([0, 6, 6, 6]),
)
MOMENT = st.one_of(
    st.fixed_dictionaries({"at_chunk": st.integers(1, 3)}),
    st.fixed_dictionaries({"after_ms": st.integers(0, 3000)}),
)
STEPS = st.one_of(
    st.fixed_dictionaries({"user": WORDS, "model": MODEL}),
    st.fixed_dictionaries({"user": WORDS, "model": MODEL, "stop": MOMENT}),
    st.fixed_dictionaries({"wait_s": st.floats(0, 20), "model": MODEL}),
    st.fixed_dictionaries({"retry": st.just(True), "model": MODEL}),
    st.fixed_dictionaries({"set": st.dictionaries(st.sampled_from(["x", "y"]), WORDS, min_size=1)}),
    st.fixed_dictionaries({"fork": st.fixed_dictionaries({"turn": st.integers(0, 3)})}),
)
TOOLS = st.fixed_dictionaries(
    {},
    optional={
        "stock": st.sampled_from([{"returns": 1}, {"raises": "Closed."}, {"returns": "x", "sleep_s": 3}]),
        "book": st.sampled_from([{"returns": None}, {"returns": {"id": 1}, "sleep_s": 0.5}]),
    },
)
OPTIONS = st.fixed_dictionaries(
    {"llmRetries": st.integers(0, 2), "turnTimeoutMs": st.just(20_000), "phase1TimeoutMs": st.just(4000)},
    optional={
        "maxToolCallsPerTurn": st.integers(0, 3),
        "historyLimit": st.integers(1, 6),
        "replyHold": st.sampled_from([None, 0, 3]),
    },
)


def log_of(seen: Replayed) -> list[Any]:
    """The log of the session that was played last, read back from its JSON."""
    log: list[Any] = []
    for entry in seen.events:
        event = EVENT.validate_python({name: value for name, value in entry.items() if name != "kind"})
        log = [*log[: event.seq - 1], event]
    return log


@given(st.sampled_from(["append", "swap"]), OPTIONS, TOOLS, st.lists(STEPS, min_size=1, max_size=7))
def test_any_script_leaves_a_whole_log_and_valid_requests(
    layout: str, options: Json, tools: Json, chat: list[Json]
) -> None:
    # The last step logs something, so that what a fork before it left out is known.
    seen = replayed(wild(layout, options), *chat, {"set": {"last": 1}}, tools=tools)
    log = log_of(seen)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    asked: Counter[str] = Counter()
    for event in log:
        if event.type == "llm_call_completed":
            asked.update(call.call_id for call in event.message.tool_calls)
    answered = Counter(event.call_id for event in log if event.type == "tool_call_complete")
    assert asked == Counter({k: n for k, n in answered.items() if not k.startswith("action:")})
    state = fold(log[0].session, [event.model_copy(update={"session": log[0].session}) for event in log])
    assert state.status in ("idle", "complete")
    assert dict(state.variables) == seen.end["variables"]
    assert [frame.stage for frame in state.frames] == seen.end["callStack"]


@given(OPTIONS, TOOLS, st.lists(STEPS, min_size=1, max_size=5))
def test_a_script_plays_the_same_each_time(options: Json, tools: Json, chat: list[Json]) -> None:
    document = wild("append", options)
    first, second = (json.dumps(replayed(document, *chat, tools=tools).items) for _ in range(2))
    assert first == second
