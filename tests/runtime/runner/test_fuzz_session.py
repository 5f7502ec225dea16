"""Any playbook, any model, any user: a session never breaks, its log is whole, its requests are valid."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation import events as ev
from runtime.conversation.fold import apply, fold
from runtime.conversation.snapshot import canonical
from runtime.conversation.state import SessionState
from runtime.engine import NO_AGENTS
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from runtime.llm.scripted import ScriptedLLM
from runtime.playbook import Playbook, StageContextPolicy
from runtime.playbook.runnable import check_runnable
from runtime.runner.intents import LocalClassifiers
from runtime.runner.memory import MemoryStore
from runtime.runner.session import Session, SessionOver
from runtime.runner.virtual_time import VirtualClock, run_virtual
from tests.runtime.llm.valid import problems
from tests.runtime.runner.play import START, CountingTools, NoChance, OneModel
from tests.runtime.told import state_told

STAGES = ("a", "b", "c", "d")
TEXTS = (
    "",
    " ",
    "hello",
    "go on",
    "x" * 400,
    "bye \u2028 {vars.n}",
    "ü" * 90,
    "{$x} {{y}}",
    '{"intent": "leave", "confidence": 0.9}',
)
SOMETIMES = st.sampled_from([True, False, False])

mocks = st.sampled_from(
    [
        {"type": "mock", "responses": [{"result": {"free": 2, "note": "n" * 30}}]},
        {"type": "mock", "responses": [{"when": "arguments.kind == 'x'", "result": ""}, {"error": "closed"}]},
        {"type": "mock", "responses": [{"result": "long " * 400, "delayMs": 900}]},
        {"type": "mock"},
        {"type": "expression", "expression": "{'n': int(vars.n) + 1}"},
        {"type": "expression", "expression": "now"},
        {"type": "http", "url": "https://example.org"},
        None,
    ]
)


def tool(name: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "name": st.just(name),
            "description": st.sampled_from(["", "Looks."]),
            "parameters": st.sampled_from(
                [
                    {"type": "object", "properties": {"kind": {"type": "string"}}},
                    {"type": "object", "properties": {"kind": {"enum": ["x"]}}, "required": ["kind"]},
                ]
            ),
            "implementation": mocks,
            "executionPolicy": st.sampled_from(["parallel", "sequential"]),
            "saveAs": st.sampled_from([None, "n", "_hidden"]),
        }
    )


tools = st.tuples(tool("look"), tool("book")).flatmap(lambda both: st.sampled_from([[], [both[0]], [*both]]))
actions = st.lists(
    st.sampled_from(
        [
            {"set": {"n": "1 + 1"}},
            {"set": {"n": "vars.n + 1", "x": "turn.userMessage"}},
            {"set": {"x": "vars.nothing.at.all"}},
            {"call": "look", "arguments": {"kind": "$x"}},
            {"call": "look", "arguments": {"kind": "x"}},
            {"call": "look", "arguments": {"kind": "x"}},
            {"call": "missing"},
        ]
    ),
    max_size=2,
)


def stage(name: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "id": st.just(name),
            "name": st.just(name.upper()),
            "systemPrompt": st.sampled_from(["Be kind.", "", "You know {vars.n} and {$x}.", "{1 +", "{now}"]),
            "description": st.sampled_from([None, "For " + name]),
            "kind": st.sampled_from(["chat"] * 6 + ["raw", "end"]),
            "tools": tools,
            "toolChoice": st.sampled_from(["auto", "auto", "none", "required", {"name": "look"}]),
            "twoPhaseExecution": st.booleans(),
            "maxTurns": st.sampled_from([None, None, 1, 2]),
            "timeoutMs": st.sampled_from([None, None, 3000]),
            "speakOnEnter": SOMETIMES,
            "onEnter": actions,
            "onExit": actions,
        }
    )


conditions = st.sampled_from(
    [
        {"type": "keyword", "keywords": ["go"], "source": "user"},
        {"type": "keyword", "keywords": ["h.llo$", "("], "match": "regex", "source": "any"},
        {"type": "keyword", "keywords": ["ü", ""], "match": "substring"},
        {"type": "tool_call", "toolName": "look", "outcome": "any", "where": "result.free > 1"},
        {"type": "tool_call", "toolName": "book", "outcome": "error"},
        {"type": "llm_decision"},
        {"type": "llm_decision", "description": "when asked"},
        {"type": "max_turns", "count": 1},
        {"type": "timeout", "durationMs": 2000},
        {"type": "timeout", "durationMs": 2000, "since": "last_activity"},
        {"type": "custom", "expression": "vars.n > 2"},
        {"type": "custom", "expression": "turn.count >= 1", "when": "before"},
        {"type": "intent", "intent": "leave", "examples": ["bye"]},
        {"type": "intent", "intent": "stay", "confidence": 0},
    ]
)
moves = st.fixed_dictionaries(
    {
        "targetStage": st.sampled_from(STAGES),
        "mode": st.sampled_from(["goto", "goto", "call", "return"]),
        "clearHistory": SOMETIMES,
        "transitionMessage": st.sampled_from([None, "Moving."]),
        "data": st.sampled_from([None, {"a": 1}]),
    }
)
rules = st.fixed_dictionaries(
    {
        "from": st.sampled_from([*STAGES, "*"]),
        "condition": conditions,
        "action": moves,
        "priority": st.integers(-1, 1),
    }
)
documents = st.fixed_dictionaries(
    {
        "id": st.just("wild"),
        "name": st.just("Wild"),
        "stages": st.tuples(*(stage(name) for name in STAGES)),
        "transitions": st.lists(rules, max_size=7),
        "initialStage": st.sampled_from(STAGES),
        "globalTools": st.one_of(st.just([]), tool("look").map(lambda one: [one])),
        "globalSystemPrompt": st.sampled_from([None, "Be brief. " * 200]),
        "variables": st.just([{"name": "n", "default": 0}]),
        "context": st.fixed_dictionaries(
            {
                "layout": st.sampled_from([None, "append", "swap"]),
                "budgetTokens": st.sampled_from([None, 2000]),
                "cacheTtl": st.sampled_from([None, "auto", "1h"]),
            }
        ),
        "options": st.fixed_dictionaries(
            {
                "replyHold": st.sampled_from([0, 20, 160, None]),
                "maxToolCallsPerTurn": st.sampled_from([0, 1, 4]),
                "maxTransitionsPerTurn": st.sampled_from([1, 3]),
                "maxCallDepth": st.sampled_from([1, 3]),
                "phase1TimeoutMs": st.sampled_from([500, 60_000]),
                "turnTimeoutMs": st.sampled_from([2500, 300_000]),
                "llmRetries": st.sampled_from([0, 2]),
                "intentClassifier": st.sampled_from(["keyword", "keyword", "llm"]),
            }
        ),
    }
)


def numbered(document: dict[str, Any]) -> Playbook:
    """The document with an id for each transition."""
    named = [{**rule, "id": f"t{number}"} for number, rule in enumerate(document["transitions"])]
    playbook = Playbook.model_validate({**document, "transitions": named})
    check_runnable(playbook, {})
    return playbook


tool_calls = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["c1", "c1", "c2", "c3", "", "ü", "action:1"]),
        "name": st.sampled_from(
            ["look", "book", "playbook_transition", "playbook_transition", "nothing", "SaveArtifact"]
        ),
        "args": st.sampled_from(
            [
                {},
                {"kind": "x"},
                {"kind": 7},
                {"targetStage": "b"},
                {"targetStage": "d", "data": {"n": 3}},
                {"targetStage": "return", "summary": "done"},
                {"targetStage": "nowhere"},
                {"targetStage": 7},
            ]
        ),
    }
)
cut_off = st.builds(
    lambda call, raw: {"id": call["id"], "name": call["name"], "raw_args": raw},
    tool_calls,
    st.sampled_from(['{"kind": "x', "", "null", "[1]", '{"targetStage": "b"}', '{"kind": NaN}', "\ud800"]),
)
replies = st.fixed_dictionaries(
    {
        "text": st.sampled_from(TEXTS),
        "tool_calls": st.one_of(
            st.just([]), st.lists(st.one_of(tool_calls, tool_calls, cut_off), max_size=3)
        ),
    }
)
pieces = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5).map(lambda texts: {"chunks": texts})
failures = st.sampled_from(
    [
        {"error": {"type": "overloaded_error", "status": 529, "message": "busy"}},
        {"error": {"type": "invalid_request_error", "status": 400, "message": "no"}},
        {"error": {"type": "rate_limit_error", "status": 429, "headers": {"retry-after": "1"}}},
        {"error": {"type": "rate_limit_error", "status": 429, "headers": {"retry-after": "9000"}}},
        {"error": {"type": "billing_error", "status": 402, "message": "no credit"}},
        {"chunks": ["Good ", "bye, ", "x" * 300], "error": {"after_chunks": 3}},
        {"chunks": ["Wait"], "hang": True},
    ]
)
outputs = st.lists(st.one_of(replies, replies, pieces, failures), min_size=4, max_size=16)
inputs = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.sampled_from(["hello", "go", "bye", " ", "h" * 900])),
        st.tuples(st.just("interrupt"), st.sampled_from(["hello", "go"])),
        st.tuples(st.just("stop"), st.just(0)),
        st.tuples(st.just("retry"), st.just(0)),
        st.tuples(st.just("tick"), st.just(0)),
        st.tuples(st.just("set"), st.sampled_from([1, "text", {"deep": [None]}, 10**30])),
        st.tuples(st.just("use"), st.sampled_from(["append", "swap", "claude-opus-5", "budget"])),
        st.tuples(st.just("wait"), st.sampled_from([0.01, 0.5, 2.5, 400.0])),
    ),
    min_size=2,
    max_size=9,
)
paces = st.sampled_from([0.0, 0.001, 0.3])
slowness = st.sampled_from([{}, {}, {"look": 1e6}, {"book": 1e6}, {"look": 1.0, "book": 0.2}])


class SlowStore(MemoryStore):
    """Takes its time, as a disk does, so that things overlap."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def append(self, events: Sequence[ev.Event]) -> None:
        await asyncio.sleep(self._seconds)
        await super().append(events)


class WatchedLLM(ScriptedLLM):
    """Begins anew when its script is over; speaks slowly."""

    def __init__(self, script: Sequence[dict[str, Any]], pace: float) -> None:
        super().__init__(script)
        self.script, self.pace = list(script), pace

    async def stream(self, request: LLMRequest) -> Any:
        if not self.outputs:
            self.outputs[:] = self.script
        async for event in super().stream(request):
            await asyncio.sleep(self.pace)
            yield event


class Wild:
    """One session under random treatment."""

    def __init__(
        self,
        playbook: Playbook,
        script: Sequence[dict[str, Any]],
        pace: float,
        slow: Mapping[str, float],
        agents: Mapping[str, Playbook] = NO_AGENTS,
    ) -> None:
        self.llm = WatchedLLM(script, pace)
        self.models = OneModel(self.llm)
        self.store = SlowStore(pace / 3)
        self.session = Session(
            playbook,
            llms=self.models,
            tools=CountingTools(slow),
            store=self.store,
            clock=VirtualClock(START),
            session_id="s",
            agents=agents,
            rng=NoChance(),
            classifiers=LocalClassifiers("keyword"),
        )
        self.tasks: list[asyncio.Task[None]] = []
        self.held = {0: self.session.state}
        self.session.on(lambda _: self.held.update({self.session.state.seq: self.session.state}))

    async def run(self, script: Sequence[tuple[str, Any]]) -> None:
        self.begin(self.session.start())
        for kind, value in script:
            if kind == "wait":
                await asyncio.sleep(value)
            else:
                self.begin(getattr(self, kind)(value))
                await asyncio.sleep(0)
        async with asyncio.timeout(100_000):
            await asyncio.gather(*self.tasks)
        await self.session.stop()
        await self.session.aclose()

    def begin(self, work: Any) -> None:
        self.tasks.append(asyncio.ensure_future(self.forgiving(work)))

    async def forgiving(self, work: Any) -> None:
        with suppress(SessionOver):
            await work

    async def send(self, text: str) -> None:
        await self.session.send(text)

    async def interrupt(self, text: str) -> None:
        await self.session.send(text, interrupt=True)

    async def stop(self, _: int) -> None:
        await self.session.stop()

    async def retry(self, _: int) -> None:
        await self.session.retry()

    async def tick(self, _: int) -> None:
        await self.session.tick()

    async def set(self, value: Any) -> None:
        await self.session.set("n", value)

    async def use(self, what: str) -> None:
        if what == "budget":
            await self.session.use(policy=StageContextPolicy(budgetTokens=1500))
        elif what.startswith("claude"):
            await self.session.use(model=what)
        else:
            await self.session.use(layout=what)  # type: ignore[arg-type]


@given(documents, outputs, inputs, paces, slowness)
def test_any_session_is_whole(
    document: dict[str, Any],
    script: list[dict[str, Any]],
    said: list[tuple[str, Any]],
    pace: float,
    slow: dict[str, float],
) -> None:
    wild = Wild(numbered(document), script, pace, slow)
    run_virtual(lambda: wild.run(said))
    log = wild.store.events
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert fold("s", log) == wild.session.state
    assert fold("s", [ev.EVENT.validate_json(ev.EVENT.dump_json(event)) for event in log]) == fold("s", log)
    assert not [event for event in log if getattr(event, "code", None) == "internal"]
    check_turns(log)
    check_calls(log)
    check_requests(wild)
    check_held_states(wild)


def check_held_states(wild: Wild) -> None:
    """A step changes no state that somebody holds: each is still what its part of the log makes."""
    state = SessionState(session="s")
    for event in wild.store.events:
        state = apply(state, event)
        assert wild.held.get(event.seq, state) == state
    assert wild.held[0] == SessionState(session="s")


def check_turns(log: Sequence[ev.Event]) -> None:
    """A turn begins once and ends once; nothing of a turn happens outside of one, nor between
    two stages."""
    running = moving = False
    for event in log:
        if isinstance(event, ev.TransitionTriggered | ev.StageEntered | ev.FramePopped):
            moving = isinstance(event, ev.TransitionTriggered)
        if isinstance(event, ev.TurnStarted):
            assert not running
            running = True
        elif isinstance(event, ev.TurnComplete | ev.TurnInterrupted | ev.TurnFailed):
            assert running
            running = False
        elif isinstance(event, ev.LLMCallStarted | ev.LLMCallCompleted | ev.Phase2Complete):
            assert running, event
            assert not moving, event
    assert not running
    assert not moving


def check_calls(log: Sequence[ev.Event]) -> None:
    """Each call of the model begins once and ends once, and each tool call has one result. What a classifier
    asks for is its answer, and nobody runs it."""
    begun = Counter(event.call for event in log if isinstance(event, ev.LLMCallStarted))
    ended = Counter(
        event.call
        for event in log
        if isinstance(event, ev.LLMCallCompleted | ev.LLMCallFailed) and event.call in begun
    )
    assert begun == ended
    assert not begun or max(begun.values()) == 1
    classifying = {e.call for e in log if isinstance(e, ev.LLMCallStarted) and e.phase == 0}
    asked = [
        call.call_id
        for event in log
        if isinstance(event, ev.LLMCallCompleted) and event.call not in classifying
        for call in event.message.tool_calls
    ]
    answered = [
        event.call_id
        for event in log
        if isinstance(event, ev.ToolCallComplete) and not event.call_id.startswith("action:")
    ]
    assert Counter(asked) == Counter(answered)


def check_requests(wild: Wild) -> None:
    """Every request would be taken by the provider, and its state frames tell the state as it was."""
    for request in wild.llm.requests:
        _, record = wild.models.get(request.config, request.model)
        assert problems(render_anthropic(request, record)) == []
        if request.window.state_snapshot is not None:
            told = state_told(request.window.segments)
            assert canonical(told) == canonical(request.window.state_snapshot)
