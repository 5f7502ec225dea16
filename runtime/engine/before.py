"""Before the reply: the rules that need only the user's message, and the classifier they may wait for."""

from __future__ import annotations

from runtime.conversation import events as ev
from runtime.engine import turns
from runtime.engine.draft import Draft
from runtime.engine.effects import ClassifyIntent
from runtime.engine.evaluating import evaluate
from runtime.engine.happened import IntentsClassified
from runtime.engine.intents import Classification


def look(draft: Draft) -> None:
    """Look at the stage's rules now, or, if some are about intents, once the message is classified."""
    row, running = draft.row, draft.running
    if not row.intents or not running.user_text.strip():
        return go_on(draft, None)
    return draft.want(
        ClassifyIntent(
            turn=running.number,
            text=running.user_text,
            intents=row.intents,
            classifier=draft.options.intent_classifier,
            stage=row.stage.id,
            frame=draft.frame.id,
            config=row.config,
        )
    )


def classified(draft: Draft, happened: IntentsClassified) -> None:
    """The answer of the classifier, or why there is none; one that comes late changes nothing."""
    running = draft.state.running
    if running is None or running.number != happened.turn or running.phase != 0:
        return
    if draft.state.moving is not None:
        return
    given = happened.classification
    draft.log(
        ev.IntentClassified,
        intent=given.intent,
        confidence=given.confidence,
        classifier=given.classifier,
        scores=dict(given.scores),
        error=given.error,
    )
    go_on(draft, given)


def go_on(draft: Draft, classification: Classification | None) -> None:
    """The first rule that holds decides who answers the message: its target, or the current stage."""
    rule = evaluate(draft, "before", classification)
    if rule is None or not turns.fire(draft, rule):
        turns.begin_reply(draft)
