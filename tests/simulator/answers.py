"""What the parts of the simulator hand to one another: requests, refusals, events, prepared requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from runtime.context.cache_model import Mark
from runtime.context.models import ModelRecord
from runtime.context.prefixes import Block
from runtime.conversation.messages import Usage
from tests.simulator.shaping import Shaped

Json = dict[str, Any]


class Refusal(Exception):
    """The provider does not take the request. `rule` is the id of the rule it breaks."""

    def __init__(
        self,
        rule: str,
        status: int,
        message: str,
        *,
        kind: str = "",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{rule}: {message}")
        self.rule, self.status, self.message = rule, status, message
        self.kind, self.code, self.param = kind, code, param
        self.headers = dict(headers or {})


class Dropped(Exception):
    """The connection is broken off, whatever was sent so far."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request as it came in; header names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. `delta` carries a piece of the reply; from the first `final` one on nothing is
    missing any more, so a break must come before it."""

    data: Json | str
    name: str | None = None
    delta: bool = False
    final: bool = False


@dataclass(slots=True)
class Prepared:
    """A request that was found right, with all that is needed to answer and bill it."""

    body: Json
    model: ModelRecord
    account: str
    stream: bool
    blocks: Sequence[Block] = ()
    marks: Sequence[Mark] = ()
    implicit: bool = False
    """The provider sets a mark of its own at the end (OpenAI's default mode)."""
    cache_key: str = ""
    """What separates caches of one account and model (OpenAI's `prompt_cache_key`)."""
    output_limit: int = 0
    limit_stop: str = "max_tokens"
    """The stop reason of a reply that reaches the limit."""
    stop_sequences: Sequence[str] = ()
    only_caches: bool = False
    """A pre-warming request: it wants no reply."""
    extra: Json = field(default_factory=dict)
    """What only the API's own module reads."""

    @property
    def input_tokens(self) -> int:
        """All tokens of the request."""
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Answering:
    """A reply on its way out: for which request, in which pieces, at which price, under which number."""

    request: Prepared
    reply: Shaped
    usage: Usage
    number: int
    at: float
    """Seconds since 1970, of the simulator's clock."""


class Api(Protocol):
    """One of the APIs: reads and checks a request, turns a reply into events or one object."""

    name: str
    ping: Event
    id_header: str
    """The header that carries a request's id."""
    counts_reads: bool
    """Whether tokens read from the cache count for the rate limit."""
    rate_rule: str
    """The rule that a refusal for the rate goes by."""
    prewarmed_stop: str
    """How a request ends that only caches."""

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        ...

    def counted(self, prepared: Prepared) -> Json:
        """The answer to a request that only counts tokens."""
        ...

    def events(self, answering: Answering) -> Iterator[Event]:
        """The stream, from the first event to the last."""
        ...

    def whole(self, answering: Answering) -> Json:
        """The same reply in one object."""
        ...

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error answer."""
        ...

    def error_event(self, refusal: Refusal) -> Event:
        """The same error inside a stream."""
        ...


def read_json(data: bytes) -> Json:
    """The object in a body. Raises ValueError for anything else, for half a surrogate pair too."""
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    try:
        compact(value).encode()
    except UnicodeEncodeError:
        raise ValueError("no low surrogate in string") from None
    return value


def compact(data: Any) -> str:
    """JSON as providers send it: short, in UTF-8, keys in their order."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
