"""Intent rules: the engine asks for a classification, and its answer decides who replies."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.conversation import events as ev
from runtime.engine.effects import CancelModel, ClassifyIntent
from runtime.engine.happened import IntentsClassified, Retry, Stop
from runtime.engine.intents import Classification
from runtime.playbook import Playbook
from tests.runtime.desk import playbook, rule, stage
from tests.runtime.engine.table import Table

EXAMPLES = ["I want my money back", "refund me", "please pay it back"]


def intent(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "intent", "intent": name, "description": f"Wants a {name}.", "examples": EXAMPLES, **more}


def desk(*rules: dict[str, Any], **more: Any) -> Playbook:
    default = (rule("t-refund", "desk", "refund", intent("refund")),)
    stages = [stage("desk"), stage("refund"), stage("cancel")]
    return playbook(stages, list(rules or default), **more)


def wanted(table: Table) -> ClassifyIntent:
    return next(effect for effect in table.wants if isinstance(effect, ClassifyIntent))


def classified(table: Table, scores: dict[str, float], **more: Any) -> None:
    likeliest = max(scores, key=lambda name: scores[name]) if scores else None
    answer = Classification(
        "keyword", likeliest, scores.get(likeliest or "", 0.0), scores, error=more.pop("error", None)
    )
    table.happens(IntentsClassified(more.pop("turn", table.state.turn), answer))


def evaluated(table: Table, rule_id: str = "t-refund") -> ev.TransitionEvaluated:
    return [event for event in table.of(ev.TransitionEvaluated) if event.transition == rule_id][-1]


def test_a_message_is_classified_before_anything_answers_it() -> None:
    table = Table(desk())
    table.says("money back please")
    effect = wanted(table)
    assert not table.asks
    assert (effect.text, effect.turn, effect.classifier, effect.stage) == (
        "money back please",
        1,
        "auto",
        "desk",
    )
    assert [(i.name, i.description, list(i.examples)) for i in effect.intents] == [
        ("refund", "Wants a refund.", EXAMPLES)
    ]


def test_the_stage_of_a_likely_intent_answers_the_message() -> None:
    table = Table(desk())
    table.says("money back please")
    classified(table, {"refund": 0.83})
    assert table.asked.stage == "refund"
    [event] = table.of(ev.IntentClassified)
    assert (event.intent, event.confidence, event.scores, event.classifier) == (
        "refund",
        0.83,
        {"refund": 0.83},
        "keyword",
    )
    assert evaluated(table).verdict


def test_a_rule_that_does_not_fire_says_how_much_was_lacking() -> None:
    table = Table(desk())
    table.says("hello")
    classified(table, {"refund": 0.316})
    assert table.asked.stage == "desk"
    event = evaluated(table)
    assert (event.verdict, event.reason) == (False, "intent refund 0.31, needs 0.6.")
    assert event.seen == {
        "text": "hello",
        "intent": "refund",
        "classifier": "keyword",
        "confidence": 0.316,
        "needs": 0.6,
    }


@pytest.mark.parametrize(("confidence", "fires"), [(0.6, True), (0.5999, False)])
def test_the_threshold_itself_is_enough(confidence: float, fires: bool) -> None:
    table = Table(desk())
    table.says("hello")
    classified(table, {"refund": confidence})
    assert evaluated(table).verdict is fires
    assert ("0.59" in evaluated(table).reason) is not fires


def test_only_the_likeliest_intent_fires_whatever_the_priorities_are() -> None:
    rules = (
        rule("t-refund", "desk", "refund", intent("refund", confidence=0.1), priority=9),
        rule("t-cancel", "desk", "cancel", intent("cancel")),
    )
    table = Table(desk(*rules))
    table.says("stop it")
    classified(table, {"refund": 0.2, "cancel": 0.7})
    assert table.asked.stage == "cancel"
    assert evaluated(table).reason == "intent refund 0.20, needs 0.1; likelier is cancel with 0.70."


def test_rules_of_one_intent_put_their_examples_together() -> None:
    rules = (
        rule("sure", "desk", "refund", intent("refund", confidence=0.9)),
        rule("unsure", "desk", "cancel", intent("refund", confidence=0.5, examples=["again", "refund me"])),
    )
    table = Table(desk(*rules))
    table.says("x")
    assert [list(i.examples) for i in wanted(table).intents] == [[*EXAMPLES, "again"]]
    classified(table, {"refund": 0.6})
    assert table.asked.stage == "cancel"


def test_a_classifier_that_fails_costs_no_turn() -> None:
    table = Table(desk())
    table.says("money back")
    classified(table, {}, error="It took longer than 5 s.")
    assert table.asked.stage == "desk"
    assert evaluated(table).reason == "The message was not classified: It took longer than 5 s."
    assert table.of(ev.IntentClassified)[0].error == "It took longer than 5 s."


def test_other_rules_wait_with_it_and_keep_their_precedence() -> None:
    keyword = {"type": "keyword", "keywords": ["stop"], "source": "user"}
    rules = (
        rule("t-refund", "desk", "refund", intent("refund")),
        rule("t-stop", "desk", "cancel", keyword, priority=1),
    )
    table = Table(desk(*rules))
    table.says("stop, I want my money back")
    assert table.of(ev.TransitionEvaluated) == []
    classified(table, {"refund": 0.99})
    assert table.asked.stage == "cancel"


def test_nobody_classifies_without_an_intent_rule_that_is_on() -> None:
    table = Table(desk(rule("t-refund", "desk", "refund", intent("refund"), disabled=True)))
    table.says("money back")
    assert table.asks


def test_a_message_without_text_is_not_classified() -> None:
    table = Table(desk())
    table.says("   ")
    assert table.asks
    assert not evaluated(table).verdict


def test_a_message_is_classified_once_also_where_the_next_stage_has_intents() -> None:
    rules = (
        rule("t-refund", "desk", "refund", intent("refund")),
        rule("back", "refund", "desk", intent("cancel")),
    )
    table = Table(desk(*rules))
    table.says("money back")
    classified(table, {"refund": 0.9})
    assert table.asked.stage == "refund"
    table.model("Sure.")
    assert len(table.of(ev.IntentClassified)) == 1


def test_a_stop_ends_the_classifying_and_a_late_answer_changes_nothing() -> None:
    table = Table(desk())
    table.says("money back")
    table.stops()
    assert any(isinstance(effect, CancelModel) for effect in table.wants)
    assert table.state.status == "idle"
    before = table.log[:]
    classified(table, {"refund": 0.9})
    table.says("hello")
    classified(table, {"refund": 0.9}, turn=1)
    assert table.of(ev.IntentClassified) == []
    assert table.log[: len(before)] == before


def test_a_turn_that_dies_while_it_is_classified_is_classified_when_it_is_taken_up() -> None:
    table = Table(desk())
    table.says("money back")
    table.happens(Stop("process_died"))
    table.happens(Retry())
    assert wanted(table).text == "money back"
    classified(table, {"refund": 0.9})
    assert table.asked.stage == "refund"


def test_a_timer_of_the_stage_does_not_fire_while_the_message_is_classified() -> None:
    silence = {"type": "timeout", "durationMs": 1000}
    table = Table(
        desk(
            rule("t-refund", "desk", "refund", intent("refund")),
            rule("quiet", "desk", "cancel", silence),
        )
    )
    table.says("money back")
    table.waits(seconds=3)
    classified(table, {"refund": 0.9})
    assert table.asked.stage == "refund"
