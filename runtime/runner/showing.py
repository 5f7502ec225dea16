"""What the call in flight shows of the reply, and what waits until Phase 2 begins."""

from __future__ import annotations

from collections.abc import Callable

from runtime.conversation.events import Event, LLMCallCompleted, LLMCallFailed, Phase2Start, TurnStarted
from runtime.runner.ports import Delta, RunningText


class Showing:
    """The text that one session shows, piece by piece."""

    def __init__(self, tell: Callable[[Delta], None]) -> None:
        self.text: RunningText | None = None
        """What the call in flight has shown so far; None when none shows text."""
        self._tell = tell
        self._held: tuple[int, str] | None = None

    def show(self, turn: int, call: int, text: str) -> None:
        """Show a piece of the reply."""
        before = self.of(call)
        self.text = RunningText(turn, call, before + text)
        self._tell(Delta(turn, call, len(before), text))

    def hold(self, call: int, text: str) -> None:
        """The call's message is complete: its text is shown where Phase 2 begins, if it begins with it."""
        self._held = (call, text)

    def of(self, call: int) -> str:
        """What that call has shown."""
        return self.text.text if self.text is not None and self.text.call == call else ""

    def forget(self) -> str:
        """Forget what was shown; the text."""
        text = self.text.text if self.text is not None else ""
        self.text = None
        return text

    def heard(self, event: Event, turn: int) -> None:
        """Phase 2 that begins before the message is logged as complete begins with its text."""
        if self._held is None:
            return
        call, text = self._held
        if isinstance(event, LLMCallCompleted | LLMCallFailed | TurnStarted):
            self._held = None
        elif isinstance(event, Phase2Start):
            self._held = None
            self.show(turn, call, text)
