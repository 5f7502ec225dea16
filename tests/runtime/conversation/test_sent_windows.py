"""What the log says of a call's window: how it differs from the one before, and the whole again."""

from __future__ import annotations

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.inspector.calls import CallLog
from tests.runtime.context.talk import Talk, playbook


def talked(turns: int, words: str = "Hello number {}") -> Talk:
    talk = Talk().start()
    for number in range(turns):
        talk.exchange(words.format(number), "Of course.")
    return talk


def started(talk: Talk) -> list[ev.LLMCallStarted]:
    return [event for event in talk.log if isinstance(event, ev.LLMCallStarted)]


def test_a_late_call_is_logged_in_no_more_than_an_early_one() -> None:
    sizes = [len(event.model_dump_json()) for event in started(talked(40))]
    assert sizes[-1] < sizes[4] * 1.2


def test_whole_windows_come_back_from_the_log() -> None:
    talk = talked(12)
    requests = fold("s", talk.log).windows.lane(started(talk)[0].lane)
    assert [tuple(request.window) for request in requests] == [window.segments for window in talk.windows]


def test_a_rewritten_window_comes_back_from_the_log() -> None:
    talk = talked(2)
    talk.call_frame("pick", "f2").ask()
    talk.says("Which one?").pop()
    talk.turn("That one").ask()
    assert talk.rewrites
    last = fold("s", talk.log).windows.lane(started(talk)[0].lane)[-1]
    assert tuple(last.window) == talk.windows[-1].segments
    assert tuple(CallLog().read_all(talk.log).window(last.call)) == talk.windows[-1].segments


def test_the_same_words_twice_are_two_segments_in_the_inspector() -> None:
    view = CallLog().read_all(talked(3, "yes").log).view(3)
    assert view is not None
    ids = [segment.id for segment in view.segments]
    assert len(set(ids)) == len(ids)
    assert [segment.label for segment in view.segments].count("user") == 3


def test_what_ended_with_words_said_before_is_read_from_the_cache_as_well() -> None:
    talk = Talk(playbook(globalSystemPrompt="Be kind. " * 600)).start()
    for _ in range(3):
        talk.exchange("Go on.", "Of course.")
    assert talk.plans[-1].predicted.read == talk.windows[-2].tokens
