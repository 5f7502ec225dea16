"""Sessions whose windows grow too long: what the user sees, what the log says, what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from runtime.context.models import record
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.fold import fold
from runtime.inspector.calls import CallLog
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMEvent, LLMRequest
from runtime.llm.scripted import ScriptedLLM
from runtime.runner.memory import MemoryStore
from tests.runtime.desk import DECISION, STOCK, playbook, rule, stage
from tests.runtime.llm.valid import problems
from tests.runtime.runner.play import OneModel, Play, calls, error, in_virtual_time

MODEL = record("claude-sonnet-5")
WORDS = "Every word of this is about a journey through the hills. " * 12


def one_stage(**context: Any) -> Any:
    return playbook([stage("pick", tools=[STOCK])], context=context)


def going_down(**context: Any) -> Any:
    """A stage that calls another, which returns."""
    rules = [
        rule("down", "desk", "seat", DECISION, mode="call"),
        rule("back", "seat", None, DECISION, mode="return"),
    ]
    return playbook([stage("desk"), stage("seat")], rules, context=context)


class _Waits(ScriptedLLM):
    """Lets one call wait for its word before it answers."""

    def __init__(self, outputs: Sequence[Mapping[str, Any]], at: int) -> None:
        super().__init__(outputs)
        self.go = asyncio.Event()
        self._at = at

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        if request.call == self._at:
            await self.go.wait()
        async for event in super().stream(request):
            yield event


def move(target: str, call_id: str, **more: Any) -> dict[str, Any]:
    return calls("playbook_transition", call_id, targetStage=target, **more)


# -- what does not fit -------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_message_that_can_never_fit_is_refused_with_both_sizes_and_nothing_is_sent() -> None:
    """B054: the refused message is no part of the next request."""
    play = Play(one_stage(budgetTokens=2000), [{"text": "Noted."}, {"text": "heron"}])
    await play.talk("My code word is heron.", WORDS * 40, "What was my code word?")
    failed = play.of(ev.TurnFailed)
    assert [(event.code, event.retryable) for event in failed] == [("window_full", False)]
    assert "2,000" in failed[0].message
    assert len(play.llm.requests) == 2
    said = [s.text for s in play.llm.requests[-1].window.segments if s.kind == "dialogue"]
    assert said == ["My code word is heron.", "Noted.", "What was my code word?"]
    assert play.replies == ["Noted.", "heron"]


@in_virtual_time
async def test_instructions_and_tools_that_fill_the_window_do_not_make_it_compact_each_turn() -> None:
    """B058."""
    document = playbook(
        [stage("pick", systemPrompt=WORDS * 10)], context={"budgetTokens": 4000, "budgetTarget": 800}
    )
    play = Play(document, [{"text": f"hi {n}"} for n in range(5)])
    await play.talk(*(f"hello {n}" for n in range(5)))
    assert play.replies == [f"hi {n}" for n in range(5)]
    assert play.of(ev.WindowRewritten) == []


@in_virtual_time
async def test_a_window_that_the_provider_finds_too_long_is_shortened_once_and_asked_again() -> None:
    """B061."""
    too_long = error(400, "invalid_request_error", message="prompt is too long: 205000 > 200000")
    replies = [{"text": WORDS} for _ in range(6)]
    play = Play(one_stage(), [*replies, too_long, {"text": "Shorter."}])
    await play.talk(*(f"{n} {WORDS}" for n in range(7)))
    assert play.replies[-1] == "Shorter."
    first, second = (request.window for request in play.llm.requests[-2:])
    assert second.tokens <= 0.7 * first.tokens
    started = [event for event in play.of(ev.LLMCallStarted) if event.call == 7]
    assert [event.attempt for event in started] == [1, 2]
    assert [event.rule for event in play.of(ev.WindowRewritten)] == ["must"]
    assert problems(render_anthropic(play.llm.requests[-1], MODEL)) == []


@in_virtual_time
async def test_a_window_that_is_too_long_twice_is_one_error() -> None:
    too_long = error(400, "invalid_request_error", message="prompt is too long")
    play = Play(one_stage(), [*[{"text": WORDS}] * 6, too_long, too_long, {"text": "never"}])
    await play.talk(*(f"{n} {WORDS}" for n in range(7)))
    assert [event.code for event in play.of(ev.TurnFailed)] == ["context_too_long"]
    assert len(play.llm.requests) == 8


class _LazyStore(MemoryStore):
    """Takes a moment to write, so that others get a word in."""

    async def append(self, events: Sequence[Event]) -> None:
        await asyncio.sleep(1)
        await super().append(events)


@in_virtual_time
async def test_a_call_whose_turn_ran_out_of_time_is_not_shortened_and_asked_again() -> None:
    """Else a request that was never sent would stand in the log behind the end of its turn."""
    too_long = error(400, "invalid_request_error", message="prompt is too long: 205000 > 200000")
    store, document = _LazyStore(), playbook([stage("pick")], options={"turnTimeoutMs": 20_000})
    play = Play(document, store=store)
    play.llm = answers = _Waits([*[{"text": WORDS}] * 6, too_long, {"text": "never"}], at=7)
    play.session.llms = OneModel(answers)
    await play.talk(*(f"{n} {WORDS}" for n in range(6)))
    saying = asyncio.create_task(play.session.send(f"6 {WORDS}"))
    await asyncio.sleep(20.5)  # the end of the turn is being written
    answers.go.set()
    await saying
    await asyncio.sleep(30)
    kinds = [event.type for event in store.events]
    assert "llm_call_started" not in kinds[kinds.index("turn_interrupted") :]
    assert fold("s", store.events) == play.session.state


@in_virtual_time
async def test_a_window_that_is_shortened_after_another_failure_is_the_third_try() -> None:
    too_long = error(400, "invalid_request_error", message="prompt is too long: 205000 > 200000")
    busy = error(529, "overloaded_error")
    play = Play(one_stage(), [*[{"text": WORDS}] * 6, busy, too_long, {"text": "Shorter."}])
    await play.talk(*(f"{n} {WORDS}" for n in range(7)))
    assert play.replies[-1] == "Shorter."
    assert [event.attempt for event in play.of(ev.LLMCallRetry)] == [1, 2]
    assert [event.attempt for event in play.of(ev.LLMCallStarted) if event.call == 7] == [1, 3]


@in_virtual_time
async def test_a_refused_window_with_nothing_to_shorten_is_an_error_at_once() -> None:
    too_long = error(400, "invalid_request_error", message="prompt is too long")
    play = Play(one_stage(), [too_long, {"text": "never"}])
    await play.talk("hi")
    assert [event.code for event in play.of(ev.TurnFailed)] == ["context_too_long"]
    assert len(play.llm.requests) == 1


@in_virtual_time
async def test_texts_of_artifacts_are_unloaded_for_room_and_stay_listed() -> None:
    long = {**STOCK, "implementation": {"type": "mock", "responses": [{"result": WORDS * 8}]}}
    outputs = [
        out for n in range(5) for out in (calls("stock", f"c{n}", kind=f"k{n}"), {"text": f"Seen {n}."})
    ]
    document = playbook(
        [stage("pick", tools=[long])], context={"budgetTokens": 5000, "artifactPreview": 4000}
    )
    play = Play(document, outputs)
    await play.talk(*(f"look {n}" for n in range(5)))
    assert all(request.window.tokens <= 5000 for request in play.llm.requests)
    for request in play.llm.requests:
        assert problems(render_anthropic(request, MODEL)) == []
    assert play.of(ev.ArtifactLoaded)
    kinds = [segment.kind for segment in play.llm.requests[-1].window.segments]
    assert kinds.count("artifact") <= 1


@in_virtual_time
async def test_many_artifacts_never_make_a_window_pass_its_budget() -> None:
    outputs: list[dict[str, Any]] = []
    tools = []
    for number in range(8):
        name = f"read{number}"
        result = f"{number} {WORDS * 8}"
        tools.append(
            {**STOCK, "name": name, "implementation": {"type": "mock", "responses": [{"result": result}]}}
        )
        outputs += [calls(name, f"c{number}", kind="x"), {"text": f"Read {number}."}]
    play = Play(
        playbook([stage("pick", tools=tools)], context={"budgetTokens": 8000, "keepRecent": 500}), outputs
    )
    await play.talk(*(f"read {n}" for n in range(8)))
    assert play.replies == [f"Read {n}." for n in range(8)]
    assert all(request.window.tokens <= 8000 for request in play.llm.requests)
    assert play.of(ev.ArtifactUnloaded)
    last = play.llm.requests[-1].window
    assert any("was unloaded to save room" in s.text or s.meta.get("compacted") for s in last.segments)


# -- what the log says -------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_long_session_logs_each_decision_before_what_it_rewrites() -> None:
    play = Play(one_stage(budgetTokens=4000), [{"text": WORDS} for _ in range(20)])
    await play.talk(*(f"{n} {WORDS}" for n in range(20)))
    events = play.memory.events
    for index, event in enumerate(events):
        if isinstance(event, ev.WindowRewritten):
            before = events[index - 1]
            assert isinstance(before, ev.CompactionPlanned)
            assert (before.decision, before.rule, before.numbers) == (True, event.rule, event.numbers)
    assert {event.decision for event in play.of(ev.CompactionPlanned)} == {True, False}
    assert all(request.window.tokens <= 4000 for request in play.llm.requests)


@in_virtual_time
async def test_a_call_says_which_settings_were_chosen_and_by_whom() -> None:
    document = playbook(
        [stage("pick", context={"budgetTokens": 3000})], context={"budgetTokens": 9000, "summaries": "rules"}
    )
    play = Play(document, [{"text": "hi"}])
    await play.talk("hello")
    policy = play.of(ev.LLMCallStarted)[0].policy
    assert {name: (one.value, one.origin) for name, one in policy.items()} == {
        "budgetTokens": (3000, "stage"),
        "summaries": ("rules", "playbook"),
    }
    view = CallLog().read_all(play.memory.events).view(1)
    assert view is not None
    settings = {one.name: (one.value, one.origin) for one in view.policy}
    assert settings["budgetTokens"] == (3000, "stage")
    assert settings["budgetTarget"] == (1500, "default")
    assert settings["cachePoints"] == (4, "default")
    assert len(settings) == 13


# -- summaries by a model ----------------------------------------------------------------------------------

SUMMARY = "The rider sits at the window, seat 9A."


def seats(**more: Any) -> list[dict[str, Any]]:
    return [
        move("seat", "c1"),
        {"text": WORDS * 10},
        move("return", "c2", **more),
        {"text": "You have 9A."},
    ]


@in_virtual_time
async def test_a_model_writes_the_summary_after_the_reply_in_the_old_context() -> None:
    play = Play(going_down(summaries="llm"), [*seats(), {"text": SUMMARY}])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    asked = play.llm.requests[-1]
    base = play.llm.requests[2]
    assert asked.window.segments[:-1] == base.window.segments
    assert asked.cache_points == base.cache_points
    assert "Write a summary of the trace of «Seat»" in asked.window.segments[-1].text
    started = play.of(ev.LLMCallStarted)[-1]
    assert (started.phase, started.lane, len(started.added)) == (0, base.window.lane, 1)
    assert [(event.text, event.error) for event in play.of(ev.SummaryWritten)] == [(SUMMARY, None)]
    assert problems(render_anthropic(asked, MODEL)) == []
    assert play.replies == [WORDS * 10, "You have 9A."]


@in_virtual_time
async def test_the_written_summary_is_used_when_its_place_is_rewritten_anyway() -> None:
    down = [move("seat", "c3"), {"text": "Which?"}, move("return", "c4", summary="Given."), {"text": "Done."}]
    play = Play(going_down(summaries="llm"), [*seats(), {"text": SUMMARY}, *down])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    stands = [s for s in play.session.state.windows.agent().segments if s.kind == "summary"]
    assert [s.meta["origin"] for s in stands] == ["rules"]
    await play.session.send("Another.")
    await play.session.send("Aisle.")
    window = play.llm.requests[-1].window
    assert [s.meta["origin"] for s in window.segments if s.kind == "summary"] == ["rules", "model_given"]
    assert "9A" not in "".join(
        s.text for s in window.segments if s.kind == "summary" and s.meta["origin"] == "llm"
    )


@in_virtual_time
async def test_the_written_summary_stands_after_a_rewriting_before_it() -> None:
    play = Play(
        going_down(summaries="llm", budgetTokens=5000, budgetTarget=3000, keepRecent=100),
        [*seats(), {"text": SUMMARY}, *[{"text": WORDS * 3}] * 9],
    )
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    for number in range(6):
        await play.session.send(f"{number} {WORDS}")
    rewritten = play.of(ev.WindowRewritten)[-1]
    assert rewritten.rule in ("must", "pays")
    assert any(SUMMARY in s.text for s in play.llm.requests[-1].window.segments if s.kind == "summary")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (error(529, "overloaded_error"), "overloaded"),
        ({"text": " "}, "wrote no summary"),
        ({"text": "The rider", "stop": "max_tokens"}, "cut off"),
    ],
)
@in_virtual_time
async def test_a_summary_that_fails_leaves_the_one_by_rules(outcome: dict[str, Any], words: str) -> None:
    """B059: nothing of it ever stands in the conversation."""
    play = Play(going_down(summaries="llm"), [*seats(), outcome, {"text": "Bye."}])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    written = play.of(ev.SummaryWritten)
    assert [event.text for event in written] == [None]
    assert words in (written[0].error or "")
    await play.session.send("Thanks.")
    assert play.replies[-1] == "Bye."
    summaries = [s for s in play.llm.requests[-1].window.segments if s.kind == "summary"]
    assert [s.meta["origin"] for s in summaries] == ["rules"]


class _Broken(ScriptedLLM):
    """Has a fault of its own in the answer of one call."""

    def __init__(self, outputs: Sequence[Mapping[str, Any]], at: int) -> None:
        super().__init__(outputs)
        self._at = at

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        if request.call == self._at:
            raise KeyError("delta sk-secret")
        async for event in super().stream(request):
            yield event


@in_virtual_time
async def test_a_summary_call_that_fails_inside_has_an_end_and_is_not_tried_for_ever() -> None:
    play = Play(going_down(summaries="llm"), [*seats(), {"text": "Bye."}, {"text": "Bye again."}])
    play.llm = _Broken(play.llm.outputs, at=5)
    play.session.llms = OneModel(play.llm)
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    failed = play.of(ev.LLMCallFailed)
    assert [(event.call, event.code) for event in failed] == [(5, "internal")]
    assert "sk-secret" not in failed[0].error
    assert [event.text for event in play.of(ev.SummaryWritten)] == [None]
    await play.session.send("Thanks.")
    await asyncio.sleep(30)
    assert len(play.of(ev.SummaryWritten)) == 1
    assert play.replies[-1] == "Bye."


@in_virtual_time
async def test_a_summary_call_that_a_killed_process_left_open_ends_when_the_session_goes_on() -> None:
    slow = {"chunks": ["The "], "hang": True}
    play = Play(going_down(summaries="llm"), [*seats(), slow])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(1)
    await play.session.aclose()
    state = fold("s", play.memory.events)
    again = Play(going_down(summaries="llm"), [{"text": "Bye."}, {"text": SUMMARY}], state=state)
    await again.session.send("Thanks.")
    assert [(event.call, event.code) for event in again.of(ev.LLMCallFailed)] == [(5, "superseded")]
    assert again.replies == ["Bye."]


@in_virtual_time
async def test_a_summary_in_the_making_is_given_up_when_the_user_goes_on() -> None:
    slow = {"chunks": ["The "], "hang": True}
    play = Play(going_down(summaries="llm"), [*seats(), slow, {"text": "Bye."}, {"text": SUMMARY}])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(1)
    await play.session.send("Thanks.")
    assert play.replies[-1] == "Bye."
    assert [event.code for event in play.of(ev.LLMCallFailed)] == ["superseded"]
    await asyncio.sleep(30)
    assert [event.text for event in play.of(ev.SummaryWritten)] == [SUMMARY]
    assert fold("s", play.memory.events).windows == play.session.state.windows


@in_virtual_time
async def test_no_model_is_asked_where_it_gave_a_summary_or_where_that_does_not_pay() -> None:
    given = Play(going_down(summaries="llm"), seats(summary="They chose 9A."))
    await given.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    assert len(given.llm.requests) == 4
    small = [move("seat", "c1"), {"text": "Which?"}, move("return", "c2"), {"text": "You have 9A."}]
    cheap = Play(going_down(summaries="llm"), small)
    await cheap.talk("A seat, please.", "Window.")
    await asyncio.sleep(30)
    assert len(cheap.llm.requests) == 4
    assert "cost more than it saves" in (cheap.of(ev.SummaryWritten)[0].error or "")


@in_virtual_time
async def test_a_session_read_back_after_a_summary_goes_on_with_it() -> None:
    play = Play(going_down(summaries="llm"), [*seats(), {"text": SUMMARY}])
    await play.talk("A seat, please.", f"Window. {WORDS}")
    await asyncio.sleep(30)
    state = fold("s", play.memory.events)
    again = Play(going_down(summaries="llm"), [{"text": "Bye."}], state=state, store=MemoryStore())
    await again.session.send("Thanks.")
    assert again.session.state.windows.agent().written == {"summary.f2": SUMMARY}
