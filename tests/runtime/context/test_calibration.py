"""Token counts learn from each reply's usage; what was sent keeps the count it had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.context.calibration import LEAST, MOST, corrections
from runtime.context.models import record
from runtime.context.tokens import count_tokens, kind_of_text
from runtime.conversation.fold import fold
from runtime.conversation.messages import Usage
from runtime.conversation.segments import Segment
from tests.runtime.context.talk import Talk, call
from tests.support.examples import a_share

PROSE = "The rider asks about the blue bike and whether its saddle can be changed before Tuesday. " * 6
RESULT = {"bikes": [{"number": number, "colour": "blue", "free": True} for number in range(40)]}


@dataclass
class Counting:
    """A provider that counts each kind of text in its own way."""

    factors: dict[str, float]
    hidden: int = 500
    """Tokens of text that nobody sees, in each request."""
    talk: Talk = field(default_factory=lambda: Talk().start("pick"))

    def input(self, segments: Sequence[Segment]) -> int:
        model = self.talk.model
        return self.hidden + round(
            sum(
                count_tokens(s.text, s.kind, model)[0] * self.factors.get(kind_of_text(s.text, s.kind), 1.0)
                for s in segments
            )
        )

    def ask(self, **reply: Any) -> None:
        window = self.talk.ask()
        self.talk.says(usage=Usage(fresh=self.input(window.segments)), **reply)

    def turn(self, number: int, text: str = PROSE) -> None:
        self.talk.turn(f"{number}. {text}")
        self.ask(calls=[call(f"c{number}", kind="red")])
        self.talk.result(f"c{number}", "stock", RESULT)
        self.ask(text=f"Reply {number}. {text}")
        self.talk.end("ok").wait(20)

    @property
    def learned(self) -> dict[str, float]:
        return dict(corrections(self.talk.state.windows, self.talk.model))


def newest(talk: Talk, kind: str) -> Segment:
    return next(s for s in reversed(talk.windows[-1].segments) if s.kind == kind)


def test_before_a_reply_nothing_is_corrected_and_counts_are_estimates() -> None:
    talk = Talk().start("pick")
    talk.turn(PROSE).ask()
    assert corrections(talk.state.windows, talk.model) == {}
    assert {segment.counted for segment in talk.windows[-1].segments} == {"estimate"}


def test_each_kind_of_text_gets_its_own_correction() -> None:
    counting = Counting({"prose": 1.25, "json": 0.8})
    for number in range(12):
        counting.turn(number)
    assert counting.learned["prose"] == pytest.approx(1.25, abs=0.03)
    assert counting.learned["json"] == pytest.approx(0.8, abs=0.03)


def test_new_segments_are_counted_with_it_and_say_so_and_sent_ones_keep_their_count() -> None:
    counting = Counting({"prose": 1.3})
    counting.turn(1)
    before = {segment.id: segment for segment in counting.talk.windows[-1].segments}
    for number in range(2, 9):
        counting.turn(number)
    said = newest(counting.talk, "dialogue")
    estimate, _ = count_tokens(said.text, said.kind, counting.talk.model)
    assert said.counted == "calibrated"
    assert said.tokens == pytest.approx(estimate * 1.3, rel=0.05)
    now = {segment.id: segment for segment in counting.talk.windows[-1].segments}
    assert {name: now[name] for name in before} == before


def test_a_provider_that_counts_as_was_estimated_changes_nothing() -> None:
    counting = Counting({})
    for number in range(6):
        counting.turn(number)
    assert counting.learned == {}
    assert newest(counting.talk, "dialogue").counted == "estimate"


def test_what_is_hidden_in_each_request_counts_for_no_block() -> None:
    few, many = Counting({"prose": 1.2}, hidden=0), Counting({"prose": 1.2}, hidden=9000)
    for number in range(6):
        few.turn(number)
        many.turn(number)
    assert few.learned == many.learned


def test_a_request_that_changed_what_was_sent_teaches_nothing() -> None:
    counting = Counting({"prose": 1.2})
    talk = counting.talk.turn("hi")
    counting.ask(text="hello")
    talk.end("hello").turn("a seat").call_frame("seat", "f2")
    counting.ask(text=PROSE)
    talk.end("ok").turn("this one")
    learned = counting.learned
    talk.pop(value="14C", summary="picked")
    counting.ask(text="done")
    assert counting.learned == learned


@pytest.mark.parametrize("factor", [0.1, 9.0])
def test_an_input_that_cannot_be_what_was_added_is_left_out(factor: float) -> None:
    counting = Counting(dict.fromkeys(("prose", "json"), factor), hidden=0)
    for number in range(4):
        counting.turn(number)
    assert counting.learned == {}


def test_a_model_whose_tokens_are_counted_exactly_is_not_corrected() -> None:
    counting = Counting({"prose": 1.5})
    counting.talk.model = record("gpt-6.2-sol")
    for number in range(4):
        counting.turn(number)
    assert counting.learned == {}


def test_another_model_is_not_corrected_by_it() -> None:
    counting = Counting({"prose": 1.3})
    for number in range(6):
        counting.turn(number)
    assert counting.learned
    assert corrections(counting.talk.state.windows, record("claude-opus-5")) == {}


def test_a_state_read_from_its_log_knows_the_same() -> None:
    counting = Counting({"prose": 1.3, "json": 1.1})
    for number in range(6):
        counting.turn(number)
    read = fold("s", counting.talk.log)
    assert dict(corrections(read.windows, counting.talk.model)) == counting.learned


@a_share(Fraction(1, 8))
@given(
    st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=8),
    st.lists(st.integers(1, 60_000), min_size=1, max_size=12),
)
def test_whatever_a_provider_says_corrections_stay_within_bounds(
    turns: list[tuple[int, bool]], inputs: list[int]
) -> None:
    talk = Talk().start("pick")
    for number, (size, looks) in enumerate(turns):
        talk.turn("Words, and more. " * size).ask()
        told = Usage(fresh=inputs[number % len(inputs)])
        if looks:
            talk.says(calls=[call(f"c{number}")], usage=told).result(f"c{number}", "stock", RESULT).ask()
        talk.says("Well. " * size, usage=told).end("Well.")
    found = corrections(talk.state.windows, talk.model)
    assert all(LEAST <= factor <= MOST for factor in found.values())
