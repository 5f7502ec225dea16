"""The gallery's restaurant booking, played without a key: intents, a called stage, silence, a plain yes."""

from __future__ import annotations

import pytest

from tests.support.rehearsed import Played, rehearsed


def play(*said: str | float) -> Played:
    return rehearsed("restaurant-booking", *said)


def test_a_table_is_found_in_a_called_stage_and_booked_by_the_guests_own_yes() -> None:
    played = play(
        "Hello",
        "I'd like to book a table",
        "Friday at 19:30 for 4",
        "my name is Ada Byrne",
        "yes please",
        "bye",
    )
    assert played.stages == ["welcome", "booking", "find_time", "confirm", "booked", "farewell"]
    assert played.rules == ["t-book", "t-look", "t-free", "t-noted", "t-agreed", "t-done"]
    assert played.tools == [
        ("check_availability", True),
        ("note_booking", True),
        ("save_booking", True),
        ("send_confirmation", True),
    ]
    assert played.replies[-2].startswith("Done: Friday at 19:30 for 4, on the name Ada Byrne.")
    assert played.status == "complete"


@pytest.mark.parametrize(
    "answer", ["yes, but at 21:00", "hm", "no", "maybe", "yesterday would have been better"]
)
def test_nothing_but_a_plain_yes_books_the_table(answer: str) -> None:
    played = play("a table for 4 on Friday at 19:30 please", "Ada", answer)
    assert ("save_booking", True) not in played.tools


@pytest.mark.parametrize(
    "answer", ["yes", "Yes please!", "ok, that's right", "Go ahead", "sure, book it", "Perfect, thanks"]
)
def test_a_plain_yes_has_many_forms(answer: str) -> None:
    played = play("a table for 4 on Friday at 19:30 please", "Ada", answer)
    assert played.stages[-1] == "booked"


def test_a_time_that_is_taken_is_said_with_its_reason_and_another_one_found() -> None:
    played = play("book a table", "Friday at 20:00 for 2", "Friday at 21:00 for 2", "Kim")
    assert played.replies[1].startswith("At that time everything is taken. I could offer 19:00 or 21:00")
    assert played.stage == "confirm"


def test_a_booking_is_changed_under_its_own_number() -> None:
    played = play("can I change my booking", "LY-0000", "LY-1907", "Saturday at 18:30 for 3", "yes")
    assert played.intents[0] == "change"
    assert played.tools[:2] == [("find_booking", False), ("find_booking", True)]
    assert played.replies[-1].endswith("Your number is LY-1907. Is there anything else?")


def test_a_booking_is_cancelled_by_the_guests_own_yes() -> None:
    played = play("I want to cancel my booking", "LY-1944", "yes please cancel it")
    assert (played.intents, played.rules[-1]) == (["cancel"], "t-cancel-agreed")
    assert played.tools == [("find_booking", True), ("cancel_booking", True)]
    assert (played.stage, played.status) == ("cancelled", "complete")


def test_a_question_is_answered_in_between_and_the_booking_goes_on() -> None:
    played = play("a table for 4 on Friday at 19:30 please", "Ada", "Where can I park?", "yes")
    assert played.rules[-3:] == ["t-confirm-question", "t-answered", "t-agreed"]
    assert "car park under the market" in played.replies[-2]


def test_three_turns_without_a_known_booking_go_to_the_phone() -> None:
    played = play("I need to move my reservation", "LY-0001", "LY-0002")
    assert (played.rules[-1], played.status) == ("t-not-found", "complete")


def test_half_a_minute_of_silence_is_asked_into_and_a_yes_still_counts() -> None:
    played = play("a table for 4 on Friday at 19:30 please", "Ada", 29.0, "hm", 31.0, "yes")
    assert played.rules[-3:] == ["t-nudge-confirm", "t-nudged", "t-agreed"]
    assert played.replies[-2] == "Are you still there? I only need your yes for Friday at 19:30."


def test_a_guest_who_stays_silent_gets_three_nudges_and_then_the_table_is_let_go() -> None:
    played = play("a table for 4 on Friday at 19:30 please", "Ada", 600.0)
    assert played.rules.count("t-nudge-confirm") == 3
    assert (played.rules[-1], played.status) == ("t-gave-up-confirm", "complete")
    assert ("save_booking", True) not in played.tools
