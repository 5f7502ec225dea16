"""What each request costs: the caches of all accounts, by the project's own cache model, and rate buckets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from runtime.context.cache_model import NOT_YET, Billing, Scope, Store, begin, send
from runtime.context.prices import price
from runtime.conversation.messages import Usage
from tests.simulator.answers import Prepared


@dataclass(slots=True)
class Ledger:
    """The caches. An entry can be read by others once the first answer with it begins."""

    stores: dict[Scope, Store] = field(default_factory=dict)

    def quote(self, request: Prepared, at: datetime) -> Billing:
        """What a request that comes in at that time would read and write; nothing is done yet."""
        store = self.stores.get(_scope(request), {})
        blocks, marks, model = request.blocks, request.marks, request.model
        return send(blocks, marks, store, model, at, NOT_YET, implicit=request.implicit)

    def take(self, request: Prepared, billing: Billing) -> None:
        """The request was taken: what it read lives on, what it writes is on its way."""
        self.stores[_scope(request)] = billing.store

    def begin(self, request: Prepared, billing: Billing, at: datetime) -> None:
        """The answer begins: what the request wrote can be read from now on."""
        scope = _scope(request)
        self.stores[scope] = begin(self.stores[scope], billing, at)

    def clear(self) -> None:
        """All caches are empty."""
        self.stores.clear()


def _scope(request: Prepared) -> Scope:
    return Scope(request.account, request.model.id, request.cache_key)


def cost(usage: Usage, request: Prepared) -> float | None:
    """US dollars, at the prices of the request's size; None is unknown."""
    return price(usage, request.model)


@dataclass(slots=True)
class Bucket:
    """Tokens or requests per minute that fill up steadily."""

    per_minute: float
    level: float
    filled_at: datetime

    def wait_s(self, amount: float, at: datetime) -> float:
        """Seconds until that much is there; 0 for now."""
        self.level = min(
            self.per_minute, self.level + (at - self.filled_at).total_seconds() * self.per_minute / 60
        )
        self.filled_at = at
        missing = min(amount, self.per_minute) - self.level
        return max(0.0, missing * 60 / self.per_minute)


@dataclass(slots=True)
class Rates:
    """Limits per account and model, each per minute; None is none."""

    requests: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    _buckets: dict[tuple[str, str, str], Bucket] = field(default_factory=dict)

    def wait_s(self, request: Prepared, input_tokens: int, at: datetime) -> float:
        """Seconds to wait before the request is taken; 0 if it is taken now, which uses the buckets up."""
        amounts = {"requests": 1, "input": input_tokens, "output": 1}
        buckets = {name: self._bucket(request, name, at) for name in amounts}
        waits = [bucket.wait_s(amounts[name], at) for name, bucket in buckets.items() if bucket]
        if not any(waits):
            self._use(buckets["requests"], 1)
            self._use(buckets["input"], input_tokens)
        return max(waits, default=0.0)

    def produced(self, request: Prepared, output_tokens: int, at: datetime) -> None:
        """Takes a reply's tokens from the output bucket."""
        self._use(self._bucket(request, "output", at), output_tokens)

    def _use(self, bucket: Bucket | None, amount: float) -> None:
        if bucket is not None:
            bucket.level -= amount

    def _bucket(self, request: Prepared, name: str, at: datetime) -> Bucket | None:
        limits = {"requests": self.requests, "input": self.input_tokens, "output": self.output_tokens}
        limit = limits[name]
        if limit is None:
            return None
        return self._buckets.setdefault((request.account, request.model.id, name), Bucket(limit, limit, at))
