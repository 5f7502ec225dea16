"""Calls that fail: what is tried again, after how long, and what the user sees of it."""

from __future__ import annotations

import pytest

from runtime.conversation import events as ev
from runtime.llm.base import BadRequest, ConnectionLost, LLMError, Overloaded, RateLimited
from runtime.runner.retry import RetryPolicy
from tests.runtime.desk import desk
from tests.runtime.runner.play import NoChance, Play, calls, error, in_virtual_time


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
