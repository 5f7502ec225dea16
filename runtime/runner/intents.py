"""Classifies a user's message: by a classifier of this process, or by one small call of the stage's model.

Whatever goes wrong becomes an answer with its reason: no turn is lost to a classifier.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final, Literal, Protocol

from runtime.engine.effects import ClassifyIntent
from runtime.engine.happened import IntentsClassified
from runtime.engine.intents import Classification, Intent
from runtime.intents.embedding import Embedding, NotInstalled, installed
from runtime.intents.lexical import Lexical
from runtime.intents.scoring import Likeness, classify
from runtime.llm.base import LLMError
from runtime.playbook import IntentClassifier
from runtime.playbook.storable import storable_text
from runtime.runner.intent_question import IntentQuestion
from runtime.runner.model_call import Host
from runtime.runner.waiting import TookTooLong, in_time

REHEARSAL: Final = "rehearsal"
Local = Literal["keyword", "embedding"]

logger = logging.getLogger(__name__)


class Classifiers(Protocol):
    """Who tells intents apart in a session, beside its models."""

    def choose(self, wanted: IntentClassifier) -> IntentClassifier:
        """Which of them `wanted` means here: never `auto`."""
        ...

    async def classify(
        self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]
    ) -> Classification:
        """The answer of one that asks no model."""
        ...


_LIKENESSES: Final[Mapping[str, Likeness]] = {"keyword": Lexical(), "embedding": Embedding()}
"""One of each in a process: they keep what they know of lines, nothing of sessions."""


class LocalClassifiers:
    """Those of this process. `auto` is the embedding where it is installed, else the keywords."""

    def __init__(self, auto: Local | None = None) -> None:
        """`auto`: what it means, where it must not depend on what is installed."""
        self._auto = auto

    def choose(self, wanted: IntentClassifier) -> IntentClassifier:
        """The one that is meant."""
        if wanted != "auto":
            return wanted
        return self._auto or ("embedding" if installed() else "keyword")

    async def classify(
        self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]
    ) -> Classification:
        """The answer; a slow one is waited for in a thread."""
        if _LIKENESSES[name].in_thread:
            return await asyncio.to_thread(self.classify_now, name, text, intents)
        return self.classify_now(name, text, intents)

    def classify_now(self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]) -> Classification:
        """The answer, however long it takes. Raises NotInstalled."""
        return classify(_LIKENESSES[name], text, intents)


async def classify_message(host: Host, classifiers: Classifiers, effect: ClassifyIntent) -> None:
    """Do the effect and feed back the answer. Only cancellation ends it without one."""
    name = classifiers.choose(effect.classifier)
    try:
        if name == "llm":
            answer = await _ask_model(host, classifiers, effect)
        else:
            work = classifiers.classify(name, effect.text, effect.intents)
            answer = await in_time(host.clock, work)
    except (TookTooLong, NotInstalled) as error:
        answer = Classification(name, error=str(error))
    except LLMError as error:
        answer = Classification(name, error=storable_text(error.message))
    except Exception as error:
        logger.exception("the classifier %s of session %s failed", name, host.state.session)
        answer = Classification(name, error=f"The classifier failed inside ({type(error).__name__}).")
    await host.advance(IntentsClassified(effect.turn, answer))


async def _ask_model(host: Host, classifiers: Classifiers, effect: ClassifyIntent) -> Classification:
    """The model's answer. The rehearsal understands nothing: a classifier of this process stands in."""
    llm, record = host.llms.get(effect.config, host.state.using_model)
    if record.id == REHEARSAL:
        stand_in = classifiers.choose("auto")
        return await in_time(host.clock, classifiers.classify(stand_in, effect.text, effect.intents))
    return await IntentQuestion(host, effect, llm, record).run()
