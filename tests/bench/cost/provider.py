"""The provider of a conversation: bills each request by its cache rules.

Checked, it also reads each request as it goes over the wire, as the simulated Messages API does, and says
what that would refuse, and whether it reads as much from its cache.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

from runtime.context.cache_model import Entry, Store, bill, send
from runtime.context.efficiency import Sent
from runtime.context.lane_cache import marks_of
from runtime.context.measures import HEAD_KINDS, blocks_of
from runtime.context.models import ModelRecord
from runtime.context.prefixes import NOTHING, Block, Prefixes, lay_out
from runtime.conversation.segments import Prediction, Segment
from runtime.llm.anthropic_wire import render_anthropic
from runtime.llm.base import LLMRequest
from tests.simulator.answers import HttpRequest, Refusal
from tests.simulator.anthropic.api import AnthropicApi
from tests.simulator.anthropic.checking import VERSION
from tests.simulator.profiles import Profiles

FIRST_BYTE_S: Final = 1.5


@dataclass(slots=True)
class Call:
    """One request as its provider got it and billed it."""

    sent: Sent
    billed: Prediction
    window: tuple[Segment, ...]
    refused: str | None = None
    """Why the simulated API would not have taken it; None if it was not asked, or takes it."""
    agrees: bool = True
    """Whether the simulated API, with blocks of its own, reads as many of them as was billed."""


class Provider:
    """Takes requests one after the other; each answer begins FIRST_BYTE_S after its request."""

    def __init__(self, model: ModelRecord, *, checked: bool) -> None:
        self.calls: list[Call] = []
        self._model = model
        self._laying = Laying()
        self._store: dict[int, Entry] = {}
        self._wire = _Wire(model) if checked else None

    def take(self, request: LLMRequest, at: datetime) -> Call:
        """A request comes in, and is billed."""
        window, first = request.window.segments, at + timedelta(seconds=FIRST_BYTE_S)
        laid, marks = self._laying.lay(blocks_of(window)), marks_of(window, request.cache_points, self._model)
        for key in [key for key, entry in self._store.items() if entry.expires <= at]:
            del self._store[key]
        tokens, hit = bill(laid, marks, self._store, self._model, at, first)
        call = Call(Sent(at, laid, tuple(marks), self._model, first_byte=first), tokens, window)
        read = self._wire.take(request, at, first, call) if self._wire is not None else None
        call.agrees = read is None or read == _behind_head(window[: hit + 1])
        self.calls.append(call)
        return call


class Laying:
    """Lays out requests of which each begins like the one before."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._laid = NOTHING

    def lay(self, blocks: list[Block]) -> Prefixes:
        """The prefixes of those blocks."""
        pairs = zip(self._blocks, blocks, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._laid = lay_out(blocks[shared:], replace(self._laid, length=shared))
        self._blocks = blocks
        return self._laid


@dataclass(slots=True)
class _Wire:
    """The simulated Messages API, as far as it checks and counts; with a cache of its own."""

    model: ModelRecord
    api: AnthropicApi = field(default_factory=lambda: AnthropicApi(Profiles()))
    store: Store = field(default_factory=dict)

    def take(self, request: LLMRequest, at: datetime, first: datetime, call: Call) -> int | None:
        """How many blocks of messages are read, by the API's own reading of the request; None, with the
        reason in the call, if it refuses."""
        body = json.dumps(render_anthropic(request, self.model)).encode()
        headers = {"x-api-key": "bench", "anthropic-version": VERSION, "content-type": "application/json"}
        try:
            prepared = self.api.prepare(HttpRequest("POST", "/v1/messages", "", headers, body))
        except Refusal as refusal:
            call.refused = str(refusal)
            return None
        billing = send(prepared.blocks, prepared.marks, self.store, self.model, at, first)
        self.store = billing.store
        head = max((i + 1 for i, block in enumerate(prepared.blocks) if not block.positions), default=0)
        return max(0, billing.hit + 1 - head)


def _behind_head(read: tuple[Segment, ...]) -> int:
    return sum(segment.kind not in HEAD_KINDS for segment in read)
