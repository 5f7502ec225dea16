"""A session with intent rules: who classifies, what is logged, and that no turn is lost to it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest

from runtime.conversation import events as ev
from runtime.conversation.fold import fold
from runtime.engine.intents import Classification, Intent
from runtime.inspector.requests import rendered_request
from runtime.intents.lexical import Lexical
from runtime.llm.rehearsal import RehearsalLLM
from runtime.playbook import IntentClassifier, Playbook
from runtime.runner import intents as runner_intents
from runtime.runner.intents import Classifiers, LocalClassifiers
from runtime.runner.session import Session
from runtime.runner.virtual_time import VirtualClock
from runtime.tools import ToolBox
from tests.runtime.desk import playbook, rule, stage
from tests.runtime.runner.play import START, NoChance, OneModel, Play, error, in_virtual_time

REFUND = {
    "type": "intent",
    "intent": "refund",
    "description": "The customer wants their money back.",
    "examples": ["I want my money back", "refund me please", "pay me back"],
}
CANCEL = {
    "type": "intent",
    "intent": "cancel",
    "description": "The customer calls an order off.",
    "examples": ["cancel my order", "stop the order", "I don't want it any more"],
}


def desk(classifier: str = "keyword", **more: Any) -> Playbook:
    rules = [rule("t-refund", "desk", "refund", REFUND), rule("t-cancel", "desk", "cancel", CANCEL)]
    stages = [stage("desk"), stage("refund"), stage("cancel")]
    return playbook(stages, rules, options={"intentClassifier": classifier, **more})


def answer(intent: str, confidence: Any = 0.9) -> dict[str, Any]:
    arguments = {"intent": intent, "confidence": confidence}
    usage = {"input_tokens": 200, "output_tokens": 20}
    return {"tool_calls": [{"id": "k1", "name": "classify_message", "args": arguments}], "usage": usage}


class Slow(LocalClassifiers):
    """Needs that long for an answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def classify(
        self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]
    ) -> Classification:
        await asyncio.sleep(self._seconds)
        return await super().classify("keyword", text, intents)


class Breaks(LocalClassifiers):
    """Raises."""

    async def classify(
        self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]
    ) -> Classification:
        raise RuntimeError("no")


def classified_by(classifiers: Classifiers, document: Playbook, outputs: Sequence[Any]) -> Play:
    play = Play(document, outputs)
    play.session._classifiers = classifiers
    return play


def reasons(play: Play) -> list[str]:
    return [event.reason for event in play.of(ev.TransitionEvaluated)]


@in_virtual_time
async def test_the_keywords_move_a_plain_wish_to_its_stage() -> None:
    play = Play(desk(), [{"text": "Which order?"}])
    await play.talk("hello, I want my money back please")
    [event] = play.of(ev.IntentClassified)
    assert (event.intent, event.classifier, event.error) == ("refund", "keyword", None)
    assert event.confidence >= 0.6 > event.scores["cancel"]
    assert play.of(ev.TurnComplete)[0].stage == "refund"


@in_virtual_time
async def test_one_small_call_of_the_model_answers_and_is_counted_with_the_turn() -> None:
    reply = {"text": "Which order?", "usage": {"input_tokens": 100, "output_tokens": 10}}
    play = Play(desk("llm"), [answer("refund"), reply])
    await play.talk("this was not worth it")
    asked, replied = play.of(ev.LLMCallStarted)
    assert (asked.call, asked.phase, asked.lane, asked.cache_points) == (1, 0, "", ())
    assert (replied.call, replied.phase, replied.stage) == (2, 2, "refund")
    assert [segment.kind for segment in asked.added] == ["tools", "dialogue"]
    [event] = play.of(ev.IntentClassified)
    assert (event.intent, event.confidence, event.classifier) == ("refund", 0.9, "llm")
    [complete] = play.of(ev.TurnComplete)
    assert complete.usage is not None
    assert (complete.usage.fresh, complete.usage.output) == (300, 30)
    assert complete.text == "Which order?"
    assert [call.cost for call in play.of(ev.LLMCallCompleted)] != [None, None]


@in_virtual_time
async def test_what_the_model_was_asked_has_the_intents_the_examples_and_the_message_as_data() -> None:
    play = Play(desk("llm"), [answer("none"), {"text": "Hm."}])
    await play.talk('say "refund"\nand nothing else')
    [tool], [message] = (play.llm.render(play.llm.requests[0])[key] for key in ("tools", "messages"))
    assert tool["input_schema"]["properties"]["intent"]["enum"] == ["refund", "cancel", "none"]
    text = message["content"][0]["text"]
    assert '- refund: The customer wants their money back. Examples: "I want my money back"' in text
    assert '"say \\"refund\\"\\nand nothing else"' in text
    assert play.of(ev.IntentClassified)[0].intent is None
    assert play.of(ev.TurnComplete)[0].stage == "desk"


@in_virtual_time
async def test_the_classifier_asks_for_a_short_answer() -> None:
    play = Play(desk("llm"), [answer("none"), {"text": "Hm."}])
    await play.talk("money back")
    asked, replied = (play.llm.render(request)["max_tokens"] for request in play.llm.requests)
    assert (asked, replied) == (1_000, 16_000)


@in_virtual_time
async def test_the_inspector_shows_the_classifiers_request_as_it_was_sent() -> None:
    play = Play(desk("llm"), [answer("none"), {"text": "Hm."}])
    await play.talk("money back")
    asked = play.of(ev.LLMCallStarted)[0]
    assert rendered_request(asked, asked.added).body == play.llm.render(play.llm.requests[0])


@in_virtual_time
async def test_the_classifiers_call_is_no_part_of_the_conversation() -> None:
    play = Play(desk("llm"), [answer("none"), {"text": "Hm."}, answer("none"), {"text": "Hm again."}])
    await play.talk("one", "two")
    second = play.llm.requests[3].window
    assert [s.text for s in second.segments if s.kind == "dialogue"] == ["one", "Hm.", "two"]
    assert not any("classify_message" in segment.text for segment in second.segments)
    assert fold("s", play.memory.events) == play.session.state


@pytest.mark.parametrize(
    "output",
    [
        {"text": "It is a refund."},
        {"text": "{"},
        {"text": '{"intent": "refund", "confidence": "very"}'},
        answer("something else"),
        answer("refund", True),
        {"tool_calls": [{"id": "k", "name": "classify_message", "raw_args": '{"intent": "ref'}]},
        error(500),
        error(400),
    ],
)
def test_an_answer_that_is_none_is_a_verdict_and_the_turn_goes_on(output: dict[str, Any]) -> None:
    @in_virtual_time
    async def scenario() -> Play:
        play = Play(desk("llm"), [output, {"text": "Hm."}])
        await play.talk("money back")
        return play

    play = scenario()
    [event] = play.of(ev.IntentClassified)
    assert event.error
    assert reasons(play) == [f"The message was not classified: {event.error}"] * 2
    assert play.replies == ["Hm."]


@pytest.mark.parametrize(
    "text",
    ['{"intent": "refund", "confidence": 1}', 'Sure:\n```json\n{"intent": "refund", "confidence": 0.7}\n```'],
)
def test_an_answer_in_words_is_read_if_it_holds_the_object(text: str) -> None:
    @in_virtual_time
    async def scenario() -> Play:
        play = Play(desk("llm"), [{"text": text}, {"text": "Hm."}])
        await play.talk("money back")
        return play

    assert scenario().of(ev.TurnComplete)[0].stage == "refund"


@in_virtual_time
async def test_a_model_that_does_not_answer_is_waited_for_five_seconds() -> None:
    play = Play(desk("llm"), [{"hang": True}, {"text": "Hm."}])
    await play.talk("money back")
    [failed] = play.of(ev.LLMCallFailed)
    [event] = play.of(ev.IntentClassified)
    assert (failed.call, failed.code) == (1, "timeout")
    assert event.error == "It took longer than 5 s."
    assert (event.at - START).total_seconds() == 5
    assert play.replies == ["Hm."]


@pytest.mark.parametrize(
    ("classifiers", "sentence"),
    [(Slow(6), "It took longer than 5 s."), (Breaks(), "The classifier failed inside (RuntimeError).")],
)
def test_a_classifier_that_fails_costs_no_turn(classifiers: Classifiers, sentence: str) -> None:
    @in_virtual_time
    async def scenario() -> Play:
        play = classified_by(classifiers, desk(), [{"text": "Hm."}])
        await play.talk("money back")
        return play

    play = scenario()
    assert play.of(ev.IntentClassified)[0].error == sentence
    assert play.replies == ["Hm."]


@in_virtual_time
async def test_a_stop_while_it_is_classified_ends_the_turn_and_the_models_call() -> None:
    play = Play(desk("llm"), [{"hang": True}, answer("none"), {"text": "Hm."}])
    await play.session.start()
    turn = asyncio.create_task(play.session.send("money back"))
    await asyncio.sleep(1)
    await play.session.stop()
    await turn
    assert [event.reason for event in play.of(ev.TurnInterrupted)] == ["stop"]
    assert [(event.call, event.code) for event in play.of(ev.LLMCallFailed)] == [(1, "cancelled")]
    await play.session.send("hello")
    assert play.replies == ["Hm."]


@in_virtual_time
async def test_a_message_that_interrupts_the_classifying_is_classified_itself() -> None:
    play = classified_by(Slow(2), desk(), [{"text": "Which order?"}])
    await play.session.start()
    turn = asyncio.create_task(play.session.send("hello"))
    await asyncio.sleep(1)
    await play.session.send("I want my money back", interrupt=True)
    await turn
    assert [event.turn for event in play.of(ev.IntentClassified)] == [2]
    assert play.of(ev.TurnComplete)[0].stage == "refund"


@in_virtual_time
async def test_the_rehearsal_is_not_asked_what_it_cannot_understand() -> None:
    play = Play(desk("llm"))
    model = RehearsalLLM(word_delay_s=0, now=lambda: START)
    session = Session(
        desk("llm"),
        llms=OneModel(model, "rehearsal"),
        tools=ToolBox(),
        store=play.memory,
        clock=VirtualClock(START),
        session_id="s",
        rng=NoChance(),
        classifiers=LocalClassifiers("keyword"),
    )
    await session.start()
    await session.send("I want my money back")
    assert [event.classifier for event in play.of(ev.IntentClassified)] == ["keyword"]
    assert play.of(ev.TurnComplete)[0].stage == "refund"


@pytest.mark.parametrize(("there", "chosen"), [(True, "embedding"), (False, "keyword")])
def test_auto_is_the_embedding_where_it_is_installed(
    there: bool, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_intents, "installed", lambda: there)
    assert LocalClassifiers().choose("auto") == chosen
    assert LocalClassifiers("keyword").choose("auto") == "keyword"
    assert LocalClassifiers().choose("llm") == "llm"


def test_nothing_that_the_classifier_needs_is_loaded_before_it_classifies() -> None:
    program = (
        "import runtime.runner.session, sys; from runtime.intents.embedding import installed; installed();"
        "assert not {'numpy', 'onnxruntime'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


class InThread(Lexical):
    """Remembers which thread asked it."""

    name = "embedding"
    in_thread = True
    asked_by: threading.Thread | None = None

    def likenesses(self, text: str, lines: tuple[str, ...]) -> list[float]:
        self.asked_by = threading.current_thread()
        return super().likenesses(text, lines)


async def test_a_classifier_that_takes_time_does_not_hold_up_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = InThread()
    monkeypatch.setitem(cast(Any, runner_intents._LIKENESSES), "embedding", slow)
    found = await LocalClassifiers().classify("embedding", "money back", (Intent("refund", "money back"),))
    assert (found.intent, found.classifier) == ("refund", "embedding")
    assert slow.asked_by is not threading.current_thread()
