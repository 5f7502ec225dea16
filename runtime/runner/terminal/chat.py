"""The chat: what is typed goes to the session or is a command; what the session tells is written down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Final

from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.engine.table import tables_of
from runtime.inspector.calls import CALL_EVENTS, CallLog
from runtime.llm.rehearsal import REHEARSAL
from runtime.playbook import engine_tools
from runtime.runner.ports import Delta
from runtime.runner.session import Session, SessionOver
from runtime.runner.terminal.lines import Lines
from runtime.runner.terminal.window import window_lines
from runtime.runner.wording import printable, quiet_words

PROMPT: Final = "you> "
LONGEST_NAP_S: Final = 3600.0
HELP: Final = """\
/stage   where the conversation stands
/window  what the model was sent by the last call, segment by segment
/vars    the variables
/retry   take up a failed turn again
/help    these lines
/quit    leave (Ctrl+D does, too); Ctrl+C stops a running reply
A message that begins with a slash: type two."""


class TerminalChat:
    """One session in a terminal. `write` gets text as it comes, without line ends added."""

    def __init__(self, session: Session, lines: Lines, write: Callable[[str], None]) -> None:
        self._session, self._lines, self._write = session, lines, write
        self._calls = CallLog()
        self._speaker = ""
        self._column = 0
        """Characters in the line that is being written; 0 at its start."""
        self._busy = False
        session.on(self._hear)

    async def run(self) -> None:
        """Talks until the input ends or the user leaves."""
        await self._turn(self._session.start())
        while (typed := await self._typed()) is not None:
            text = typed.strip()
            if text in ("/quit", "/exit", "/q"):
                break
            if text.startswith("/") and not text.startswith("//"):
                await self._command(text)
            elif text:
                await self._turn(
                    self._session.send(text.removeprefix("/") if text.startswith("//") else text)
                )

    async def stop(self) -> None:
        """Ctrl+C: ends the running reply; says how to leave when none runs."""
        if self._busy:
            await self._session.stop()
        else:
            self._line("(nothing runs; Ctrl+D or /quit leaves)")

    # -- what is typed -------------------------------------------------------------------------------------

    async def _typed(self) -> str | None:
        """The next line; timers of the session go on while it is waited for."""
        reading = asyncio.create_task(self._lines.next(PROMPT))
        while True:
            self._column = len(PROMPT)
            wake = self._session.next_wake
            nap = None if wake is None else (wake - self._session.clock.now()).total_seconds()
            await asyncio.wait({reading}, timeout=None if nap is None else min(max(nap, 0.01), LONGEST_NAP_S))
            if reading.done():
                self._column = 0
                return reading.result()
            await self._turn(self._session.tick())

    async def _turn(self, turn: Coroutine[None, None, None]) -> None:
        self._busy = True
        try:
            await turn
        except SessionOver as over:
            self._line(str(over))
        finally:
            self._busy = False

    async def _command(self, text: str) -> None:
        match text.split()[0]:
            case "/stage":
                self._lines_of(self._stage())
            case "/window":
                self._lines_of(self._window())
            case "/vars":
                self._line(json.dumps(dict(self._session.state.variables), ensure_ascii=False, indent=2))
            case "/retry" if self._session.state.failed is None:
                self._line("The last turn did not fail.")
            case "/retry":
                await self._turn(self._session.retry())
            case "/help":
                self._line(HELP)
            case other:
                self._line(f"There is no command {other}; /help lists them.")

    def _stage(self) -> Iterator[str]:
        state, tables = self._session.state, tables_of(self._session.playbook, self._session.agents)
        for frame in state.frames:
            row = tables.of(frame).rows.get(frame.stage)
            name = f"{row.stage.name} ({frame.stage})" if row else frame.stage
            whose = f" of {frame.agent}" if frame.agent else ""
            yield f"{'  ' * frame.depth}{name}{whose}, {frame.turn_count} answered here"
        if state.status == "complete":
            yield "The session is complete."

    def _window(self) -> Iterator[str]:
        last = self._calls.view(self._calls.numbers[-1]) if self._calls.numbers else None
        if last is None:
            yield "No model was called yet."
        else:
            yield from window_lines(last)

    # -- what the session tells ----------------------------------------------------------------------------

    def _hear(self, item: Event | Delta) -> None:
        if isinstance(item, Delta):
            self._text(item)
            return
        if item.type in CALL_EVENTS:
            self._calls.read(item)
        if isinstance(item, ev.LLMCallStarted):
            self._speaker = speaker(item)
        shown = self._told(item)
        if shown:
            self._line(f"  · {shown}")

    def _text(self, delta: Delta) -> None:
        if delta.offset == 0:
            self._fresh_line()
            self._put(f"{self._speaker}> ")
        self._put(printable(delta.text))

    def _told(self, event: Event) -> str | None:
        """What a quiet line says about an event; None for most."""
        match event:
            case ev.TurnComplete(text=""):
                return "the model said nothing"
            case ev.TurnComplete():
                self._fresh_line()
                return None
            case ev.TurnInterrupted():
                return f"stopped ({event.reason})"
            case ev.TurnFailed():
                return f"failed: {event.message}{' /retry takes it up again.' if event.retryable else ''}"
            case ev.TextWithdrawn():
                return "the text above is withdrawn"
            case ev.LLMCallRetry():
                return f"{event.error} Trying again in {event.wait_ms / 1000:g} s."
            case ev.SessionComplete():
                return "the session is complete"
            # The move that follows says it all.
            case ev.ToolCallStart(name=engine_tools.TRANSITION_TOOL):
                return None
            case ev.ToolCallComplete(tool_name=engine_tools.TRANSITION_TOOL, success=True):
                return None
        words = quiet_words(event)
        return f"{words[0]} {words[1]}" if words else None

    # -- writing -------------------------------------------------------------------------------------------

    def _lines_of(self, lines: Iterator[str]) -> None:
        for line in lines:
            self._line(line)

    def _line(self, text: str) -> None:
        self._fresh_line()
        self._put(printable(text) + "\n")

    def _fresh_line(self) -> None:
        if self._column:
            self._put("\n")

    def _put(self, text: str) -> None:
        self._write(text)
        self._column = len(text) - text.rfind("\n") - 1 if "\n" in text else self._column + len(text)


def speaker(call: ev.LLMCallStarted) -> str:
    """Who speaks: the model's id; the rehearsal says that it is none."""
    return "rehearsal (no model)" if call.provider == REHEARSAL else call.model
