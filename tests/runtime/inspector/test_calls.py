"""What the inspector says of calls: windows, shares, prices, differences."""

import pytest

from runtime.conversation import events as ev
from runtime.conversation.messages import AssistantMessage, ToolCall, Usage
from runtime.conversation.segments import Prediction
from runtime.inspector.calls import CallLog, CallView
from runtime.inspector.costs import CostReport, cost_report
from runtime.inspector.shares import prefix_shares
from tests.runtime.inspector.logs import call, event, log, segment


def views(*events: ev.Event) -> list[CallView]:
    calls = CallLog().read_all(log(*events))
    return [view for number in calls.numbers if (view := calls.view(number)) is not None]


def report_of(*events: ev.Event) -> CostReport:
    return cost_report(CallLog().read_all(log(*events)))


def test_a_call_shows_its_whole_window_though_the_log_has_only_what_was_added() -> None:
    base, first, second = segment("base", 300), segment("u1", 20), segment("u2", 30)
    one, two = views(*call(1, [base, first], added=2), *call(2, [base, first, second], added=1))
    assert [(s.id, s.start) for s in two.segments] == [("base", 0), ("u1", 300), ("u2", 320)]
    assert (one.added, two.added) == (2, 1)
    assert (two.previous_call, two.first_difference) == (1, None)


def test_the_first_segment_that_differs_from_the_previous_call_is_named() -> None:
    before = [segment("base"), segment("stage", text="old"), segment("u1")]
    after = [segment("base"), segment("stage", text="new"), segment("u1")]
    _, two = views(*call(1, before, added=3), *call(2, after, added=3))
    assert two.first_difference == "stage"


def test_the_list_of_calls_says_the_same_as_each_call_but_for_its_window() -> None:
    events = [*call(1, [segment("a")], added=1), *call(2, [segment("b")], added=1, usage=Usage(fresh=9))]
    summaries = CallLog().read_all(log(*events)).summaries()
    assert [dict(summary) for summary in summaries] == [
        view.model_dump(exclude={"segments", "shares", "policy"}, by_alias=False) | {"usage": view.usage}
        for view in views(*events)
    ]


def test_calls_of_another_lane_are_not_compared() -> None:
    _, two = views(*call(1, [segment("a")], added=1), *call(2, [segment("b")], added=1, lane="agent"))
    assert (two.previous_call, two.first_difference) == (None, None)


def test_a_replacement_logged_by_a_rewrite_is_known_in_later_windows() -> None:
    summary = segment("summary", 5)
    rewritten = event(
        ev.WindowRewritten,
        lane="main",
        from_segment="u1",
        to_segment="u1",
        rule="return",
        replacement=(summary,),
    )
    _, two = views(*call(1, [segment("u1")], added=1), rewritten, *call(2, [summary, segment("u2")], added=1))
    assert [s.id for s in two.segments] == ["summary", "u2"]


def test_what_really_happened_wins_over_the_prediction() -> None:
    window = [segment("base", 300), segment("u1", 100)]
    usage, predicted = Usage(read=300, fresh=100, output=5), Prediction(write5m=400)
    (view,) = views(*call(1, window, added=2, usage=usage, predicted=predicted))
    assert [(s.read, s.written, s.fresh) for s in view.shares] == [(300, 0, 0), (0, 0, 100)]
    assert not view.predicted_only
    (running, _) = call(1, window, added=2, predicted=predicted)
    (view,) = views(running)
    assert [(s.read, s.written, s.fresh) for s in view.shares] == [(0, 300, 0), (0, 100, 0)]
    assert view.predicted_only
    assert view.status == "running"


def test_prices_come_from_the_model_table_and_unknown_is_not_free() -> None:
    usage = Usage(read=1_000_000, output=0)
    known, unknown = views(
        *call(1, [segment("a")], added=1, usage=usage),
        *call(2, [segment("a")], added=0, usage=usage, model="claude-of-tomorrow"),
    )
    assert known.cost_without_caching is not None
    assert known.cost_without_caching > 0
    assert known.window_limit is not None
    assert (unknown.cost_without_caching, unknown.window_limit) == (None, None)


def test_a_call_that_failed_or_was_cut_off_says_so() -> None:
    started, _ = call(1, [segment("a")], added=1)
    failed = event(
        ev.LLMCallFailed, turn=1, call=1, error="The model is overloaded.", code="overloaded", status=529
    )
    (view,) = views(started, failed)
    assert view.status == "failed"
    assert view.error is not None
    assert (view.error.code, view.error.status) == ("overloaded", 529)
    (view,) = views(started, event(ev.TurnInterrupted, turn=1, stage="greeting"))
    assert view.status == "interrupted"
    (view,) = views(started, event(ev.LLMCallFailed, turn=1, call=1, error="Stopped.", code="cancelled"))
    assert (view.status, view.error) == ("interrupted", None)


def test_a_call_that_was_recovered_from_text_and_how_its_message_ended_are_shown() -> None:
    made = (
        ToolCall(call_id="a", name="stock", arguments={}, recovered=True),
        ToolCall(call_id="b", name="book", arguments={}),
    )
    message = AssistantMessage(tool_calls=made, stop="max_tokens")
    started = call(1, [segment("a")], added=1)[0]
    [view] = views(started, event(ev.LLMCallCompleted, turn=1, call=1, message=message))
    assert (view.recovered, view.stop) == (("stock",), "max_tokens")


def test_the_same_call_tried_again_keeps_its_previous_call() -> None:
    window = [segment("a"), segment("b")]
    again, done = call(2, window, added=1)
    *_, view = views(*call(1, window[:1], added=1), again, again, done)
    assert (view.call, view.previous_call) == (2, 1)


@pytest.mark.parametrize("tokens", [[7], [1, 1, 1], [333, 333, 334], [0, 0], [5, 0, 90, 1]])
@pytest.mark.parametrize("usage", [Usage(read=101, write5m=40, write1h=3, fresh=7), Usage(fresh=1), Usage()])
def test_shares_add_up_to_the_providers_sums(tokens: list[int], usage: Usage) -> None:
    shares = prefix_shares([(str(n), count) for n, count in enumerate(tokens)], usage, None)
    assert sum(s.read for s in shares) == usage.read
    assert sum(s.written for s in shares) == usage.write5m + usage.write1h
    assert sum(s.fresh for s in shares) == usage.fresh


def test_an_empty_window_has_no_shares() -> None:
    assert prefix_shares([], Usage(fresh=3), None) == ()


def test_the_report_adds_up_and_names_the_misses() -> None:
    before = [segment("base"), segment("u1")]
    after = [segment("base", text="changed"), segment("u1")]
    report = report_of(
        *call(1, before, added=2, usage=Usage(write5m=200, output=10)),
        *call(2, after, added=2, usage=Usage(read=100, fresh=100, output=20)),
        *call(3, after, added=0),
    )
    assert (report.calls, report.without_usage) == (3, 1)
    assert report.usage == Usage(write5m=200, read=100, fresh=100, output=30)
    assert report.read_share == 0.25
    assert report.cost_without_caching is None, "one call's is unknown"
    assert [(miss.call, miss.segment) for miss in report.misses] == [(2, "base")]


def test_each_turn_has_its_own_sums() -> None:
    window = [segment("base")]
    first = call(1, window, added=1, usage=Usage(fresh=1000, output=10))
    second = [
        event.model_copy(update={"turn": 2})
        for number in (2, 3)
        for event in call(number, window, added=0, usage=Usage(read=900, fresh=number))
    ]
    one, two = report_of(*first, *second).turns
    assert (one.turn, one.calls, one.usage) == (1, 1, Usage(fresh=1000, output=10))
    assert (two.turn, two.calls, two.usage) == (2, 2, Usage(read=1800, fresh=5))
    assert two.cost_without_caching == pytest.approx(1805 * 2 / 1_000_000)


def test_a_call_that_the_provider_refused_leaves_the_costs_known() -> None:
    window = [segment("base")]
    paid = Usage(fresh=1000, output=10)
    refused = event(ev.LLMCallFailed, turn=1, call=2, error="Too many requests.", code="rate_limited")
    alone = report_of(*call(1, window, added=1, usage=paid))
    with_refused = report_of(*call(1, window, added=1, usage=paid), call(2, window, added=0)[0], refused)
    assert with_refused.cost_without_caching == alone.cost_without_caching
    assert with_refused.cost_without_caching is not None


def test_a_call_that_was_cut_off_shows_what_it_used() -> None:
    cut = event(
        ev.LLMCallFailed, turn=1, call=1, error="Stopped.", code="cancelled", usage=Usage(fresh=90), cost=0.5
    )
    (view,) = views(call(1, [segment("base")], added=1)[0], cut)
    assert (view.status, view.usage, view.cost) == ("interrupted", Usage(fresh=90), 0.5)
