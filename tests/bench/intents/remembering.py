"""Likenesses that are worked out once: the same messages are put to many stages with the same lines."""

from __future__ import annotations

from collections.abc import Sequence

from runtime.intents.embedding import Embedding


class RememberingEmbedding(Embedding):
    """The embedding, whose likeness of two texts does not depend on other lines."""

    def __init__(self) -> None:
        super().__init__()
        self._likeness: dict[str, dict[str, float]] = {}

    def likenesses(self, text: str, lines: tuple[str, ...]) -> Sequence[float]:
        """As the embedding says, once for each message and line."""
        known = self._likeness.setdefault(text, {})
        new = tuple(line for line in dict.fromkeys(lines) if line not in known)
        if new:
            known.update(zip(new, super().likenesses(text, new), strict=True))
        return [known[line] for line in lines]
