"""What others would have sent in the same conversation, read from its log.

Facts, from the published sources (their names of things in brackets):

- LLMRTC (`PlaybookOrchestrator`): base and the stage's prompt as the system text, the stage's tools, the last
  50 messages (`historyLimit`), nothing marked.
- Playbooks AI, last release (`LLMContextCompactor`): each frame of the stack has its messages; when it
  returns they go, and the caller gets a result message. In each call what stands before the last reply, or
  before the last whole state if that is older (one in ten messages), is shrunk: the user's messages go, and
  of replies the first two lines are kept. Results stay whole. Nothing is marked.
- Playbooks AI 0.7.1: the same messages, not shrunk; the system text, and the ends of the last three frames,
  are marked (`ensure_upto_N_cached_messages`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from runtime.context.cache_model import Mark
from runtime.context.efficiency import Sent
from runtime.context.models import ModelRecord
from runtime.context.prefixes import DEVELOPER, MESSAGE, NO_END, Block
from runtime.context.segments import result_text
from runtime.context.tokens import count_tokens
from runtime.conversation import events as ev
from runtime.conversation.events import Event
from runtime.conversation.snapshot import canonical
from runtime.playbook import Playbook
from runtime.playbook.engine_tools import canonical_json, stage_tools, union_tools
from tests.bench.cost.played import Played
from tests.bench.cost.provider import FIRST_BYTE_S, Laying

HISTORY_LIMIT: Final = 50
WHOLE_STATE_EVERY: Final = 10
KEPT_CHARACTERS: Final = 160
"""Two lines: the number of the step, and what was done in it."""
FRAME_MARKS: Final = 3


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: str
    kind: str
    text: str
    whole_state: bool = False


@dataclass(slots=True)
class Frame:
    """A frame of the stack with its messages."""

    stage: str
    messages: list[Message] = field(default_factory=list)


class Reading:
    """Follows a log: what was said so far, and in which frame."""

    def __init__(self, results: Mapping[str, str]) -> None:
        self.results = results
        """Call id -> the whole result: an artifact's text does not stand in the event."""
        self.messages: list[Message] = []
        self.frames: list[Frame] = []
        self._asked = 0

    @property
    def stage(self) -> str:
        """The stage it is in."""
        return self.frames[-1].stage

    def read(self, event: Event) -> None:
        """Takes the next event in."""
        match event:
            case ev.FramePushed():
                self.frames.append(Frame(event.stage))
            case ev.StageEntered():
                if not self.frames:
                    self.frames.append(Frame(event.stage))
                self.frames[-1].stage = event.stage
                self._say(Message("user", "stage", event.prompt), everywhere=False)
            case ev.UserMessageEvent():
                self._asked += 1
                first = self._asked % WHOLE_STATE_EVERY == 1
                self._say(Message("user", "dialogue", event.text, whole_state=first))
            case ev.LLMCallCompleted():
                self._spoken(event)
            case ev.ToolCallComplete():
                text = self.results.get(event.call_id) or result_text(event)
                self._say(Message("user", "tool_result", text))
            case ev.FramePopped():
                gone = self.frames.pop()
                text = f"{gone.stage}: {canonical(event.value)} {event.summary or ''}"
                self._say(Message("user", "tool_result", text), everywhere=False)
            case _:
                pass

    def _spoken(self, event: ev.LLMCallCompleted) -> None:
        if event.message.text:
            self._say(Message("assistant", "dialogue", event.message.text))
        for call in event.message.tool_calls:
            text = canonical({"name": call.name, "arguments": call.arguments})
            self._say(Message("assistant", "tool_call", text))

    def _say(self, message: Message, *, everywhere: bool = True) -> None:
        self.frames[-1].messages.append(message)
        if everywhere:
            self.messages.append(message)


class Counter:
    """Makes blocks, with the counts of one model."""

    def __init__(self, model: ModelRecord) -> None:
        self.model = model
        self._known: dict[tuple[str, str], Block] = {}

    def block(self, kind: str, text: str, end: int = MESSAGE, positions: int = 1) -> Block:
        """One block of a request."""
        known = self._known.get((kind, text))
        if known is None:
            tokens, _ = count_tokens(text, kind, self.model)
            digest = hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()
            known = self._known[(kind, text)] = Block(digest, tokens, positions, end)
        return known


def llmrtc(document: Playbook, played: Played, model: ModelRecord) -> list[Sent]:
    """LLMRTC's requests."""
    return _swapped(document, played, model, HISTORY_LIMIT)


def swapped(document: Playbook, played: Played, model: ModelRecord) -> list[Sent]:
    """LLMRTC's requests, if it forgot nothing."""
    return _swapped(document, played, model, None)


def _swapped(document: Playbook, played: Played, model: ModelRecord, limit: int | None) -> list[Sent]:
    count = Counter(model)

    def build(reading: Reading) -> tuple[list[Block], list[int]]:
        stage = document.stage(reading.stage)
        assert stage is not None
        tools = [tool.model_dump(mode="json", by_alias=True) for tool in stage_tools(document, stage, "swap")]
        system = f"{document.global_system_prompt}\n\n{stage.system_prompt}"
        head = [
            count.block("tools", canonical_json(tools), NO_END, max(1, len(tools))),
            count.block("base", system, DEVELOPER),
        ]
        return [*head, *(count.block(one.kind, one.text) for one in reading.messages[-(limit or 0) :])], []

    return _requests(played, model, build)


def playbooks_ai(document: Playbook, played: Played, model: ModelRecord) -> list[Sent]:
    """Playbooks AI's requests, as its last release makes them."""
    count = Counter(model)

    def build(reading: Reading) -> tuple[list[Block], list[int]]:
        messages = [message for frame in reading.frames for message in frame.messages]
        kept = _shrunk(messages)
        return [*_head(document, count), *(count.block(one.kind, one.text) for one in kept)], []

    return _requests(played, model, build)


def _shrunk(messages: Sequence[Message]) -> list[Message]:
    replies = [i for i, one in enumerate(messages) if one.role == "assistant"]
    if not replies:
        return list(messages)
    safe = next(
        (
            i
            for i in range(replies[-1], -1, -1)
            if messages[i].kind == "dialogue" and messages[i].role == "user"
        ),
        replies[-1],
    )
    whole = [i for i, one in enumerate(messages) if one.whole_state]
    safe = min(safe, whole[-1]) if whole else safe
    kept: list[Message] = []
    for index, one in enumerate(messages):
        if index >= safe or one.kind in ("stage", "tool_result"):
            kept.append(one)
        elif one.role == "assistant":
            kept.append(replace(one, text=one.text[:KEPT_CHARACTERS]))
    return kept


def playbooks_ai_071(document: Playbook, played: Played, model: ModelRecord) -> list[Sent]:
    """Playbooks AI's requests, as its version 0.7.1 made them."""
    count = Counter(model)

    def build(reading: Reading) -> tuple[list[Block], list[int]]:
        blocks, ends = _head(document, count), list[int]()
        for frame in reading.frames:
            blocks += [count.block(one.kind, one.text) for one in frame.messages]
            if frame.messages:
                ends.append(len(blocks) - 1)
        return blocks, [1, *ends[-FRAME_MARKS:]]

    return _requests(played, model, build)


def _head(document: Playbook, count: Counter) -> list[Block]:
    tools = [tool.model_dump(mode="json", by_alias=True) for tool in union_tools(document)]
    return [
        count.block("tools", canonical_json(tools), NO_END, max(1, len(tools))),
        count.block("base", document.global_system_prompt or "", DEVELOPER),
    ]


Build = Callable[[Reading], tuple[list[Block], list[int]]]
"""The blocks of the request that is sent now, and the indexes of those that are marked."""


def _requests(played: Played, model: ModelRecord, build: Build) -> list[Sent]:
    reading, laying, found = Reading(played.results), Laying(), list[Sent]()
    for event in played.events:
        if isinstance(event, ev.LLMCallStarted) and event.phase != 0:
            blocks, ends = build(reading)
            marks = tuple(Mark(index, model.ttls[0]) for index in ends)
            first = event.at + timedelta(seconds=FIRST_BYTE_S)
            found.append(Sent(event.at, laying.lay(blocks), marks, model, first_byte=first))
        reading.read(event)
    return found
