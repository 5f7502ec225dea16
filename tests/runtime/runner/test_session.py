"""The session as a library: order of turns, what listeners hear, stopping, starting again from a log."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence

import pytest

from runtime import Session
from runtime.conversation import events as ev
from runtime.conversation.events import EVENT, Event
from runtime.conversation.fold import fold
from runtime.llm.base import LLMEvent, LLMRequest
from runtime.llm.scripted import ScriptedLLM
from runtime.runner.memory import MemoryStore
from runtime.runner.ports import Delta, RunningText
from runtime.runner.session import SessionOver
from tests.guard import violations
from tests.runtime.desk import DECISION, STOCK, desk, playbook, rule, says, stage
from tests.runtime.runner.play import OneModel, Play, calls, in_virtual_time

LONG = "This answer is long enough to be shown before it is complete. " * 4


@in_virtual_time
async def test_a_conversation_moves_through_its_stages() -> None:
    play = Play(
        desk(),
        [
            calls("playbook_transition", targetStage="pick"),
            calls("stock", kind="city"),
            {"text": "Two city bikes are free."},
            calls("book", kind="city", day="Mon"),
            {"text": "It is booked."},
            {"text": "Goodbye."},
        ],
    )
    await play.talk("a bike", "city, Monday", "thanks")
    assert play.replies == ["Two city bikes are free.", "It is booked.", "Goodbye."]
    assert play.tools.ran == ["stock", "book"]
    assert play.session.state == fold("s", play.memory.events)
    assert violations("s", play.memory.events) == []


@in_virtual_time
async def test_the_log_survives_being_written_and_read() -> None:
    play = Play(desk(start="pick"), [calls("stock", kind="city"), {"text": "Two."}])
    await play.talk("city?")
    stored = [event.model_dump_json() for event in play.memory.events]
    assert fold("s", [EVENT.validate_json(line) for line in stored]) == play.session.state


@in_virtual_time
async def test_a_second_message_waits_for_the_running_turn() -> None:
    play = Play(
        desk(start="pick"), [calls("stock", kind="a"), {"text": "One."}, {"text": "Two."}], slow={"stock": 5}
    )
    await play.session.start()
    first = asyncio.create_task(play.session.send("one"))
    await asyncio.sleep(1)
    await play.session.send("two")
    assert first.done()
    assert play.replies == ["One.", "Two."]
    assert [event.turn for event in play.of(ev.UserMessageEvent)] == [1, 2]


@in_virtual_time
async def test_a_message_with_interrupt_cancels_the_running_turn() -> None:
    play = Play(desk(start="close"), [{"hang": True}, {"text": "Yes?"}])
    await play.session.start()
    first = asyncio.create_task(play.session.send("one"))
    await asyncio.sleep(1)
    await play.session.send("wait!", interrupt=True)
    await first
    assert play.of(ev.TurnInterrupted)[0].reason == "interrupt"
    assert play.replies == ["Yes?"]


@in_virtual_time
async def test_a_client_id_that_was_sent_before_is_ignored() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}])
    await play.session.start()
    await asyncio.gather(*(play.session.send("one", client_id="m-1") for _ in range(3)))
    await play.session.send("one", client_id="m-1")
    assert play.replies == ["Yes."]


@in_virtual_time
async def test_a_message_sent_again_interrupts_nothing_and_is_no_error_after_the_end() -> None:
    ending = playbook([stage("talk"), stage("over", kind="end")], [rule("t", "talk", "over", says("Bye"))])
    play = Play(ending, [{"text": "Yes."}, {"text": "Well."}, {"text": "Bye."}])
    await play.session.start()
    await play.session.send("one", client_id="m-1")
    running = asyncio.create_task(play.session.send("two", client_id="m-2"))
    await asyncio.sleep(0)
    await play.session.send("one", client_id="m-1", interrupt=True)
    await running
    await play.session.send("three")
    assert play.session.state.status == "complete"
    await play.session.send("one", client_id="m-1")
    assert play.replies == ["Yes.", "Well.", "Bye."]
    assert play.of(ev.TurnInterrupted) == []


@in_virtual_time
async def test_events_are_stored_before_any_listener_hears_of_them() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}])
    missing: list[Event] = []
    play.session.on(
        lambda item: (
            missing.append(item) if not isinstance(item, Delta) and item not in play.memory.events else None
        )
    )
    await play.talk("one")
    assert missing == []
    assert [item for item in play.heard if not isinstance(item, Delta)] == play.memory.events


@in_virtual_time
async def test_a_listener_that_raises_does_not_break_the_turn() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}])

    def broken(item: object) -> None:
        raise RuntimeError("no")

    unsubscribe = play.session.on(broken)
    await play.talk("one")
    assert play.replies == ["Yes."]
    unsubscribe()
    unsubscribe()


@in_virtual_time
async def test_a_long_reply_is_shown_as_it_comes_after_the_hold() -> None:
    chunks = [LONG[index : index + 20] for index in range(0, len(LONG), 20)]
    play = Play(desk(start="pick"), [{"chunks": chunks}])
    await play.talk("hi")
    assert play.shown == LONG
    assert len(play.deltas[0].text) > 160
    assert len(play.deltas) > 2
    assert [delta.offset for delta in play.deltas] == [
        sum(len(earlier.text) for earlier in play.deltas[:index]) for index in range(len(play.deltas))
    ]
    order = [item if isinstance(item, Delta) else item.type for item in play.heard]
    assert order.index("phase2_start") < order.index(play.deltas[0]) < order.index("phase2_complete")


@in_virtual_time
async def test_a_short_reply_is_shown_once_it_is_complete_and_before_phase_2_is() -> None:
    play = Play(desk(start="pick"), [{"chunks": ["Two ", "bikes."]}])
    await play.talk("hi")
    assert [delta.text for delta in play.deltas] == ["Two bikes."]
    order = [item if isinstance(item, Delta) else item.type for item in play.heard]
    assert order.index("phase2_start") < order.index(play.deltas[0]) < order.index("phase2_complete")


@in_virtual_time
async def test_text_beside_a_tool_call_never_reaches_a_listener() -> None:
    play = Play(desk(start="pick"), [calls("stock", text="Let me look.", kind="a"), {"text": "Two."}])
    await play.talk("hi")
    assert play.shown == "Two."


@in_virtual_time
async def test_a_stage_without_two_phases_streams_everything() -> None:
    one_phase = playbook([stage("a", twoPhaseExecution=False, tools=[STOCK])])
    play = Play(one_phase, [calls("stock", text="Let me look. ", kind="a"), {"text": "Two."}])
    await play.talk("hi")
    assert play.shown == "Let me look. Two."
    assert play.replies == ["Let me look. \n\nTwo."]


@in_virtual_time
async def test_stop_while_streaming_keeps_the_shown_text_and_the_next_turn_works() -> None:
    play = Play(desk(start="close"), [{"chunks": ["Good", "bye", " now"]}, {"text": "All right."}])

    def stop_at_second(item: object) -> None:
        if isinstance(item, Delta) and item.text == "bye":
            stopping.append(asyncio.ensure_future(play.session.stop()))

    stopping: list[asyncio.Future[None]] = []
    play.session.on(stop_at_second)
    await play.talk("hello")
    await asyncio.gather(*stopping)
    interrupted = play.of(ev.TurnInterrupted)[0]
    assert interrupted.shown_text == play.shown == "Goodbye"
    await play.session.send("never mind")
    assert play.replies == ["All right."]


@in_virtual_time
async def test_stop_cancels_running_tools_at_once() -> None:
    """B034."""
    play = Play(desk(start="pick"), [calls("stock", kind="city"), {"text": "All right."}], slow={"stock": 30})
    await play.session.start()
    turn = asyncio.create_task(play.session.send("city?"))
    await asyncio.sleep(1)
    await play.session.stop()
    await turn
    assert play.tools.cancelled == ["stock"]
    await play.session.send("never mind")
    assert play.replies == ["All right."]


@in_virtual_time
async def test_a_tool_that_hangs_ends_with_a_timeout_result_and_an_answer() -> None:
    """B045."""
    hanging = desk(start="pick", options={"phase1TimeoutMs": 3000})
    play = Play(
        hanging, [calls("stock", kind="city"), {"text": "Stock is not reachable."}], slow={"stock": 600}
    )
    await play.talk("go")
    assert play.replies == ["Stock is not reachable."]
    assert play.of(ev.Phase1Complete)[0].reason == "timeout"
    assert (play.of(ev.TurnComplete)[0].at - play.of(ev.TurnStarted)[0].at).total_seconds() == 3


@in_virtual_time
async def test_a_model_that_hangs_ends_the_turn_at_its_deadline() -> None:
    play = Play(desk(start="close", options={"turnTimeoutMs": 5000}), [{"hang": True}])
    await play.talk("go")
    assert play.of(ev.TurnInterrupted)[0].reason == "timeout"


@in_virtual_time
async def test_a_timer_fires_on_a_tick_and_only_when_it_is_due() -> None:
    late = rule("t", "a", "b", {"type": "timeout", "durationMs": 2000})
    play = Play(playbook([stage("a"), stage("b", speakOnEnter=True)], [late]), [{"text": "Still there?"}])
    await play.session.start()
    await play.session.tick()
    assert play.replies == []
    await asyncio.sleep(2)
    await play.session.tick()
    await play.session.tick()
    assert play.replies == ["Still there?"]
    assert play.session.next_wake is None


@in_virtual_time
async def test_a_session_goes_on_from_its_stored_log() -> None:
    before = Play(desk(), [calls("playbook_transition", targetStage="pick"), {"text": "Which?"}])
    await before.talk("a bike")
    state = fold("s", before.memory.events)
    after = Play(desk(), [{"text": "City it is."}], state=state)
    await after.session.start()
    await after.session.send("city")
    assert after.replies == ["City it is."]
    assert after.memory.events[0].seq == state.seq + 1


@in_virtual_time
async def test_a_turn_of_a_dead_process_is_ended_when_the_session_is_loaded() -> None:
    before = Play(desk(start="pick"), [calls("stock", kind="a")], slow={"stock": 100})
    await before.session.start()
    sending = asyncio.create_task(before.session.send("go"))
    await asyncio.sleep(1)
    await before.session.aclose()
    sending.cancel()
    after = Play(desk(start="pick"), [{"text": "Here again."}], state=fold("s", before.memory.events))
    await after.session.recover()
    await after.session.recover()
    assert [event.reason for event in after.of(ev.TurnInterrupted)] == ["process_died"]
    await after.session.send("hello?")
    assert after.replies == ["Here again."]


@in_virtual_time
async def test_running_text_is_what_a_viewer_who_comes_later_needs() -> None:
    play = Play(desk(start="close"), [{"chunks": ["Hel", "lo"]}])
    seen: list[RunningText | None] = []
    play.session.on(lambda item: seen.append(play.session.running_text) if isinstance(item, Delta) else None)
    await play.talk("hi")
    assert seen[-1] == RunningText(turn=1, call=1, text="Hello")
    assert play.session.running_text is None


@in_virtual_time
async def test_a_complete_session_takes_no_more_messages() -> None:
    play = Play(playbook([stage("a", kind="end")]))
    await play.session.start()
    with pytest.raises(SessionOver):
        await play.session.send("hello?")


class _FullDisk:
    """A store that fails at its third append."""

    def __init__(self) -> None:
        self.appends = 0

    async def append(self, events: Sequence[Event]) -> None:
        self.appends += 1
        if self.appends >= 3:
            raise OSError("disk full")


@in_virtual_time
async def test_a_log_that_cannot_be_written_ends_the_session_in_this_process() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}], store=_FullDisk())
    await play.session.start()
    with pytest.raises(OSError, match="disk full"):
        await play.session.send("one")
    before = play.session.state
    with pytest.raises(OSError, match="disk full"):
        await play.session.send("two")
    assert play.session.state == before


@in_virtual_time
async def test_variables_and_the_model_can_be_changed_from_outside() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}])
    await play.session.use(model="claude-opus-5")
    await play.session.start()
    await play.session.set("name", "Ada")
    await play.session.send("hi")
    assert play.session.state.variables["name"] == "Ada"
    assert play.of(ev.LLMCallStarted)[0].model == "claude-opus-5"


@in_virtual_time
async def test_a_session_can_go_back_to_what_the_playbook_says() -> None:
    play = Play(desk(start="close"), [{"text": "Yes."}])
    await play.session.use(model="claude-opus-5")
    await play.session.use(layout="swap")
    assert play.session.state.using_model == "claude-opus-5"
    await play.session.use(model="")
    assert play.session.state.using_model is None


@in_virtual_time
async def test_rules_of_the_reply_lead_on_and_a_farewell_ends_the_session() -> None:
    ending = stage("bye", kind="end", speakOnEnter=True)
    play = Play(
        playbook([stage("a"), ending], [rule("t", "a", "bye", says("done")), rule("u", "a", "a", DECISION)]),
        [{"text": "We are done."}, {"text": "Farewell."}],
    )
    await play.talk("hi")
    assert play.replies == ["We are done.", "Farewell."]
    assert play.session.state.status == "complete"


def test_the_library_is_loaded_without_django() -> None:
    code = (
        "import sys; from runtime import Session; sys.exit(bool({'django', 'anthropic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert Session.__name__ == "Session"


@in_virtual_time
async def test_a_long_reply_that_a_rule_forestalls_is_never_shown() -> None:
    booked = rule("t", "pick", "close", {"type": "tool_call", "toolName": "book"})
    play = Play(
        desk(booked, start="pick"),
        [calls("book", kind="city", day="Mon"), {"chunks": [LONG, LONG]}, {"text": "Thank you."}],
    )
    await play.talk("book it")
    assert play.shown == "Thank you."
    assert play.session.state.frame is not None
    assert play.session.state.frame.stage == "close"


@in_virtual_time
async def test_a_short_reply_that_a_rule_forestalls_is_not_shown_and_its_usage_is_kept() -> None:
    booked = rule("t", "pick", "close", {"type": "tool_call", "toolName": "book"})
    short = {"text": "Booked!", "usage": {"input_tokens": 50, "output_tokens": 5}}
    play = Play(
        desk(booked, start="pick"), [calls("book", kind="city", day="Mon"), short, {"text": "Thank you."}]
    )
    await play.talk("book it")
    assert play.shown == "Thank you."
    assert play.of(ev.LLMCallFailed) == []
    assert play.of(ev.LLMCallCompleted)[1].usage is not None


@in_virtual_time
async def test_a_turn_that_a_dead_process_left_can_be_taken_up_again() -> None:
    before = Play(desk(start="pick"), [calls("book", kind="a", day="Mon"), {"hang": True}])
    await before.session.start()
    sending = asyncio.create_task(before.session.send("go"))
    await asyncio.sleep(1)
    await before.session.aclose()
    sending.cancel()
    after = Play(desk(start="pick"), [{"text": "It is reserved."}], state=fold("s", before.memory.events))
    await after.session.recover()
    await after.session.retry()
    assert after.replies == ["It is reserved."]
    assert after.tools.ran == []
    assert after.session.state.turn == 1


@in_virtual_time
async def test_a_message_that_comes_too_late_for_its_phase_is_not_shown() -> None:
    """The deadline's step is being stored while the message arrives."""
    store = _SlowStore()
    play = Play(
        desk(start="pick", options={"phase1TimeoutMs": 3000}),
        [{"text": "Too late."}, {"text": "In time."}],
        store=store,
    )
    play.llm = _LateFirst(play, 2.85)
    play.session.llms = OneModel(play.llm)
    await play.talk("hi")
    assert play.shown == "In time."


class _SlowStore:
    """Takes a while to write."""

    async def append(self, events: Sequence[Event]) -> None:
        await asyncio.sleep(0.1)


class _LateFirst(ScriptedLLM):
    """Its first message comes after the given time."""

    def __init__(self, play: Play, seconds: float) -> None:
        super().__init__(play.llm.outputs)
        self._seconds = seconds

    async def stream(self, request: LLMRequest) -> AsyncIterator[LLMEvent]:
        if request.call == 1:
            await asyncio.sleep(self._seconds)
        async for event in super().stream(request):
            yield event


class _LazyStore(MemoryStore):
    """Writes a moment later, so that others get a word in."""

    async def append(self, events: Sequence[Event]) -> None:
        await asyncio.sleep(0)
        await super().append(events)


@in_virtual_time
async def test_a_call_that_is_cancelled_before_it_begins_never_begins() -> None:
    """Else it would stand in the log behind the end of its turn, and nothing would ever end it."""
    store = _LazyStore()
    play = Play(desk(), [{"text": "Hello."}, {"text": "Hello."}], store=store)
    await play.session.start()
    first = asyncio.create_task(play.session.send("one"))
    await asyncio.sleep(0)
    await play.session.send("two", interrupt=True)
    await first
    kinds = [event.type for event in store.events]
    ended = kinds.index("turn_interrupted")
    assert "llm_call_started" not in kinds[ended : kinds.index("turn_started", ended)]
    assert play.session.state == fold("s", store.events)
