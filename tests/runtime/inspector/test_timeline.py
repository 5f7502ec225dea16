"""Why it moved on, or not."""

from runtime.conversation import events as ev
from runtime.inspector.timeline import timeline
from tests.runtime.inspector.logs import call, event, log, segment


def test_the_rules_of_a_turn_stand_in_the_order_they_were_looked_at() -> None:
    turns = timeline(
        log(
            event(ev.SessionStarted, playbook="p"),
            event(ev.StageEntered, stage="greeting", frame="f1", visit=1, prompt=""),
            event(ev.TurnStarted, turn=1, stage="greeting"),
            event(ev.UserMessageEvent, turn=1, text="refund please"),
            *call(1, [segment("a")], added=1),
            event(ev.TransitionEvaluated, turn=1, transition="to-order", verdict=False, seen="refund please"),
            event(
                ev.TransitionEvaluated,
                turn=1,
                transition="to-refund",
                verdict=True,
                reason="keyword “refund”",
            ),
            event(
                ev.TransitionTriggered,
                turn=1,
                transition="to-refund",
                from_stage="greeting",
                to_stage="refund",
            ),
            event(ev.StageEntered, turn=1, stage="refund", frame="f2", visit=2, prompt=""),
            event(ev.TransitionRefused, turn=1, transition="to-end", target_stage="end", reason="limit"),
            event(ev.TurnComplete, turn=1, stage="refund", text="Sure."),
        )
    )
    before, turn = turns
    assert (before.turn, before.stage) == (0, "greeting")
    assert [(rule.transition, rule.verdict) for rule in turn.rules] == [
        ("to-order", False),
        ("to-refund", True),
    ]
    assert [(move.to_stage, move.refused) for move in turn.moves] == [("refund", False), ("end", True)]
    assert (turn.stage, turn.end_stage) == ("greeting", "refund")
    assert (turn.user_text, turn.reply, turn.status, turn.calls) == (
        "refund please",
        "Sure.",
        "complete",
        (1,),
    )


def test_a_tool_call_is_shown_with_its_result_once() -> None:
    (turn,) = timeline(
        log(
            event(ev.TurnStarted, turn=1, stage="s"),
            event(ev.ToolCallStart, turn=1, call_id="c1", name="stock", arguments={"kind": "red"}),
            event(ev.ToolCallStart, turn=1, call_id="c2", name="stock"),
            event(
                ev.ToolCallComplete, turn=1, call_id="c1", tool_name="stock", success=True, result={"free": 2}
            ),
        )
    )
    shown = {tool.call_id: (tool.arguments, tool.success, tool.result) for tool in turn.tools}
    assert shown == {"c1": ({"kind": "red"}, True, {"free": 2}), "c2": (None, None, None)}
    assert turn.status == "running"


def test_two_calls_of_one_id_in_a_turn_keep_their_own_results_in_the_order_of_asking() -> None:
    asked = event(ev.ToolCallStart, turn=1, call_id="c1", name="stock")
    one, two = (
        event(ev.ToolCallComplete, turn=1, call_id="c1", tool_name="stock", success=True, result=number)
        for number in (1, 2)
    )
    (turn,) = timeline(log(event(ev.TurnStarted, turn=1, stage="s"), asked, one, asked, two))
    assert [tool.result for tool in turn.tools] == [1, 2]


def test_a_failed_turn_says_why_and_an_interrupted_one_what_was_shown() -> None:
    failed, interrupted = timeline(
        log(
            event(ev.TurnStarted, turn=1, stage="s"),
            event(ev.TurnFailed, turn=1, stage="s", code="overloaded", message="The model is overloaded."),
            event(ev.TurnStarted, turn=2, stage="s"),
            event(ev.TurnInterrupted, turn=2, stage="s", shown_text="One moment"),
        )
    )
    assert (failed.status, failed.error) == ("failed", "The model is overloaded.")
    assert (interrupted.status, interrupted.reply) == ("interrupted", "One moment")
