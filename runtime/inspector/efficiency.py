"""How well a session's calls used the cache: paid, and what other cache points would have cost, or any could.

All from the log. What was paid is the provider's usage; the rest is reckoned with the tokens as they were
counted, brought to the same sum, so it is an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from runtime.context.efficiency import Sent, cost_with, lower_bound, system_point, tail_point, units
from runtime.context.lane_cache import marks_of
from runtime.context.measures import prefixes
from runtime.context.models import ModelRecord, record
from runtime.context.prices import MILLION
from runtime.conversation.appendlist import AppendList
from runtime.conversation.base import Value
from runtime.conversation.events import LLMCallStarted
from runtime.conversation.messages import Usage
from runtime.conversation.segments import Prediction, Segment


@dataclass(frozen=True, slots=True)
class SentCall:
    """A call whose usage is known."""

    started: LLMCallStarted
    window: AppendList[Segment]
    usage: Usage
    first_token_ms: int | None = None


class InputCosts(Value):
    """What the input of the calls costs, output left out."""

    paid: float = 0.0
    uncached: float = 0.0
    """With nothing read or written."""
    system_point: float = 0.0
    """With one cache point behind the instructions that stand first."""
    tail_point: float = 0.0
    """With one at the end of each request: what automatic caching does."""
    bound: float = 0.0
    """The least that any cache points could have cost, knowing every later request and pause."""

    def __add__(self, other: InputCosts) -> InputCosts:
        return InputCosts(
            **{name: getattr(self, name) + getattr(other, name) for name in InputCosts.model_fields}
        )

    def times(self, factor: float) -> InputCosts:
        """Each of them times that."""
        return InputCosts(**{name: getattr(self, name) * factor for name in InputCosts.model_fields})


class Efficiency(Value):
    """The figures of several calls."""

    calls: int = 0
    """Those with a usage; others count nowhere here."""
    tokens: InputCosts = InputCosts()
    """In input tokens at the plain price: a token that was read counts a tenth, or less."""
    dollars: InputCosts | None = None
    """None where a price is not known."""
    eta: float | None = None
    """bound / paid: 1 is the best that can be. None without a call."""


def efficiency(calls: Iterable[SentCall]) -> Efficiency:
    """The figures of these calls, which are all of a session's, in order."""
    groups: dict[tuple[str, str], list[SentCall]] = {}
    for call in calls:
        groups.setdefault((call.started.provider, call.started.model), []).append(call)
    tokens, dollars = InputCosts(), InputCosts()
    known = bool(groups)
    for (provider, name), group in groups.items():
        model = record(name, provider)
        costs = _costs(group, model)
        tokens += costs
        known = known and model.prices is not None
        if model.prices is not None:
            dollars += costs.times(model.prices.input / MILLION)
    return Efficiency(
        calls=sum(len(group) for group in groups.values()),
        tokens=tokens,
        dollars=dollars if known else None,
        eta=tokens.bound / tokens.paid if tokens.paid else None,
    )


def _costs(calls: Sequence[SentCall], model: ModelRecord) -> InputCosts:
    """Of calls of one model."""
    sent = _requests(calls, model)
    counted = sum(one.laid.total for one in sent)
    scale = sum(call.usage.input for call in calls) / counted if counted else 1.0
    return InputCosts(
        paid=sum(units(_tokens(call.usage), model) for call in calls),
        uncached=sum(units(Prediction(fresh=call.usage.input), model) for call in calls),
        system_point=cost_with(sent, system_point) * scale,
        tail_point=cost_with(sent, tail_point) * scale,
        bound=lower_bound(sent) * scale,
    )


def _requests(calls: Sequence[SentCall], model: ModelRecord) -> list[Sent]:
    found: list[Sent] = []
    before: AppendList[Segment] | None = None
    for call in calls:
        marks = tuple(marks_of(call.window, call.started.cache_points, model))
        first = call.started.at + timedelta(milliseconds=call.first_token_ms or 0)
        found.append(
            Sent(call.started.at, prefixes(call.window, before), marks, model, call.started.lane, first)
        )
        before = call.window
    return found


def _tokens(usage: Usage) -> Prediction:
    return Prediction(**{name: getattr(usage, name) for name in Prediction.model_fields})
