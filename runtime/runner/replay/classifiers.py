"""Who tells intents apart in a replay: the script where it says so, else the keywords; the same each time."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.engine.intents import Classification, Intent
from runtime.playbook import IntentClassifier, Options
from runtime.runner.intents import LocalClassifiers


class PlayedClassifiers(LocalClassifiers):
    """Classifies as the step that is played says, and without threads: nothing waits for them here."""

    def __init__(self, of_script: Options) -> None:
        super().__init__("keyword")
        self._chosen = "intent_classifier" in of_script.model_fields_set
        self._said: Mapping[str, float] | None = None

    def supply(self, said: Mapping[str, float] | None) -> None:
        """How likely each intent is in the next message; None leaves it to the classifier."""
        self._said = said

    def choose(self, wanted: IntentClassifier) -> IntentClassifier:
        """What the script chose; a model where the playbook names it, as the script has its answers; else
        the keywords, whatever is installed."""
        if self._said is None and (self._chosen or wanted == "llm"):
            return super().choose(wanted)
        return "keyword"

    async def classify(
        self, name: IntentClassifier, text: str, intents: tuple[Intent, ...]
    ) -> Classification:
        """The script's word, or the classifier's."""
        if self._said is None:
            return self.classify_now(name, text, intents)
        scores = {intent.name: self._said.get(intent.name, 0.0) for intent in intents}
        likeliest = max(scores, key=lambda intent: scores[intent])
        if not scores[likeliest]:
            return Classification("script", scores=scores)
        return Classification("script", likeliest, scores[likeliest], scores)
