"""What a window does when it grows too long, or when it pays to shorten it (cases C3 to C7, context.md)."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.context.compaction import count_messages, smaller
from runtime.context.models import record
from runtime.context.policy import policy_for
from runtime.conversation import events as ev
from runtime.playbook import StageContextPolicy
from tests.runtime.context.talk import Talk, call, kinds, of_kind, playbook, texts

LONG = "The rider tells a long story about a journey through the hills and over the bridge. " * 6


def budgeted(model: str = "claude-sonnet-5", **context: Any) -> Talk:
    """A talk in the pick stage with that context policy."""
    return Talk(playbook(context={"budgetTokens": 4000, **context}), record(model)).start("pick")


def told(talk: Talk, turns: int, words: str = LONG) -> Talk:
    for number in range(turns):
        talk.exchange(f"{number}: {words}", f"Answer {number}. {words}")
        talk.wait(20)
    return talk


def compactions(talk: Talk, rule: str) -> list[dict[str, Any]]:
    return [dict(d.numbers) for d in talk.decisions if d.rule == rule and d.decision]


# -- when it must -----------------------------------------------------------------------------------------


def test_a_long_session_keeps_its_beginning_and_its_newest_turns_and_one_block_in_between() -> None:
    talk = told(budgeted(budgetTokens=8000), 30)
    last = talk.windows[-1]
    assert [segment.id for segment in last.segments[:3]] == [s.id for s in talk.windows[0].segments[:3]]
    assert all(window.tokens <= 8000 for window in talk.windows)
    assert compactions(talk, "must") or compactions(talk, "pays")
    summaries = [segment for segment in of_kind(last, "summary") if segment.meta.get("compacted")]
    assert len(summaries) == 1
    assert kinds(last)[:6] == ["tools", "base", "dialogue", "state", "stage", "summary"]
    assert last.segments[-1].text.startswith("29:")


def test_the_two_newest_turns_stand_word_for_word_where_the_budget_has_room_for_them() -> None:
    """The target alone takes none of them, however little is to be kept."""
    context, words = {"budgetTokens": 8000, "budgetTarget": 1000, "keepRecent": 10}, LONG * 6
    talk = told(Talk(unpriced(context=context), record("rehearsal")).start("pick"), 12, words)
    batches = [number for number, w in enumerate(talk.windows) if any(s.replaced for s in w.segments)]
    at = batches[0]
    said = texts(talk.windows[at], "dialogue")
    for number in (at - 1, at - 2):
        assert f"{number}: {words}" in said
        assert f"Answer {number}. {words}" in said
    assert f"{at - 3}: {words}" not in said


def test_one_batch_brings_the_window_down_to_the_target() -> None:
    context = {"budgetTokens": 5000}
    talk = told(Talk(unpriced(context=context), record("rehearsal")).start("pick"), 48, LONG[:200])
    batch = compactions(talk, "must")
    assert len(batch) == 1
    assert batch[0]["tokens"] > 5000
    assert batch[0]["rest"] <= 2500


def unpriced(**more: Any) -> Any:
    """For a model without prices: nothing is decided for money's sake."""
    return playbook(context={"budgetTokens": 4000, **more.pop("context", {})}, **more)


def test_every_turn_of_both_sides_is_in_the_window_or_in_a_summary() -> None:
    talk = told(budgeted(budgetTokens=2500), 12, "Something short is told. " * 12)
    last = talk.windows[-1]
    words = "\n".join(segment.text for segment in last.segments)
    stood_for = {old for segment in last.segments if segment.replaced for old in segment.replaced.segments}
    for window in talk.windows:
        for segment in of_kind(window, "dialogue"):
            assert (
                segment.text in words
                or segment.id in talk.state.windows.agent().replaced
                or segment.id in stood_for
            )
    assert "earlier lines left out" in words
    assert "You: Answer" in texts(last, "summary")[0]


def test_words_are_taken_over_whole_from_their_beginning() -> None:
    talk = budgeted(budgetTokens=2600)
    talk.exchange("hi", "python is fun")
    told(talk, 4, LONG * 3)
    assert "You: python is fun" in texts(talk.windows[-1], "summary")[0]


def test_the_same_reply_twice_is_twice_in_the_window() -> None:
    talk = budgeted().exchange("a", "Yes.").exchange("b", "Yes.")
    talk.turn("c").ask()
    assert texts(talk.windows[-1], "dialogue") == ["a", "Yes.", "b", "Yes.", "c"]


@pytest.mark.parametrize("words", [LONG * 2, LONG * 3, LONG * 4])
def test_a_call_and_its_result_are_never_parted(words: str) -> None:
    talk = budgeted()
    for number in range(12):
        talk.turn(f"look {number}").ask()
        talk.says(calls=[call(f"c{number}", kind="x")]).result(f"c{number}", "stock", words)
        talk.ask()
        talk.says("Here.").end("Here.")
    assert compactions(talk, "must") or compactions(talk, "pays")
    for window in talk.windows:
        calls = [segment.meta["callId"] for segment in of_kind(window, "tool_call")]
        assert calls == [segment.meta["callId"] for segment in of_kind(window, "tool_result")]


def test_nothing_is_replaced_with_compaction_off() -> None:
    talk = told(budgeted(compaction=False), 12)
    talk.turn("down").ask()
    talk.says(calls=[call("c1", "playbook_transition", targetStage="seat")])
    talk.result("c1", "playbook_transition", {"movedTo": "seat"}).call_frame("seat", "f2").ask()
    talk.says("Window?").end("Window?").turn("yes").ask()
    talk.says(calls=[call("c2", "playbook_transition", targetStage="return")])
    talk.result("c2", "playbook_transition", {"movedTo": "return"}).pop(7, "picked").ask()
    assert talk.rewrites == []
    assert talk.decisions == []
    assert "Value: 7" in texts(talk.windows[-1], "summary")[-1]
    assert "Window?" in texts(talk.windows[-1], "dialogue")


def test_a_new_session_has_nothing_to_replace() -> None:
    talk = budgeted()
    talk.turn("hi").ask()
    assert talk.rewrites == []
    assert talk.decisions == []


def test_state_frames_that_the_next_one_builds_on_stay_and_older_ones_go() -> None:
    talk = budgeted(budgetTokens=2500, fullStateInterval=2)
    for number in range(14):
        talk.set(city=f"Pune {number}")
        told(talk, 1)
    assert talk.rewrites
    states = of_kind(talk.windows[-1], "state")
    assert states[0].meta["full"]
    numbers = [state.meta["number"] for state in states]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] > 1
    assert '"city":"Pune 13"' in states[-1].text


def test_the_instructions_that_hold_stay_where_they_are() -> None:
    talk = told(budgeted(budgetTokens=2500), 12)
    assert talk.rewrites
    assert [stage.text for stage in of_kind(talk.windows[-1], "stage")] == texts(talk.windows[0], "stage")


def test_instructions_that_only_refer_to_others_keep_those() -> None:
    talk = told(budgeted(budgetTokens=2500), 2)
    talk.turn("on").ask()
    talk.says(calls=[call("m", "playbook_transition", targetStage="greet")])
    talk.result("m", "playbook_transition", {"movedTo": "greet"}).enter("greet").ask()
    talk.says("Here.").end("Here.").turn("back").ask()
    talk.says(calls=[call("n", "playbook_transition", targetStage="pick")])
    talk.result("n", "playbook_transition", {"movedTo": "pick"}).enter("pick").ask()
    talk.says("Yes.").end("Yes.")
    told(talk, 12)
    first, last = texts(talk.windows[-1], "stage")
    assert first.endswith("Help to choose.")
    assert last.endswith("Instructions as given above under «Pick a bike».")


def test_traffic_of_visits_that_are_over_goes_first_and_their_words_stay() -> None:
    talk = Talk(unpriced(context={"keepRecent": 10}), record("rehearsal")).start("pick")
    for number in range(4):
        talk.turn(f"look {number}").ask()
        talk.says(calls=[call(f"c{number}", kind="x")]).result(f"c{number}", "stock", LONG * 3)
        talk.ask()
        talk.says(f"Seen {number}.").end()
    talk.turn("on").ask()
    talk.says(calls=[call("m", "playbook_transition", targetStage="greet")])
    talk.result("m", "playbook_transition", {"movedTo": "greet"}).enter("greet").ask()
    talk.says("Here.").end("Here.").exchange("one", "two").exchange("three", "four")
    talk.turn(LONG * 8).ask()
    window = talk.windows[-1]
    assert [d.rule for d in talk.decisions] == ["must"]
    assert all(f"Seen {number}." in texts(window, "dialogue") for number in range(4))
    assert of_kind(window, "tool_call") == []
    assert texts(window, "summary")[0].startswith("Tools called here, in short.")


def test_results_are_shortened_before_turns_go() -> None:
    talk = Talk(unpriced(context={"keepRecent": 10, "budgetTarget": 3600}), record("rehearsal")).start("pick")
    for number in range(5):
        talk.turn(f"look {number}").ask()
        talk.says(calls=[call(f"c{number}", kind="x")]).result(f"c{number}", "stock", LONG * 4)
        talk.ask()
        talk.says(f"Seen {number}.").end()
    assert compactions(talk, "must")
    shortened = [s for s in of_kind(talk.windows[-1], "tool_result") if s.replaced is not None]
    assert shortened
    assert all("[shortened; " in segment.text for segment in shortened)
    assert of_kind(talk.windows[-1], "summary") == []


# -- the running turn --------------------------------------------------------------------------------------


def test_a_long_tool_loop_keeps_the_question_and_shortens_old_results() -> None:
    talk = Talk(unpriced(context={"budgetTokens": 3000}), record("rehearsal")).start("pick")
    talk.turn("Check every kind you have.")
    for number in range(6):
        talk.ask()
        talk.says(calls=[call(f"c{number}", kind=f"k{number}")]).result(f"c{number}", "stock", LONG * 2)
    talk.ask()
    assert talk.over is None
    assert all(window.tokens <= 3000 for window in talk.windows)
    assert texts(talk.windows[-1], "dialogue") == ["Check every kind you have."]
    assert len(of_kind(talk.windows[-1], "tool_call")) == 6


def test_a_result_too_long_for_the_window_is_cut_before_it_is_sent_and_stays_so() -> None:
    talk = Talk(unpriced(context={"budgetTokens": 3000}), record("rehearsal")).start("pick")
    talk.turn("All kinds please").ask()
    talk.says(calls=[call("c1", kind="all")]).result("c1", "stock", "ä🚲 " * 20_000)
    first = talk.ask()
    assert first.tokens <= 3000
    result = of_kind(first, "tool_result")[0]
    assert "characters]" in result.text
    assert talk.decisions[-1].numbers["cutTo"] in (8000, 2000, 500)
    talk.says("Many.").end("Many.").turn("Thanks").ask()
    assert of_kind(talk.windows[-1], "tool_result")[0] == result


def test_what_cannot_fit_is_said_to_be_too_long() -> None:
    talk = budgeted(budgetTokens=1500)
    talk.turn("far too long " * 3000).ask()
    assert talk.over == 1500
    assert talk.decisions[-1].decision is False


def test_older_turns_go_before_the_newest_message_is_refused() -> None:
    talk = Talk(unpriced(context={"budgetTokens": 1800}), record("rehearsal")).start("pick")
    told(talk, 2, LONG)
    talk.turn(LONG * 4 + " my code word is heron").ask()
    assert talk.over is None
    assert texts(talk.windows[-1], "dialogue")[-1].endswith("heron")
    assert of_kind(talk.windows[-1], "stage")


# -- when it pays ------------------------------------------------------------------------------------------


def test_a_decision_not_to_has_its_numbers() -> None:
    talk = told(budgeted(budgetTokens=40_000, keepRecent=200), 4)
    refusals = [d for d in talk.decisions if not d.decision]
    assert refusals
    numbers = refusals[0].numbers
    assert numbers["saves"] <= 0 or numbers["removed"] - numbers["summary"] < numbers["least"]
    assert {"calls", "prefix", "removed", "summary", "suffix", "read", "write", "cost"} <= set(numbers)
    assert talk.rewrites == []


def test_it_pays_once_many_calls_read_a_long_middle() -> None:
    talk = told(budgeted(budgetTokens=40_000, keepRecent=200), 30)
    paid = [rewrite for rewrite in talk.rewrites if rewrite.rule == "pays"]
    assert paid
    numbers = paid[0].numbers
    warm = numbers["calls"] * numbers["read"] * (numbers["removed"] - numbers["summary"])
    assert numbers["saves"] > 0
    assert numbers["saves"] == pytest.approx(warm - numbers["cost"], abs=20)


def test_no_more_calls_are_expected_than_the_stage_has_turns_left() -> None:
    def first_calls(max_turns: int | None) -> float:
        document = playbook(context={"budgetTokens": 40_000, "keepRecent": 200})
        stages = [stage.model_copy(update={"max_turns": max_turns}) for stage in document.stages]
        talk = told(
            Talk(document.model_copy(update={"stages": tuple(stages)}), record("claude-sonnet-5")).start(
                "pick"
            ),
            5,
        )
        return float(next(d.numbers["calls"] for d in reversed(talk.decisions) if d.rule == "pays"))

    assert first_calls(None) > first_calls(6)


def test_nothing_is_decided_for_moneys_sake_within_a_turn_or_without_prices() -> None:
    talk = told(
        Talk(unpriced(context={"budgetTokens": 90_000, "keepRecent": 10}), record("rehearsal")).start("pick"),
        9,
    )
    assert talk.decisions == []
    priced = told(budgeted(budgetTokens=90_000, keepRecent=10), 4)
    before = len(priced.decisions)
    priced.turn("look").ask()
    asked = len(priced.decisions)
    priced.says(calls=[call("c1", kind="x")]).result("c1", "stock", 1).ask()
    assert (asked - before, len(priced.decisions)) == (1, asked)


# -- thinking, walls, frames -------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "stays"), [("claude-opus-5", True), ("claude-opus-5-5", False)])
def test_thinking_behind_a_rewritten_place_goes_where_the_model_binds_it(model: str, stays: bool) -> None:
    talk = budgeted(model)
    for number in range(12):
        talk.turn(f"{number} {LONG * 3}").ask()
        talk.says("yes", thinking=f"hm {number}").end("yes")
        talk.wait(20)
    first = next(i for i, e in enumerate(talk.log) if isinstance(e, ev.WindowRewritten))
    calls = sum(isinstance(e, ev.LLMCallStarted) for e in talk.log[:first])
    assert bool(of_kind(talk.windows[calls], "thinking")) is stays
    assert of_kind(talk.windows[calls + 1], "thinking") or talk.windows[calls + 1] is talk.windows[-1]


def test_a_price_tier_is_a_wall() -> None:
    haiku = record("claude-haiku-5-5")
    policy = policy_for(playbook(context={"budgetTokens": 900_000}), None, haiku)
    assert policy.budget_tokens == haiku.tiers[0].above
    assert policy.origins["budget_tokens"].startswith("playbook, lowered to the limit")


def test_target_and_recent_turns_are_never_more_than_the_budget() -> None:
    book = playbook(context={"budgetTokens": 1000, "budgetTarget": 5000, "keepRecent": 4000})
    policy = policy_for(book, None, record("claude-sonnet-5"))
    assert (policy.budget_target, policy.keep_recent) == (1000, 1000)


def test_a_callers_part_and_a_called_frames_part_get_summaries_of_their_own() -> None:
    talk = told(Talk(unpriced(context={"keepRecent": 10}), record("rehearsal")).start("pick"), 3)
    called(talk)
    told(talk, 9)
    window = talk.windows[-1]
    parts = [(s.frame, s.meta.get("compacted")) for s in of_kind(window, "summary")]
    assert parts == [("f1", True), ("f2", True)]
    talk.turn("back").ask()
    talk.says(calls=[call("r", "playbook_transition", targetStage="return")])
    talk.result("r", "playbook_transition", {"movedTo": "return"}).pop(7, "picked").ask()
    assert [s.frame for s in of_kind(talk.windows[-1], "summary") if s.meta.get("frame") == "f2"] == ["f1"]


def called(talk: Talk) -> None:
    talk.turn("go on").ask()
    talk.says(calls=[call("d1", "playbook_transition", targetStage="seat")])
    talk.result("d1", "playbook_transition", {"movedTo": "seat"}).call_frame("seat", "f2").ask()
    talk.says("Window or aisle?").end("Window or aisle?")


def test_the_detail_of_a_caller_comes_back_with_the_return_if_there_is_room() -> None:
    talk = told(Talk(unpriced(context={"keepRecent": 10}), record("rehearsal")).start("pick"), 3)
    called(talk)
    told(talk, 9)
    assert "0: " + LONG not in texts(talk.windows[-1], "dialogue")[1:]
    talk.turn("back").ask()
    talk.says(calls=[call("r", "playbook_transition", targetStage="return")])
    talk.result("r", "playbook_transition", {"movedTo": "return"}).pop(7, "picked")
    window = talk.ask()
    said = texts(window, "dialogue")
    assert [rewrite.rule for rewrite in talk.rewrites[-2:]] == ["return", "restore"]
    assert f"Answer 1. {LONG}" in said
    assert window.tokens <= 2600


def test_the_detail_stays_away_where_the_window_would_pass_the_target() -> None:
    talk = told(
        Talk(unpriced(context={"keepRecent": 10, "budgetTarget": 900}), record("rehearsal")).start("pick"), 3
    )
    called(talk)
    told(talk, 9)
    talk.turn("back").ask()
    talk.says(calls=[call("r", "playbook_transition", targetStage="return")])
    talk.result("r", "playbook_transition", {"movedTo": "return"}).pop(7, "picked").ask()
    assert "restore" not in {rewrite.rule for rewrite in talk.rewrites}


# -- historyLimit ------------------------------------------------------------------------------------------


def swapped(limit: int | None) -> Talk:
    options = {} if limit is None else {"historyLimit": limit}
    return Talk(playbook(context={"layout": "swap"}, options=options), record("rehearsal")).start("pick")


def test_the_oldest_group_goes_whole_and_the_request_starts_with_the_user() -> None:
    talk = swapped(6)
    talk.turn("City or cargo?").ask()
    talk.says(calls=[call("c1", kind="city"), call("c2", kind="cargo")])
    talk.result("c1", "stock", 3).result("c2", "stock", 3).ask()
    talk.says("Three of each.").end("Three of each.")
    talk.exchange("And tandems?", "None, sorry.").turn("Then a city one.").ask()
    window = talk.windows[-1]
    assert [d.rule for d in talk.decisions] == ["trim"]
    assert texts(window, "dialogue") == ["And tandems?", "None, sorry.", "Then a city one."]
    assert of_kind(window, "tool_call") == of_kind(window, "tool_result") == []
    assert kinds(window)[2] == "summary"
    assert 'Tool stock({"kind":"city"}) gave 3' in texts(window, "summary")[0]


def test_the_limit_of_messages_cuts_a_large_piece_at_once_and_then_leaves_the_start_alone() -> None:
    talk = told(swapped(20), 40, "word")
    assert all(count_messages(window.segments) <= 20 for window in talk.windows)
    assert len([r for r in talk.rewrites if r.rule == "trim"]) <= 40 / 3


@pytest.mark.parametrize("limit", [1, 2, 50, None])
def test_any_limit_leaves_the_newest_message_and_the_running_tool_loop(limit: int | None) -> None:
    talk = told(swapped(limit), 3, "word")
    talk.turn("look").ask()
    talk.says(calls=[call("c1", kind="x")]).result("c1", "stock", 1).ask()
    window = talk.windows[-1]
    assert texts(window, "dialogue")[-1] == "look"
    assert len(of_kind(window, "tool_call")) == len(of_kind(window, "tool_result")) == 1


# -- settings ----------------------------------------------------------------------------------------------


def test_each_setting_of_a_stage_goes_before_the_playbooks_and_says_where_it_comes_from() -> None:
    stages = [
        {
            "id": "pick",
            "name": "Pick",
            "systemPrompt": "p",
            "context": {"budgetTokens": 3000, "compaction": False, "cachePoints": 0, "keepRecent": 7},
        }
    ]
    book = playbook(
        stages=stages, transitions=[], initialStage="pick", context={"budgetTokens": 5000, "cachePoints": 3}
    )
    policy = policy_for(
        book, book.stage("pick"), record("claude-sonnet-5"), StageContextPolicy(summaries="rules")
    )
    assert (policy.budget_tokens, policy.compaction, policy.cache_points, policy.keep_recent) == (
        3000,
        False,
        0,
        7,
    )
    assert {name: setting.origin for name, setting in policy.chosen().items()} == {
        "budgetTokens": "stage",
        "compaction": "stage",
        "cachePoints": "stage",
        "keepRecent": "stage",
        "summaries": "session",
    }


def test_summaries_by_rules_leave_the_models_words_out() -> None:
    talk = (
        Talk(playbook(context={"summaries": "rules"})).start("pick").exchange("a seat please", "let me see")
    )
    called(talk)
    talk.turn("aisle").ask()
    talk.says(calls=[call("r", "playbook_transition", targetStage="return")])
    talk.result("r", "playbook_transition", {"movedTo": "return"}).pop(7, "picked a seat").ask()
    summary = of_kind(talk.windows[-1], "summary")[0]
    assert summary.meta["origin"] == "rules"
    assert "picked a seat" not in summary.text


def test_a_budget_for_a_provider_that_finds_the_window_too_long_is_never_larger() -> None:
    policy = policy_for(playbook(), None, record("claude-sonnet-5"))
    assert smaller(policy, 10_000).budget_tokens == 10_000
    assert smaller(policy, 10_000_000).budget_tokens == policy.budget_tokens
