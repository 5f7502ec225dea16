"""The cost benchmark's goals, on a few of its conversations: what a change of the planner must not spoil.

`python -m tests.bench.cost` measures all of them, beside other ways."""

from __future__ import annotations

import pytest

from runtime.context.efficiency import cost_with, lower_bound, tail_point, uncached_cost, units
from runtime.conversation import events as ev
from tests.bench.cost.goals import goals, missed
from tests.bench.cost.played import Played, play, with_context
from tests.bench.cost.rivals import llmrtc, playbooks_ai, playbooks_ai_071, swapped
from tests.bench.cost.rows import ENDLESS, model_for, rows_of
from tests.bench.cost.workloads import WORKLOADS


def played(key: str, read: float = 0.1, **settings: object) -> Played:
    """The first conversation of a workload, with every request read by the simulated API."""
    workload = WORKLOADS[key](1)
    return play(
        with_context(workload.playbook, **settings), workload.scripts[0], model_for(read), checked=True
    )


def paid(talk: Played) -> float:
    return sum(units(call.billed, call.sent.model) for call in talk.calls)


@pytest.mark.parametrize("key", sorted(WORKLOADS))
def test_every_request_is_valid_within_its_budget_and_reads_what_was_predicted(key: str) -> None:
    talk, budget = played(key), WORKLOADS[key](1).budget or ENDLESS
    started = [event for event in talk.events if isinstance(event, ev.LLMCallStarted)]
    assert [call.refused for call in talk.calls if call.refused] == []
    assert all(call.agrees for call in talk.calls), "the API's own blocks are read as far as ours"
    assert [event.predicted for event in started] == [call.billed for call in talk.calls]
    assert max(call.sent.laid.total for call in talk.calls) <= budget
    assert talk.unused == 0
    assert not any(isinstance(event, ev.TurnFailed) for event in talk.events)


@pytest.mark.parametrize(("read", "least"), [(0.1, 0.955), (0.05, 0.93), (0.025, 0.9)])
def test_a_stack_session_costs_little_more_than_the_bound_that_knows_every_pause(
    read: float, least: float
) -> None:
    talk = played("a", read)
    sent = [call.sent for call in talk.calls]
    assert lower_bound(sent) / paid(talk) >= least
    assert paid(talk) <= 0.75 * cost_with(sent, tail_point)


def test_a_support_chat_costs_less_than_a_fifth_of_what_it_would_uncached() -> None:
    talk = played("b")
    assert paid(talk) <= 0.2 * uncached_cost([call.sent for call in talk.calls])


def test_returned_frames_and_points_save_a_third_of_append_only_with_automatic_caching() -> None:
    whole = played("a", compaction=False, budgetTokens=ENDLESS)
    assert paid(played("a")) <= 0.65 * cost_with([call.sent for call in whole.calls], tail_point)


def test_the_rivals_requests_are_read_from_the_log_of_the_same_conversation() -> None:
    workload = WORKLOADS["a"](1)
    document, model = with_context(workload.playbook, compaction=False), model_for(0.1)
    talk = play(document, workload.scripts[0], model)
    for build in (llmrtc, swapped, playbooks_ai, playbooks_ai_071):
        sent = build(document, talk, model)
        assert [one.at for one in sent] == [call.sent.at for call in talk.calls]
        assert all(len(one.marks) <= 4 for one in sent)
    short, whole = llmrtc(document, talk, model), swapped(document, talk, model)
    assert max(one.laid.length for one in short) == 52, "tools, base and 50 messages"
    assert short[3].laid.total == whole[3].laid.total, "nothing is forgotten yet"
    assert short[-1].laid.total < whole[-1].laid.total


def test_the_table_is_judged_against_its_goals() -> None:
    workload = WORKLOADS["b"](1)
    found = goals({"b": {0.05: rows_of(workload, workload.scripts[0], 0.05)}})
    assert len(found) == 4
    assert missed(found) == []
