"""The session socket (docs/protocol.md): reads frames, hands them to the hub, passes on what the group
brings.

Handlers are short: a consumer handles one message at a time, so nothing here waits for a turn. Every event
has a `seq` and every piece of text an offset; what was dropped on the way (a full queue, a client that does
not read) is read again from the log.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

from pydantic import ValidationError

from runtime import live
from runtime.access import may_use
from runtime.commands import Command
from runtime.inspector.frames import (
    CLIENT_FRAME,
    Approve,
    Breakpoints,
    ClientFrame,
    ErrorFrame,
    Fork,
    Hello,
    Ping,
    Pong,
    Presence,
    Ready,
    Resume,
    TextDeltaFrame,
    ToolResult,
)
from runtime.publisher import encoded, group_of
from runtime.reading import logged_frames, session_now
from runtime.sockets import LeanConsumer, in_database

logger = logging.getLogger(__name__)

MAX_FRAME_BYTES = 1 << 20
MAX_UNACKNOWLEDGED_CHARACTERS = 8 << 20
"""A client that has not said anything for so much output is not reading: the server has no back-pressure, so
without this the output would pile up in its memory."""

PAGE = 200

NOT_SIGNED_IN, NOT_FOUND = 4401, 4404
NOT_YET = (Fork, Breakpoints, Resume, ToolResult, Approve)


class SessionConsumer(LeanConsumer):
    """One socket on one session of its owner."""

    session: uuid.UUID
    waiting: set[asyncio.Task[None]]
    """Tasks that wait for the hub to tell how a request ended."""
    entered = False
    greeted = False
    """Whether the client has said hello; before that it gets no events."""
    behind = False
    """Whether something was held back that the log must give again."""
    last_seq = 0
    unacknowledged = 0
    reply: tuple[int, int] = (0, 0)
    """The call whose text was sent last, and how many of its code points."""

    # Coming and going

    async def connect(self) -> None:
        self.waiting = set()
        self.session = self.scope["url_route"]["kwargs"]["session"]
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self._refuse(NOT_SIGNED_IN)
        elif not await self._may_use():
            await self._refuse(NOT_FOUND)
        else:
            await self.channel_layer.group_add(group_of(self.session), self.channel_name)
            await self.accept()
            self.entered = True
            await self._tell_viewers(live.hub().enter(self.session))

    async def disconnect(self, code: int) -> None:
        if self.entered:
            self.entered = False
            for waiting in self.waiting:  # the work itself is the hub's and goes on
                waiting.cancel()
            await self.channel_layer.group_discard(group_of(self.session), self.channel_name)
            await self._tell_viewers(live.hub().leave(self.session))

    async def _refuse(self, code: int) -> None:
        # Accepted first: a browser does not tell its page why a handshake failed, so it would try for ever.
        await self.accept()
        await self.close(code)

    async def _may_use(self) -> bool:
        login = self.scope.get("session")
        key = login.session_key if login is not None else None
        return await in_database(may_use, self.session, self.scope["user"].pk, key)

    async def _tell_viewers(self, viewers: int) -> None:
        message = {"type": "session.frame", "frame": Presence(viewers=viewers).model_dump_json()}
        await self.channel_layer.group_send(group_of(self.session), message)

    # What the client says

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self.unacknowledged = 0
        frame = read_frame(text_data)
        if isinstance(frame, ErrorFrame):
            await self._say(frame)
        elif isinstance(frame, Hello):
            await self._greet(frame.after_seq)
        else:
            if self.behind:
                await self._greet(self.last_seq)
            await self._answer(frame)

    async def _answer(self, frame: ClientFrame) -> None:
        if isinstance(frame, Ping):
            await self._say(Pong())
        elif isinstance(frame, NOT_YET):
            await self._say(ErrorFrame(code="not-yet", message=f"{frame.type!r} comes with a later release."))
        elif not await self._may_use():
            await self.close(NOT_FOUND)
        elif not isinstance(frame, Hello):
            waiting = asyncio.create_task(self._do(frame))
            self.waiting.add(waiting)
            waiting.add_done_callback(self.waiting.discard)

    async def _do(self, command: Command) -> None:
        error = await live.hub().do(self.session, command)
        if error is not None:
            await self._say(error)

    async def _greet(self, after_seq: int) -> None:
        """Sends exactly what comes after `after_seq`, in order, then `ready`. What the group brings
        meanwhile waits its turn in this consumer's queue, and is dropped there as far as it was
        replayed."""
        if not await self._may_use():
            await self.close(NOT_FOUND)
            return
        now = await in_database(session_now, self.session)
        self.greeted, self.behind = True, False
        self.last_seq, self.reply = min(after_seq, now.last_seq), (0, 0)
        await self._replay()
        if not self.behind:
            await self._say_ready()

    async def _say_ready(self) -> None:
        """`running` must not speak of a call whose start was not replayed, so the log is read until it is
        level with this process's own state."""
        hub = live.hub()
        now = await in_database(session_now, self.session)
        while not self.behind and max(hub.last_seq(self.session), now.last_seq) > self.last_seq:
            seen = self.last_seq
            await self._replay()
            now = await in_database(session_now, self.session)
            if self.last_seq == seen:
                break  # its own state is an event ahead of the log; that event comes by the group
        local = hub.is_running(self.session)
        running = hub.running(self.session) if local else now.running
        if running is not None:
            self.reply = (running.call, len(running.text))
        await self._say(Ready(last_seq=self.last_seq, status=now.status, running=running))
        if now.status == "running" and not local:
            await hub.ask_to_tell(self.session, now.holder)

    # What the group brings

    async def session_event(self, message: dict[str, Any]) -> None:
        seq: int = message["seq"]
        if not self.greeted or self.behind or seq <= self.last_seq:
            return
        if seq > self.last_seq + 1:
            await self._replay()
        else:
            await self._push_event(seq, message["kind"], message["frame"])

    async def session_text(self, message: dict[str, Any]) -> None:
        if not self.greeted or self.behind:
            return
        call, offset, text = message["call"], message["offset"], message["text"]
        sent = self.reply[1] if self.reply[0] == call else 0
        if offset > sent:
            running = live.hub().running(self.session)
            if running is None or running.call != call:
                await self._ask_for_text()
                return
            offset, text = 0, running.text
        unsent = text[max(0, sent - offset) :]
        if unsent:
            await self._push_text(message["turn"], call, max(offset, sent), unsent)

    async def _ask_for_text(self) -> None:
        """A piece is missing that this process does not have. The one that streams repeats it; when the
        reply has ended meanwhile, its whole text is in the log."""
        now = await in_database(session_now, self.session)
        if now.status == "running":
            await live.hub().ask_to_tell(self.session, now.holder)

    async def session_frame(self, message: dict[str, Any]) -> None:
        if not self.behind:
            await self._push(message["frame"])

    async def session_gone(self, message: dict[str, Any]) -> None:
        await self.close(NOT_FOUND)

    # Sending

    async def _replay(self) -> None:
        """Sends the log from `last_seq` on, to its end; stops early (`behind`) when the client does not
        read."""
        while not self.behind:
            page = await in_database(logged_frames, self.session, self.last_seq, PAGE)
            for seq, payload in page:
                if not self.behind:
                    await self._push_event(seq, payload["type"], encoded(payload))
            if len(page) < PAGE:
                break

    async def _push_event(self, seq: int, kind: str, frame: str) -> None:
        if await self._push(frame):
            self.last_seq = seq
        if kind == "text_withdrawn":
            self.reply = (0, 0)

    async def _push_text(self, turn: int, call: int, offset: int, text: str) -> None:
        frame = TextDeltaFrame(turn=turn, call=call, offset=offset, text=text)
        if await self._push(frame.model_dump_json()):
            self.reply = (call, offset + len(text))

    async def _push(self, frame: str) -> bool:
        if self.behind:
            return False
        if self.unacknowledged > MAX_UNACKNOWLEDGED_CHARACTERS:
            self.behind = True
            logger.info("A socket of session %s does not read; it catches up when it speaks", self.session)
            return False
        self.unacknowledged += len(frame)
        await self.send(text_data=frame)
        return True

    async def _say(self, frame: Pong | Ready | ErrorFrame) -> None:
        await self.send(text_data=frame.model_dump_json())


class NoSuchSocket(LeanConsumer):
    """Any other address: closed like a session that is not there."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(NOT_FOUND)


def read_frame(text: str | None) -> ClientFrame | ErrorFrame:
    """What the client said, or the error that answers it."""
    if text is None:
        return ErrorFrame(code="bad-frame", message="Frames are JSON text, not bytes.")
    if len(text) > MAX_FRAME_BYTES or len(text.encode(errors="replace")) > MAX_FRAME_BYTES:
        return ErrorFrame(code="too-large", message="A frame may have 1 MiB at most; nothing of it was used.")
    try:
        return CLIENT_FRAME.validate_json(text)
    except ValidationError as error:
        return bad_frame(error)


def bad_frame(error: ValidationError) -> ErrorFrame:
    """Says what is wrong with a frame, without repeating what was in it."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return ErrorFrame(code="unknown-type", message="The frame's `type` is missing or not known.")
    if first["type"] == "json_invalid":
        return ErrorFrame(code="bad-frame", message="The frame is not JSON.")
    where = ".".join(str(part) for part in first["loc"][1:])
    words = first["msg"].removeprefix("Value error, ")
    return ErrorFrame(code="bad-frame", message=f"{where or 'The frame'}: {words}.")
