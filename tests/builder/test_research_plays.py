"""The gallery's research assistant, played without a key: a called stage, artifacts, an agent of its own."""

from __future__ import annotations

import pytest

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from tests.support.rehearsed import Played, rehearsed, talked

SLUG = "research-assistant"
WHY = "Why did the light go out in 1911?"


def play(*said: str) -> Played:
    return rehearsed(SLUG, *said)


def events(*said: str) -> list[Event]:
    return talked(SLUG, *said)[0]


def test_a_question_is_looked_up_in_a_called_stage_and_answered_at_the_desk() -> None:
    played = play("Hello", WHY)
    assert (played.stages, played.rules, played.stage) == (
        ["desk", "search"],
        ["t-search", "t-found"],
        "desk",
    )
    assert played.tools == [("search_catalogue", True), ("read_source", True), ("note_finding", True)]
    assert played.replies[-1].startswith("The keeper himself has the light dark for forty minutes")
    assert "(GH-101)" in played.replies[-1]


def test_the_whole_mystery_is_solved_by_following_what_it_offers() -> None:
    played = play(WHY, "look further", "go on", "yes", "more", "write it up", "thanks, bye")
    told = [reply for reply in played.replies if "GH-" in reply]
    assert [reply.split("(GH-")[1][:3] for reply in told[:5]] == ["101", "203", "114", "220", "317"]
    assert "the cat had climbed into the clockwork" in told[4]
    assert played.replies[5].count("\n") == 8, "five findings in the brief"
    assert played.status == "complete"


def test_a_finding_is_checked_by_the_agent_which_quotes_the_page() -> None:
    played = play(WHY, "Is that true?")
    assert played.rules[-2:] == ["t-check", "t-checked"]
    assert played.stages[-1] == "check"
    assert "on page 42: “4 February" in played.replies[-1]


def test_what_does_not_stand_in_the_source_is_said() -> None:
    played = play(WHY, "Really three hours? Check that, please")
    assert played.replies[-1].startswith("The fact checker says: it does not stand in the source.")


def test_a_page_is_shown_word_for_word_from_the_artifact() -> None:
    played = play("What does the newspaper say?", "Show me the page")
    assert played.tools[-1] == ("LoadArtifact", True)
    assert "page 1: “THE LIGHT THAT FAILED." in played.replies[-1]


@pytest.mark.parametrize("question", ["Tell me about dragons", "What is the capital of France?", "asdf"])
def test_what_the_archive_does_not_have_is_said_with_what_it_has(question: str) -> None:
    played = play(question, WHY)
    assert played.replies[0].startswith("On that the catalogue has nothing. What I do have is on the light")
    assert "forty minutes" in played.replies[1]


def test_long_sources_leave_the_window_with_the_frame_that_read_them() -> None:
    log = events(WHY)
    loaded = {event.name for event in log if isinstance(event, ev.ArtifactLoaded)}
    unloaded = {event.name for event in log if isinstance(event, ev.ArtifactUnloaded)}
    assert len(loaded) == 2
    assert loaded == unloaded


def test_the_agent_has_a_window_of_its_own_and_gets_the_source_by_reference() -> None:
    log = events(WHY, "Is that true?")
    lanes = {event.lane for event in log if isinstance(event, ev.LLMCallStarted)}
    assert len(lanes) == 2
    [call] = [e for e in log if isinstance(e, ev.ToolCallStart) and e.name == "find_passages"]
    assert str((call.arguments or {})["source"]).startswith("$a_")
    checks = [e for e in log if isinstance(e, ev.LLMCallStarted) and e.stage == "check"]
    assert not any(segment.kind == "artifact" for event in checks for segment in event.added)


def test_findings_become_an_artifact_and_the_brief_gets_them_by_reference() -> None:
    log = events(WHY, "go on", "go on", "go on", "a brief, please")
    [compiled] = [e for e in log if isinstance(e, ev.ToolCallStart) and e.name == "compile_brief"]
    assert (compiled.arguments or {})["findings"] == "$findings"
    loaded = [event.frame for event in log if isinstance(event, ev.ArtifactLoaded)]
    assert loaded[-2:] == ["f1", "f1"], "the findings by their placeholder, then the brief"
