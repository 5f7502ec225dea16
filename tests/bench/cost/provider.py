"""The provider of a conversation: bills each request by its cache rules; checked, it also reads the request as
it goes over the wire, as the simulated Messages API does, and says what it would refuse."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime

from runtime.context.cache_model import NOT_YET, Billing, Store, begin, send
from runtime.context.efficiency import Sent
from runtime.context.lane_cache import marks_of
from runtime.context.measures import HEAD_KINDS, blocks_of
from runtime.context.models import ModelRecord
from runtime.context.prefixes import lay_out
from runtime.conversation.messages import Usage
from runtime.conversation.segments import Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from tests.simulator.answers import HttpRequest, Refusal
from tests.simulator.anthropic.api import AnthropicApi
from tests.simulator.anthropic.checking import VERSION
from tests.simulator.profiles import Profiles


@dataclass(slots=True)
class Call:
    """One request as its provider got it and billed it."""

    sent: Sent
    billed: Usage
    window: tuple[Segment, ...]
    refused: str | None = None
    """Why the simulated API would not have taken it; None if it was not asked, or takes it."""
    agrees: bool = True
    """Whether the simulated API, with blocks of its own, reads as many of them as was billed."""


class Provider:
    """Takes requests one after the other."""

    def __init__(self, model: ModelRecord, *, checked: bool) -> None:
        self.calls: list[Call] = []
        self._model = model
        self._store: Store = {}
        self._wire = _Wire(model) if checked else None

    def take(self, request: LLMRequest, at: datetime) -> Begun:
        """A request comes in."""
        window = request.window.segments
        blocks, marks = blocks_of(window), marks_of(window, request.cache_points)
        billing = send(blocks, marks, self._store, self._model, at, NOT_YET)
        self._store = billing.store
        usage = Usage(**billing.tokens.model_dump())
        call = Call(Sent(at, lay_out(blocks), tuple(marks), self._model), usage, window)
        wired = self._wire.take(request, at, call) if self._wire is not None else None
        if wired is not None:
            call.agrees = _behind_head(window[: billing.hit + 1]) == wired.read
        self.calls.append(call)
        return Begun(call, billing, wired.billing if wired is not None else None)

    def begin(self, begun: Begun, at: datetime) -> None:
        """The answer begins: what the request wrote can be read from now on."""
        self._store = begin(self._store, begun.billing, at)
        if self._wire is not None and begun.wired is not None:
            self._wire.store = begin(self._wire.store, begun.wired, at)


@dataclass(frozen=True, slots=True)
class Begun:
    """A request whose answer has not begun."""

    call: Call
    billing: Billing
    wired: Billing | None


@dataclass(frozen=True, slots=True)
class _Wired:
    billing: Billing
    read: int
    """Blocks of messages that were read."""


@dataclass(slots=True)
class _Wire:
    """The simulated Messages API, as far as it checks and counts."""

    model: ModelRecord
    api: AnthropicApi = field(default_factory=lambda: AnthropicApi(Profiles()))
    store: Store = field(default_factory=dict)

    def take(self, request: LLMRequest, at: datetime, call: Call) -> _Wired | None:
        """The request by the API's own reading; None, with the reason in the call, if it refuses."""
        body = json.dumps(render_anthropic(request, self.model)).encode()
        headers = {"x-api-key": "bench", "anthropic-version": VERSION, "content-type": "application/json"}
        try:
            prepared = self.api.prepare(HttpRequest("POST", "/v1/messages", "", headers, body))
        except Refusal as refusal:
            call.refused = str(refusal)
            return None
        billing = send(prepared.blocks, prepared.marks, self.store, self.model, at, NOT_YET)
        self.store = billing.store
        head = max((i + 1 for i, block in enumerate(prepared.blocks) if not block.positions), default=0)
        return _Wired(billing, max(0, billing.hit + 1 - head))


def _behind_head(read: tuple[Segment, ...]) -> int:
    return sum(segment.kind not in HEAD_KINDS for segment in read)
