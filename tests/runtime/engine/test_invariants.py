"""Whatever a model says and whenever it is stopped: one result per call, and the state is the fold."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation.messages import ToolCall
from runtime.engine.effects import RunTool
from runtime.engine.happened import ReplyBegan, Retry
from runtime.playbook import Playbook
from tests.runtime.desk import BOOK, DECISION, STOCK, playbook, rule, says, stage
from tests.runtime.engine.table import Table

WILD: Playbook = playbook(
    [
        stage("a", tools=[STOCK, dict(BOOK, executionPolicy="sequential", saveAs="booked")]),
        stage("b", twoPhaseExecution=False, tools=[STOCK], toolChoice="required", maxTurns=2),
        stage("c", speakOnEnter=True, onEnter=[{"call": "stock", "arguments": {"kind": "x"}}]),
        stage("d", kind="raw"),
        stage("e", kind="end"),
    ],
    [
        rule("t1", "*", "b", DECISION),
        rule("t2", "a", "c", says("go"), mode="call"),
        rule("t3", "*", None, DECISION, mode="return"),
        rule("t4", "b", "d", {"type": "tool_call", "toolName": "stock"}, mode="call"),
        rule("t5", "*", "c", {"type": "timeout", "durationMs": 5000}),
        rule("t6", "c", "e", says("end")),
        rule("t7", "*", "a", says("home", source="user"), clearHistory=True),
    ],
    options={"maxToolCallsPerTurn": 4, "phase1TimeoutMs": 4000, "turnTimeoutMs": 20_000},
)

NAMES = ["stock", "book", "playbook_transition", "nothing", "SaveArtifact"]
ARGUMENTS: list[dict[str, Any] | None] = [
    {"kind": "city"},
    {"kind": "city", "day": "Mon"},
    {"targetStage": "b"},
    {"targetStage": "return", "data": {"x": 1}, "summary": "s"},
    {"targetStage": 7},
    {},
    None,
]
CALLS = st.builds(
    lambda call_id, name, arguments: ToolCall(call_id=call_id, name=name, arguments=arguments),
    call_id=st.sampled_from(["c1", "c1", "c2", "", "action:1"]),
    name=st.sampled_from(NAMES),
    arguments=st.sampled_from(ARGUMENTS),
)
MOVES = st.one_of(
    st.tuples(st.just("says"), st.sampled_from(["hello", "home", "go"])),
    st.tuples(st.just("model"), st.sampled_from(["", "go", "fine", "end"]), st.lists(CALLS, max_size=4)),
    st.tuples(st.just("tool"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("begins")),
    st.tuples(st.just("fails")),
    st.tuples(st.just("retry")),
    st.tuples(st.just("stop"), st.sampled_from(["", "shown"])),
    st.tuples(st.just("waits"), st.integers(1, 6)),
)


class Player:
    """Does a random move if it can be done now."""

    def __init__(self) -> None:
        self.table = Table(WILD)
        self.open: list[str] = []

    def play(self, move: tuple[Any, ...]) -> None:
        getattr(self, move[0])(*move[1:])
        self.open += [effect.call.call_id for effect in self.table.wants if isinstance(effect, RunTool)]

    def says(self, text: str) -> None:
        if self.table.state.status == "idle" and self.table.state.moving is None:
            self.table.says(text)

    def model(self, text: str, calls: list[ToolCall]) -> None:
        self.table.model(text, *calls)

    def tool(self, index: int, success: bool) -> None:
        if self.open:
            self.table.tool(self.open.pop(index % len(self.open)), error=None if success else "no")

    def begins(self) -> None:
        self.table.happens(ReplyBegan(self.table.state.calls))

    def fails(self) -> None:
        self.table.model_fails()

    def retry(self) -> None:
        self.table.happens(Retry())

    def stop(self, shown: str) -> None:
        self.table.stops(shown)

    def waits(self, seconds: int) -> None:
        self.table.waits(seconds=seconds)


@given(st.lists(MOVES, max_size=40))
def test_random_models_tools_and_stops_never_break_a_session(moves: list[tuple[Any, ...]]) -> None:
    player = Player()
    for move in moves:
        player.play(move)
    table = player.table
    assert table.calls_without_one_result() == []
    assert table.state.frames
    table.stops()
    assert table.state.running is None
    assert table.state.moving is None
    assert table.calls_without_one_result() == []
