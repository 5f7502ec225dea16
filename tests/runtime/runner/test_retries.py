"""Calls that fail: what is tried again, after how long, and what the user sees of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation import events as ev
from runtime.llm.base import BadRequest, ConnectionLost, LLMError, Overloaded, RateLimited
from runtime.runner.ports import Delta
from runtime.runner.retry import RetryPolicy
from runtime.runner.virtual_time import run_virtual
from tests.runtime.desk import DECISION, desk, rule
from tests.runtime.runner.play import Chance, NoChance, Play, calls, error, in_virtual_time


@in_virtual_time
async def test_a_retry_repeats_only_the_failed_call() -> None:
    """B046: the booking is made once."""
    play = Play(
        desk(start="pick"), [calls("book", kind="city", day="Mon"), error(500), {"text": "It is reserved."}]
    )
    await play.talk("book city for Monday")
    assert play.tools.ran == ["book"]
    assert play.replies == ["It is reserved."]
    retry = play.of(ev.LLMCallRetry)[0]
    assert (retry.call, retry.attempt, retry.status, retry.wait_ms) == (2, 1, 500, 1000)
    assert len(play.llm.requests) == 3
    assert play.llm.requests[1].window == play.llm.requests[2].window


@in_virtual_time
async def test_after_the_last_retry_the_turn_fails_and_can_be_taken_up_again() -> None:
    outputs = [calls("book", kind="city", day="Mon"), *[error(500)] * 4, {"text": "It is reserved."}]
    play = Play(desk(start="pick"), outputs)
    await play.talk("book city for Monday")
    assert [event.wait_ms for event in play.of(ev.LLMCallRetry)] == [1000, 2000, 4000]
    assert len(play.of(ev.TurnFailed)) == 1
    await play.session.retry()
    assert play.replies == ["It is reserved."]
    assert play.tools.ran == ["book"]


@in_virtual_time
async def test_a_bad_request_is_not_tried_again() -> None:
    play = Play(desk(start="close"), [error(400, "invalid_request_error")])
    await play.talk("hi")
    assert play.of(ev.LLMCallRetry) == []
    assert play.of(ev.TurnFailed)[0].turn == 1


@in_virtual_time
async def test_what_the_provider_asks_to_wait_is_waited() -> None:
    play = Play(
        desk(start="close"), [error(429, "rate_limit_error", headers={"retry-after": "7"}), {"text": "Yes."}]
    )
    await play.talk("hi")
    assert play.of(ev.LLMCallRetry)[0].wait_ms == 7000
    assert play.replies == ["Yes."]


@in_virtual_time
async def test_a_wait_past_the_turns_deadline_fails_at_once() -> None:
    impatient = desk(start="close", options={"turnTimeoutMs": 5000})
    play = Play(impatient, [error(429, "rate_limit_error", headers={"retry-after": "60"})])
    await play.talk("hi")
    assert len(play.of(ev.TurnFailed)) == 1
    assert play.of(ev.TurnFailed)[0].at == play.of(ev.TurnStarted)[0].at


@in_virtual_time
async def test_text_of_a_broken_try_is_withdrawn_and_the_next_try_starts_clean() -> None:
    broken = {"chunks": ["Good", "bye"], "error": {"after_chunks": 2}}
    play = Play(desk(start="close"), [broken, {"text": "Farewell."}])
    await play.talk("hi")
    assert [event.text for event in play.of(ev.TextWithdrawn)] == ["Goodbye"]
    assert play.replies == ["Farewell."]
    assert play.deltas[-1].offset == 0


QUOTA = [(402, "billing_error"), (402, "api_error"), (429, "insufficient_quota"), (200, "billing_error")]


@pytest.mark.parametrize(("status", "kind"), QUOTA)
@in_virtual_time
async def test_a_spent_quota_is_tried_once_and_the_session_goes_on_when_there_is_credit_again(
    status: int, kind: str
) -> None:
    play = Play(desk(start="close"), [error(status, kind), {"text": "Yes."}, {"text": "And again."}])
    await play.talk("hi")
    assert (len(play.llm.requests), play.of(ev.LLMCallRetry)) == (1, [])
    [call] = play.of(ev.LLMCallFailed)
    assert (call.code, call.retryable) == ("quota_spent", False)
    [turn] = play.of(ev.TurnFailed)
    assert (turn.code, turn.retryable, turn.at) == ("quota_spent", True, play.of(ev.TurnStarted)[0].at)
    assert "credit" in turn.message
    await play.session.retry()
    await play.session.send("more")
    assert play.replies == ["Yes.", "And again."]


@in_virtual_time
async def test_after_a_spent_quota_the_next_message_begins_a_turn_of_its_own() -> None:
    outputs = [calls("book", kind="city", day="Mon"), error(402, "billing_error"), {"text": "Yes?"}]
    play = Play(desk(start="pick"), outputs)
    await play.talk("book city for Monday", "are you there?")
    assert play.tools.ran == ["book"]
    assert play.replies == ["Yes?"]
    assert [event.turn for event in play.of(ev.TurnComplete)] == [2]


WORTH_A_RETRY: list[dict[str, Any]] = [
    *({"status": status} for status in (408, 409, 429, 500, 502, 503, 504, 529)),
    *({"status": 200, "type": kind} for kind in ("overloaded_error", "rate_limit_error", "api_error")),
    {"status": 200, "type": "timeout_error"},
    {"type": "connection_error"},
    {"type": "timeout"},
    {},
]
POINTLESS: list[dict[str, Any]] = [
    *({"status": status} for status in (400, 401, 403, 404, 413, 422)),
    *({"status": 200, "type": kind} for kind in ("invalid_request_error", "permission_error")),
    {"status": 400, "message": "prompt is too long"},
]


@pytest.mark.parametrize("failure", WORTH_A_RETRY)
@in_virtual_time
async def test_what_may_pass_is_tried_again(failure: dict[str, Any]) -> None:
    wording = {"message": "invalid_request: never try this again", **failure}
    play = Play(desk(start="close"), [{"error": wording}, {"text": "Yes."}])
    await play.talk("hi")
    assert play.replies == ["Yes."]
    assert [(event.attempt, event.wait_ms) for event in play.of(ev.LLMCallRetry)] == [(1, 1000)]
    assert play.of(ev.LLMCallFailed) == []


@pytest.mark.parametrize("failure", POINTLESS)
@in_virtual_time
async def test_what_would_fail_again_is_not_tried_again_whatever_it_says(failure: dict[str, Any]) -> None:
    wording = {"message": "429 overloaded, rate limit, please try again", **failure}
    play = Play(desk(start="close"), [{"error": wording}, {"text": "Yes."}])
    await play.talk("hi")
    assert (len(play.llm.requests), play.of(ev.LLMCallRetry)) == (1, [])
    assert [event.retryable for event in play.of(ev.LLMCallFailed)] == [False]
    await play.session.send("hello?")
    assert play.replies == ["Yes."]


@pytest.mark.parametrize("retries", [0, 1, 5])
@in_virtual_time
async def test_every_attempt_is_an_event_and_there_are_as_many_as_the_playbook_says(retries: int) -> None:
    patient = desk(start="close", options={"llmRetries": retries})
    play = Play(patient, [error(529, "overloaded_error")] * 9)
    await play.talk("hi")
    assert len(play.llm.requests) == retries + 1
    assert [event.attempt for event in play.of(ev.LLMCallRetry)] == list(range(1, retries + 1))
    assert len(play.of(ev.LLMCallStarted)) == len(play.of(ev.LLMCallFailed)) == 1
    assert play.of(ev.LLMCallFailed)[0].retryable


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
@in_virtual_time
async def test_chance_adds_up_to_a_quarter_to_each_wait_and_so_long_is_waited(share: float) -> None:
    outputs = [*[error(500)] * 3, {"text": "Yes."}]
    play = Play(desk(start="close"), outputs, chance=Chance(share))
    await play.talk("hi")
    waits = [event.wait_ms for event in play.of(ev.LLMCallRetry)]
    assert waits == [round(seconds * 1000 * (1 + share / 4)) for seconds in (1, 2, 4)]
    took = play.of(ev.TurnComplete)[0].at - play.of(ev.TurnStarted)[0].at
    assert took == timedelta(seconds=7 * (1 + share / 4))


@given(share=st.floats(0, 1, exclude_max=True), attempt=st.integers(1, 3))
def test_waits_are_never_shorter_than_1_2_4_seconds_nor_a_quarter_longer(share: float, attempt: int) -> None:
    seconds = RetryPolicy().wait(Overloaded("x"), attempt, Chance(share), remaining_s=100)
    assert seconds is not None
    assert 2 ** (attempt - 1) <= seconds <= 2 ** (attempt - 1) * 1.25


@in_virtual_time
async def test_waits_add_up_and_the_one_that_would_pass_the_turns_deadline_is_not_begun() -> None:
    limited = error(429, "rate_limit_error", headers={"retry-after": "12"})
    play = Play(desk(start="close", options={"turnTimeoutMs": 20_000}), [limited] * 4)
    await play.talk("hi")
    assert [event.wait_ms for event in play.of(ev.LLMCallRetry)] == [12_000]
    assert play.of(ev.TurnFailed)[0].at - play.of(ev.TurnStarted)[0].at == timedelta(seconds=12)


@in_virtual_time
async def test_a_date_to_wait_for_is_obeyed_by_the_providers_own_clock() -> None:
    headers = {"Date": "Mon, 05 Jan 2026 21:00:00 GMT", "Retry-After": "Mon, 05 Jan 2026 21:00:09 GMT"}
    play = Play(desk(start="close"), [error(503, headers=headers), {"text": "Yes."}])
    await play.talk("hi")
    assert [event.wait_ms for event in play.of(ev.LLMCallRetry)] == [9000]


@in_virtual_time
async def test_waits_count_in_the_time_of_phase_1_after_which_the_reply_is_asked_for() -> None:
    busy = desk(start="pick", options={"phase1TimeoutMs": 5000})
    limited = error(429, "rate_limit_error", headers={"retry-after": "60"})
    play = Play(busy, [limited, {"text": "Without looking: yes."}])
    await play.talk("hi")
    assert play.replies == ["Without looking: yes."]
    assert play.of(ev.TurnComplete)[0].at - play.of(ev.TurnStarted)[0].at == timedelta(seconds=5)
    assert [event.call for event in play.of(ev.LLMCallStarted)] == [1, 2]


@in_virtual_time
async def test_each_broken_try_is_withdrawn_before_the_next_is_shown() -> None:
    tries = [{"chunks": ["Good", word], "error": {"after_chunks": 2}} for word in ("bye", " day", "ness")]
    play = Play(desk(start="close"), [*tries, {"chunks": ["Fare", "well."]}])
    await play.talk("hi")
    on_screen, screens = "", []
    for item in play.heard:
        if isinstance(item, Delta):
            assert item.offset == len(on_screen)
            on_screen += item.text
        elif isinstance(item, ev.TextWithdrawn):
            assert item.text == on_screen
            screens.append(on_screen)
            on_screen = ""
    assert screens == ["Goodbye", "Good day", "Goodness"]
    assert (on_screen, play.replies) == ("Farewell.", ["Farewell."])


@in_virtual_time
async def test_text_of_the_last_try_is_withdrawn_when_the_turn_fails() -> None:
    broken = {"chunks": ["Good", "bye"], "error": {"after_chunks": 2}}
    play = Play(desk(start="close", options={"llmRetries": 0}), [broken])
    await play.talk("hi")
    assert [event.text for event in play.of(ev.TextWithdrawn)] == ["Goodbye"]
    assert [type(event) for event in play.memory.events[-3:]] == [
        ev.TextWithdrawn,
        ev.LLMCallFailed,
        ev.TurnFailed,
    ]


@in_virtual_time
async def test_text_that_was_held_back_goes_with_its_try_and_nobody_hears_of_it() -> None:
    held = {"chunks": ["Let me see", " what"], "error": {"after_chunks": 2}}
    play = Play(desk(start="pick"), [held, {"text": "Two."}])
    await play.talk("hi")
    assert play.of(ev.TextWithdrawn) == []
    assert (play.shown, play.replies) == ("Two.", ["Two."])


failures = st.sampled_from([error(500), error(529, "overloaded_error"), {"error": {"after_chunks": 0}}])
tries = st.lists(st.lists(failures, max_size=3), min_size=4, max_size=4)


@given(tries)
def test_no_tool_runs_twice_wherever_tries_fail(failing: list[list[dict[str, Any]]]) -> None:
    """Each answer of the model comes after up to three tries that failed."""
    both = [{"id": f"c{n}", "name": "stock", "args": {"kind": "city"}} for n in (2, 3)]
    answers: list[dict[str, Any]] = [
        calls("book", kind="city", day="Mon"),
        {"tool_calls": both},
        calls("playbook_transition", "c4", targetStage="close"),
        {"text": "Done."},
    ]
    move = rule("t-go", "pick", "close", DECISION)
    outputs = [
        output for failed, answer in zip(failing, answers, strict=True) for output in (*failed, answer)
    ]
    play = Play(desk(move, start="pick"), outputs)
    run_virtual(lambda: play.talk("book city for Monday"))
    assert play.tools.ran == ["book", "stock", "stock"]
    assert [event.call_id for event in play.of(ev.ToolCallStart)] == ["c1", "c2", "c3", "c4"]
    assert len(play.of(ev.LLMCallRetry)) == sum(map(len, failing))
    assert play.replies == ["Done."]


@pytest.mark.parametrize(
    ("failure", "attempt", "expected"),
    [
        (Overloaded("x"), 1, 1.0),
        (Overloaded("x"), 3, 4.0),
        (Overloaded("x"), 4, None),
        (RateLimited("x", retry_after=9.0), 1, 9.0),
        (RateLimited("x", retry_after=999.0), 1, None),
        (ConnectionLost("x"), 2, 2.0),
        (BadRequest("x"), 1, None),
        (LLMError("429 in the text means nothing"), 1, None),
    ],
)
def test_the_policy_decides_by_type(failure: LLMError, attempt: int, expected: float | None) -> None:
    assert RetryPolicy().wait(failure, attempt, NoChance(), remaining_s=100) == expected
