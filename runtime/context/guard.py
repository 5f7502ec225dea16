"""The guard: what was sent stays in place. On in every test that runs a session (context.md, "The guard")."""

from __future__ import annotations

from runtime.conversation.windows import SentRequest


def prefix_violation(
    previous: SentRequest, current: SentRequest, rewritten_from: int | None = None
) -> str | None:
    """Says which block of the previous request of the same lane the current one changed; None if none.

    `rewritten_from`: index, in the previous request, of the first block named by a `window_rewritten` logged
    since then; blocks from there on may differ. Cache marks are no part of the comparison.
    """
    kept = previous.window if rewritten_from is None else previous.window[:rewritten_from]
    for index, expected in enumerate(segment.hash for segment in kept):
        found = current.window[index].hash if index < len(current.window) else "nothing"
        if found != expected:
            return (
                f"call {current.call} has {found} as block {index}, where call {previous.call} sent "
                f"{expected}, and no rewriting was logged"
            )
    return None
